// A socket that listens at the loopback device, by TCP, or at a file (AF_UNIX), and connections to
// it.
#ifndef TESTS_PROGRAMS_LOOPBACK_H
#define TESTS_PROGRAMS_LOOPBACK_H

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

class Loopback {
 public:
  explicit Loopback(int family = AF_INET) {
    listener_ = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (family == AF_UNIX) {
      address_.at_file.sun_family = AF_UNIX;
      snprintf(address_.at_file.sun_path, sizeof address_.at_file.sun_path, "/tmp/loopback.%d",
               getpid());
      size_ = sizeof address_.at_file;
      unlink(address_.at_file.sun_path);
    } else {
      address_.tcp.sin_family = AF_INET;
      address_.tcp.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      size_ = sizeof address_.tcp;
    }
    if (bind(listener_, &address_.any, size_) != 0 || listen(listener_, 8) != 0) abort();
    if (getsockname(listener_, &address_.any, &size_) != 0) abort();
  }
  ~Loopback() {
    if (address_.any.sa_family == AF_UNIX) unlink(address_.at_file.sun_path);
  }
  Loopback(const Loopback&) = delete;
  Loopback& operator=(const Loopback&) = delete;

  // The client's socket has no name, or one in the file system (AF_UNIX).
  int connect_to(bool named = false) const {
    const int end = socket(address_.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (named) {
      sockaddr_un own = {AF_UNIX, {}};
      snprintf(own.sun_path, sizeof own.sun_path, "/tmp/loopback-client.%d", getpid());
      if (bind(end, reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0) abort();
      unlink(own.sun_path);
    }
    if (connect(end, &address_.any, size_) != 0) abort();
    return end;
  }
  int accept_one() const { return accept(listener_, nullptr, nullptr); }

 private:
  int listener_;
  union {
    sockaddr any;
    sockaddr_in tcp;
    sockaddr_un at_file;
  } address_{};
  socklen_t size_;
};

// The program's own.
inline const Loopback& loopback_of(int family) {
  static const Loopback tcp;
  static const Loopback at_file(AF_UNIX);
  return family == AF_UNIX ? at_file : tcp;
}

#endif  // TESTS_PROGRAMS_LOOPBACK_H
