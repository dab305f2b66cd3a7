// Connections over TCP between two threads of the program, or with --tree between two of its
// processes. Once both ends are known they are a pair of sockets (event_wakes.h, streams.h).
//
// Known are connections between equal addresses, as on the loopback device, that connect() and
// accept() have made. errno is kept.
#ifndef LIBCOZ_INTERPOSE_CONNECTIONS_H
#define LIBCOZ_INTERPOSE_CONNECTIONS_H

#include <sys/socket.h>

#include <cstdint>

namespace coz {

// connect() or accept() has returned this socket, or below 0.
void add_connection(int socket) noexcept;

// What connect() to this address releases, and an accept() at this socket waits for; or kNoObject.
std::uintptr_t object_at_address(const sockaddr* address) noexcept;
std::uintptr_t object_at_listener(int socket) noexcept;

}  // namespace coz

#endif  // LIBCOZ_INTERPOSE_CONNECTIONS_H
