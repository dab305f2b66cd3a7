#include "interpose/connections.h"

#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "interpose/blocking.h"
#include "interpose/event_wakes.h"
#include "interpose/export.h"
#include "interpose/streams.h"
#include "kernel/real.h"

namespace coz {
namespace {

struct Address {
  sockaddr_storage storage{};

  // SYS_getsockname or SYS_getpeername.
  bool read(long call, int socket) noexcept {
    socklen_t size = sizeof storage;
    return raw_syscall(call, socket, reinterpret_cast<long>(&storage),
                       reinterpret_cast<long>(&size)) == 0;
  }
  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&storage); }
};

// 0: not of the Internet's families.
std::uint16_t port_of(const sockaddr* address) noexcept {
  if (address == nullptr) return 0;
  if (address->sa_family == AF_INET) {
    return reinterpret_cast<const sockaddr_in*>(address)->sin_port;
  }
  if (address->sa_family == AF_INET6) {
    return reinterpret_cast<const sockaddr_in6*>(address)->sin6_port;
  }
  return 0;
}

bool are_equal_hosts(const Address& one, const Address& other) noexcept {
  if (one.get()->sa_family == AF_INET) {
    return reinterpret_cast<const sockaddr_in*>(&one.storage)->sin_addr.s_addr ==
           reinterpret_cast<const sockaddr_in*>(&other.storage)->sin_addr.s_addr;
  }
  return std::memcmp(&reinterpret_cast<const sockaddr_in6*>(&one.storage)->sin6_addr,
                     &reinterpret_cast<const sockaddr_in6*>(&other.storage)->sin6_addr,
                     sizeof(in6_addr)) == 0;
}

// The same for both ends; nullopt if the other is on another machine, or not connected.
std::optional<std::uint32_t> ports_of(int socket) noexcept {
  Address own;
  Address peer;
  if (!peer.read(SYS_getpeername, socket) || port_of(peer.get()) == 0) return std::nullopt;
  if (!own.read(SYS_getsockname, socket) || !are_equal_hosts(own, peer)) return std::nullopt;
  const auto [low, high] = std::minmax({port_of(own.get()), port_of(peer.get())});
  return std::uint32_t{low} << 16U | high;
}

}  // namespace

void add_connection(int socket) noexcept {
  Session* session = Session::active();
  const auto ports = session == nullptr || socket < 0 ? std::nullopt : ports_of(socket);
  const auto inode = ports ? inode_of(socket) : std::nullopt;
  if (!inode) return;
  EventFiles& files = session->event_files;
  const auto own = static_cast<std::uint32_t>(*inode);
  files.expect(socket, own);
  LooseEnds& ends = session->shared.loose_ends;
  const auto other = ends.meet(*ports, own);
  if (!other) return;
  if (session->shared.tree.is_on()) session->shared.socket_pairs.add(own, *other);
  const int partner = files.find(*other);
  if (partner < 0 || inode_of(partner) != *other) return;
  ends.leave(*ports, own);
  files.add(socket, own, partner);
  files.add(partner, *other, socket);
}

std::uintptr_t object_at_address(const sockaddr* address) noexcept {
  const std::uintptr_t port = port_of(address);
  return port == 0 ? kNoObject : port * 0xe7037ed1a0b428dbU;
}

std::uintptr_t object_at_listener(int socket) noexcept {
  Address own;
  return own.read(SYS_getsockname, socket) ? object_at_address(own.get()) : kNoObject;
}

}  // namespace coz

COZ_EXPORT int connect(int socket, const sockaddr* address, socklen_t size) {
  if (auto delays = coz::Session::current_delays()) {
    const std::uintptr_t listener = coz::object_at_address(address);
    if (listener != coz::kNoObject) delays->before_waking(listener, coz::ReleaseTime::kNoted);
  }
  const int result = COZ_REAL(connect)(socket, address, size);
  if (result == 0 || errno == EINPROGRESS) coz::add_connection(socket);
  return result;
}
