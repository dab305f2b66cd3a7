// Addresses of sockets: the Internet's, and names of Unix sockets. errno is kept.
#ifndef LIBCOZ_INTERPOSE_SOCKET_ADDRESS_H
#define LIBCOZ_INTERPOSE_SOCKET_ADDRESS_H

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace coz {

class SocketAddress {
 public:
  // Of the socket itself, or of its other end. False if there is none.
  bool read_own(int socket) noexcept;
  bool read_peer(int socket) noexcept;
  // The program's pointer may lead nowhere. False for what is no address, too.
  bool copy(const sockaddr* address, socklen_t size) noexcept;

  // In network order; 0: not of the Internet's families.
  std::uint16_t port() const noexcept;
  bool has_host_of(const SocketAddress& other) const noexcept;

  bool is_unix() const noexcept { return address_.any.sa_family == AF_UNIX; }
  // Of a Unix socket: whether it has a name, in the file system or an abstract one.
  bool has_name() const noexcept { return is_unix() && size_ > offsetof(sockaddr_un, sun_path); }
  // Of the name as it was given, which both ends of a connection see. In the file system, others
  // may have it later. nullopt: no name.
  std::optional<std::uint32_t> name_hash() const noexcept;
  // What the name leads to: the same for all names of one file. nullopt: to nothing.
  std::optional<std::uint64_t> place() const noexcept;

 private:
  bool read(long call, int socket) noexcept;
  const char* path() const noexcept { return address_.at_file.sun_path; }
  std::size_t path_size() const noexcept;

  static constexpr std::size_t kRoom = sizeof(sockaddr_un);
  static_assert(kRoom >= sizeof(sockaddr_in6));

  union {
    sockaddr any;
    sockaddr_in v4;
    sockaddr_in6 v6;
    sockaddr_un at_file;
    char bytes[kRoom + 1];  // a path of full length ends, too
  } address_{};
  socklen_t size_ = 0;
};

}  // namespace coz

#endif  // LIBCOZ_INTERPOSE_SOCKET_ADDRESS_H
