#include "interpose/connections.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "interpose/blocking.h"
#include "interpose/event_wakes.h"
#include "interpose/export.h"
#include "interpose/socket_address.h"
#include "interpose/streams.h"
#include "kernel/real.h"

namespace coz {
namespace {

enum class Role { kClient, kServer };

// What a connect() to this address releases; or kNoObject. Of Unix sockets those count at which the
// program listens.
std::uintptr_t object_of(const SocketAddress& server) noexcept {
  if (server.port() != 0) return server.port() * std::uintptr_t{0xe7037ed1a0b428db};
  const Session* session = Session::active();
  const auto place = session == nullptr ? std::nullopt : server.place();
  if (!place || !session->shared.listening.get(*place)) return kNoObject;
  return made_name(*place * 0xe7037ed1a0b428dbU);
}

// The same for both ends of a connection; nullopt if the other is on another machine.
std::optional<std::uint32_t> connection_of(int socket, const SocketAddress& peer,
                                           Role role) noexcept {
  SocketAddress own;
  if (!own.read_own(socket)) return std::nullopt;
  if (own.is_unix()) {
    const SocketAddress& client = role == Role::kClient ? own : peer;
    return client.has_name() ? std::optional(client.name_hash()) : std::nullopt;
  }
  if (peer.port() == 0 || !own.has_host_of(peer)) return std::nullopt;
  const auto [low, high] = std::minmax({own.port(), peer.port()});
  return std::uint32_t{low} << 16U | high;
}

// An abstract name that the kernel chooses, by which the server recognizes the client, if it has
// none yet.
void give_name(int socket) noexcept {
  SocketAddress own;
  if (!own.read_own(socket) || !own.is_unix() || own.has_name()) return;
  const sa_family_t family = AF_UNIX;
  raw_syscall(SYS_bind, socket, reinterpret_cast<long>(&family), sizeof family);
}

void add(int socket, const SocketAddress& peer, Role role) noexcept {
  Session* session = Session::active();
  const auto connection = session == nullptr ? std::nullopt : connection_of(socket, peer, role);
  const auto inode = connection ? inode_of(socket) : std::nullopt;
  if (!inode) return;
  EventFiles& files = session->event_files;
  const auto own = static_cast<std::uint32_t>(*inode);
  // A connect() that could not wait may be made again.
  if (files.is(socket, own)) return;
  files.expect(socket, own);
  LooseEnds& ends = session->shared.loose_ends;
  const auto other = ends.meet(*connection, own);
  if (!other) return;
  if (session->shared.tree.is_on()) pair_sockets(session->shared, own, *other);
  const int partner = files.find(*other);
  if (partner < 0 || inode_of(partner) != *other) return;
  ends.leave(*connection, own);
  files.connect(socket, own, partner);
  files.connect(partner, *other, socket);
}

void add_listener(int socket) noexcept {
  Session* session = Session::active();
  SocketAddress own;
  if (session == nullptr || !own.read_own(socket)) return;
  if (const auto place = own.place()) session->shared.listening.set(*place, 1);
}

}  // namespace

void add_accepted(int socket) noexcept {
  SocketAddress peer;
  if (socket < 0 || Session::active() == nullptr) return;
  if (peer.read_peer(socket)) add(socket, peer, Role::kServer);
}

std::uintptr_t released_by_connecting(const ThreadDelays& delays, int listener,
                                      int accepted) noexcept {
  SocketAddress peer;
  SocketAddress own;
  if (!peer.read_peer(accepted) || !connection_of(accepted, peer, Role::kServer) ||
      !own.read_own(listener)) {
    return kNoObject;
  }
  const std::uintptr_t object = object_of(own);
  return object == kNoObject ? kNoObject : released_meanwhile(delays, object);
}

}  // namespace coz

// Clients may connect before listen() returns.
COZ_EXPORT int listen(int socket, int backlog) {
  coz::add_listener(socket);
  return COZ_REAL(listen)(socket, backlog);
}

COZ_EXPORT int connect(int socket, const sockaddr* address, socklen_t size) {
  coz::SocketAddress server;
  auto delays = coz::Session::current_delays();
  const std::uintptr_t object =
      delays && server.copy(address, size) ? coz::object_of(server) : coz::kNoObject;
  if (object != coz::kNoObject) {
    if (server.is_unix()) coz::give_name(socket);
    delays->before_waking(object, coz::ReleaseTime::kNoted);
  }
  const int result = COZ_REAL(connect)(socket, address, size);
  if (object != coz::kNoObject && (result == 0 || errno == EINPROGRESS || errno == EINTR)) {
    coz::add(socket, server, coz::Role::kClient);
  }
  return result;
}
