#include "interpose/socket_address.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "common/fnv1a.h"
#include "common/raw_syscall.h"
#include "unwind/checked_memory.h"

namespace coz {

bool SocketAddress::read(long call, int socket) noexcept {
  size_ = kRoom;
  const bool is_read = raw_syscall(call, socket, reinterpret_cast<long>(&address_),
                                   reinterpret_cast<long>(&size_)) == 0;
  // The kernel counts the end of a path, for which there may be no room.
  size_ = std::min<socklen_t>(size_, kRoom);
  return is_read;
}
bool SocketAddress::read_own(int socket) noexcept { return read(SYS_getsockname, socket); }
bool SocketAddress::read_peer(int socket) noexcept { return read(SYS_getpeername, socket); }

bool SocketAddress::copy(const sockaddr* address, socklen_t size) noexcept {
  size_ = std::min<socklen_t>(size, kRoom);
  return size >= sizeof(sa_family_t) && size <= sizeof(sockaddr_storage) &&
         CheckedMemory().read(reinterpret_cast<std::uintptr_t>(address), &address_, size_) &&
         (size <= kRoom || !is_unix());
}

std::uint16_t SocketAddress::port() const noexcept {
  if (address_.any.sa_family == AF_INET) return address_.v4.sin_port;
  return address_.any.sa_family == AF_INET6 ? address_.v6.sin6_port : std::uint16_t{0};
}

bool SocketAddress::has_host_of(const SocketAddress& other) const noexcept {
  if (address_.any.sa_family != other.address_.any.sa_family) return false;
  if (address_.any.sa_family == AF_INET) {
    return address_.v4.sin_addr.s_addr == other.address_.v4.sin_addr.s_addr;
  }
  return std::memcmp(&address_.v6.sin6_addr, &other.address_.v6.sin6_addr, sizeof(in6_addr)) == 0;
}

// A path may end before its size says so; an abstract name begins with a 0, and may hold others.
std::size_t SocketAddress::path_size() const noexcept {
  const std::size_t room = size_ - offsetof(sockaddr_un, sun_path);
  return path()[0] == '\0' ? room : strnlen(path(), room);
}

std::optional<std::uint32_t> SocketAddress::name_hash() const noexcept {
  if (!has_name()) return std::nullopt;
  const std::uint64_t hash = fnv1a(path(), path_size());
  return static_cast<std::uint32_t>(hash ^ hash >> 32U);
}

std::optional<std::uint64_t> SocketAddress::place() const noexcept {
  if (!has_name()) return std::nullopt;
  if (path()[0] == '\0') return fnv1a(path(), path_size());
  struct stat status{};
  const long result = raw_syscall(SYS_newfstatat, AT_FDCWD, reinterpret_cast<long>(path()),
                                  reinterpret_cast<long>(&status), 0);
  if (result != 0) return std::nullopt;
  return status.st_ino * std::uint64_t{0x9e3779b97f4a7c15} + status.st_dev;
}

}  // namespace coz
