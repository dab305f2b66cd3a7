#include "interpose/connections.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "interpose/blocking.h"
#include "interpose/event_wakes.h"
#include "interpose/export.h"
#include "interpose/streams.h"
#include "kernel/real.h"
#include "unwind/checked_memory.h"

namespace coz {
namespace {

struct Address {
  sockaddr_storage storage{};

  // `call`: SYS_getsockname or SYS_getpeername.
  bool read(long call, int socket) noexcept {
    socklen_t size = sizeof storage;
    return raw_syscall(call, socket, reinterpret_cast<long>(&storage),
                       reinterpret_cast<long>(&size)) == 0;
  }
  // The program's pointer may lead nowhere.
  bool copy(const sockaddr* address, socklen_t size) noexcept {
    return size >= sizeof(sockaddr_in) && size <= sizeof storage &&
           CheckedMemory().read(reinterpret_cast<std::uintptr_t>(address), &storage, size);
  }

  bool is_v4() const noexcept { return storage.ss_family == AF_INET; }
  const sockaddr_in& v4() const noexcept { return reinterpret_cast<const sockaddr_in&>(storage); }
  const sockaddr_in6& v6() const noexcept { return reinterpret_cast<const sockaddr_in6&>(storage); }

  // In network order; 0: not of the Internet's families.
  std::uint16_t port() const noexcept {
    if (is_v4()) return v4().sin_port;
    return storage.ss_family == AF_INET6 ? v6().sin6_port : std::uint16_t{0};
  }
  bool has_host_of(const Address& other) const noexcept {
    if (storage.ss_family != other.storage.ss_family) return false;
    if (is_v4()) return v4().sin_addr.s_addr == other.v4().sin_addr.s_addr;
    return std::memcmp(&v6().sin6_addr, &other.v6().sin6_addr, sizeof(in6_addr)) == 0;
  }
};

// What a connect() to this port of any host releases.
std::uintptr_t object_of_port(std::uint16_t port) noexcept {
  return port * std::uintptr_t{0xe7037ed1a0b428db};
}

// The same for both ends; nullopt if the other is on another machine.
std::optional<std::uint32_t> ports_of(int socket, const Address& peer) noexcept {
  Address own;
  if (peer.port() == 0 || !own.read(SYS_getsockname, socket) || !own.has_host_of(peer)) {
    return std::nullopt;
  }
  const auto [low, high] = std::minmax({own.port(), peer.port()});
  return std::uint32_t{low} << 16U | high;
}

void add(int socket, const Address& peer) noexcept {
  Session* session = Session::active();
  const auto ports = session == nullptr ? std::nullopt : ports_of(socket, peer);
  const auto inode = ports ? inode_of(socket) : std::nullopt;
  if (!inode) return;
  EventFiles& files = session->event_files;
  const auto own = static_cast<std::uint32_t>(*inode);
  // A connect() that could not wait may be made again.
  if (files.is(socket, own)) return;
  files.expect(socket, own);
  LooseEnds& ends = session->shared.loose_ends;
  const auto other = ends.meet(*ports, own);
  if (!other) return;
  if (session->shared.tree.is_on()) pair_sockets(session->shared, own, *other);
  const int partner = files.find(*other);
  if (partner < 0 || inode_of(partner) != *other) return;
  ends.leave(*ports, own);
  files.connect(socket, own, partner);
  files.connect(partner, *other, socket);
}

}  // namespace

void add_accepted(int socket) noexcept {
  Address peer;
  if (socket < 0 || Session::active() == nullptr) return;
  if (peer.read(SYS_getpeername, socket)) add(socket, peer);
}

std::uintptr_t released_by_connecting(const ThreadDelays& delays, int listener,
                                      int accepted) noexcept {
  Address peer;
  Address own;
  const bool is_within_machine =
      peer.read(SYS_getpeername, accepted) && ports_of(accepted, peer).has_value();
  if (!is_within_machine || !own.read(SYS_getsockname, listener)) return kNoObject;
  return released_meanwhile(delays, object_of_port(own.port()));
}

}  // namespace coz

COZ_EXPORT int connect(int socket, const sockaddr* address, socklen_t size) {
  coz::Address peer;
  auto delays = coz::Session::current_delays();
  const bool has_port = delays && peer.copy(address, size) && peer.port() != 0;
  if (has_port) {
    delays->before_waking(coz::object_of_port(peer.port()), coz::ReleaseTime::kNoted);
  }
  const int result = COZ_REAL(connect)(socket, address, size);
  if (has_port && (result == 0 || errno == EINPROGRESS || errno == EINTR)) coz::add(socket, peer);
  return result;
}
