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

using Role = LooseEnds::End;

std::uintptr_t object_of_port(std::uint16_t port) noexcept {
  return port * std::uintptr_t{0xe7037ed1a0b428db};
}
std::uintptr_t object_of_place(std::uint64_t place) noexcept {
  return made_name(place * 0xe7037ed1a0b428dbU);
}

// What a connect() to a server releases, of Unix sockets if the program listens there; or
// kNoObject.
struct Server {
  std::uintptr_t object = kNoObject;
  std::optional<std::uint64_t> place = std::nullopt;  // of a Unix socket
};
Server server_at(const SocketAddress& address) noexcept {
  if (address.port() != 0) return {object_of_port(address.port())};
  const Session* session = Session::active();
  if (session == nullptr || !session->shared.unix_listeners.any) return {};
  const auto place = address.place();
  if (!place || !session->shared.unix_listeners.places.get(*place)) return {};
  return {object_of_place(*place), place};
}

// The same for both ends of a connection; nullopt if the other is on another machine, or not known.
std::optional<std::uint32_t> connection_of(int socket, const SocketAddress& peer,
                                           Role role) noexcept {
  SocketAddress own;
  if (!own.read_own(socket)) return std::nullopt;
  if (own.is_unix()) return (role == Role::kClient ? own : peer).name_hash();
  if (peer.port() == 0 || !own.has_host_of(peer)) return std::nullopt;
  const auto [low, high] = std::minmax({own.port(), peer.port()});
  return std::uint32_t{low} << 16U | high;
}

// An abstract name that the kernel chooses, by which the server recognizes the client. Not if the
// socket has a name, or cannot connect.
void give_name(int socket) noexcept {
  SocketAddress own;
  SocketAddress peer;
  int type = 0;
  socklen_t size = sizeof type;
  raw_syscall(SYS_getsockopt, socket, SOL_SOCKET, SO_TYPE, reinterpret_cast<long>(&type),
              reinterpret_cast<long>(&size));
  if (type != SOCK_STREAM && type != SOCK_SEQPACKET) return;
  if (!own.read_own(socket) || !own.is_unix() || own.has_name() || peer.read_peer(socket)) return;
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
  const auto other = ends.meet(*connection, own, role);
  if (!other) return;
  if (session->shared.tree.is_on()) pair_sockets(session->shared, own, *other);
  const int partner = files.find(*other);
  if (partner < 0 || inode_of(partner) != *other) return;
  ends.leave(*connection, own, role);
  files.connect(socket, own, partner);
  files.connect(partner, *other, socket);
}

// The place of a Unix socket that is to listen.
std::optional<std::uint64_t> add_listener(int socket) noexcept {
  Session* session = Session::active();
  SocketAddress own;
  if (session == nullptr || !own.read_own(socket)) return std::nullopt;
  const auto place = own.place();
  const auto inode = place ? inode_of(socket) : std::nullopt;
  if (!inode) return std::nullopt;
  UnixListeners& listeners = session->shared.unix_listeners;
  listeners.sockets.set(*inode, *place);
  listeners.places.set(*place, 1);
  listeners.any = true;
  return place;
}

void remove_place(std::uint64_t place) noexcept {
  if (Session* session = Session::active()) session->shared.unix_listeners.places.remove(place);
}

std::uintptr_t object_of_listener(int listener) noexcept {
  SocketAddress own;
  const Session* session = Session::active();
  if (session == nullptr || !own.read_own(listener)) return kNoObject;
  if (!own.is_unix()) return own.port() == 0 ? kNoObject : object_of_port(own.port());
  const auto inode = inode_of(listener);
  const auto place = inode ? session->shared.unix_listeners.sockets.get(*inode) : std::nullopt;
  return place ? object_of_place(*place) : kNoObject;
}

}  // namespace

void add_accepted(int listener, int socket) noexcept {
  SocketAddress peer;
  if (socket < 0 || Session::active() == nullptr || !peer.read_peer(socket)) return;
  // One that was inherited has called listen() elsewhere.
  if (peer.is_unix() && object_of_listener(listener) == kNoObject) add_listener(listener);
  add(socket, peer, Role::kServer);
}

std::uintptr_t released_by_connecting(const ThreadDelays& delays, int listener,
                                      int accepted) noexcept {
  SocketAddress peer;
  if (!peer.read_peer(accepted) || !connection_of(accepted, peer, Role::kServer)) return kNoObject;
  const std::uintptr_t object = object_of_listener(listener);
  return object == kNoObject ? kNoObject : released_meanwhile(delays, object);
}

}  // namespace coz

// Clients may connect before listen() returns.
COZ_EXPORT int listen(int socket, int backlog) noexcept {
  const auto place = coz::add_listener(socket);
  const int result = COZ_REAL(listen)(socket, backlog);
  if (result != 0 && place) coz::remove_place(*place);
  return result;
}

COZ_EXPORT int connect(int socket, const sockaddr* address, socklen_t size) {
  coz::SocketAddress peer;
  auto delays = coz::Session::current_delays();
  const coz::Server server =
      delays && peer.copy(address, size) ? coz::server_at(peer) : coz::Server{};
  if (server.object != coz::kNoObject) {
    if (server.place) coz::give_name(socket);
    delays->before_waking(server.object, coz::ReleaseTime::kNoted);
  }
  const int result = COZ_REAL(connect)(socket, address, size);
  if (server.object == coz::kNoObject) return result;
  if (result == 0 || errno == EINPROGRESS || errno == EINTR) {
    coz::add(socket, peer, coz::Role::kClient);
  } else if (errno == ECONNREFUSED && server.place) {
    coz::remove_place(*server.place);  // nobody listens there any more
  }
  return result;
}
