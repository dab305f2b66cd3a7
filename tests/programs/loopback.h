// A TCP socket that listens at the loopback device, and connections to it.
#ifndef TESTS_PROGRAMS_LOOPBACK_H
#define TESTS_PROGRAMS_LOOPBACK_H

#include <arpa/inet.h>
#include <sys/socket.h>

#include <cstdlib>

class Loopback {
 public:
  Loopback() {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* any = reinterpret_cast<sockaddr*>(&address_);
    socklen_t size = sizeof address_;
    if (bind(listener_, any, size) != 0 || listen(listener_, 8) != 0) abort();
    if (getsockname(listener_, any, &size) != 0) abort();
  }

  int connect_to() const {
    const int end = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto* any = reinterpret_cast<const sockaddr*>(&address_);
    if (connect(end, any, sizeof address_) != 0) abort();
    return end;
  }
  int accept_one() const { return accept(listener_, nullptr, nullptr); }

 private:
  int listener_;
  sockaddr_in address_{};
};

#endif  // TESTS_PROGRAMS_LOOPBACK_H
