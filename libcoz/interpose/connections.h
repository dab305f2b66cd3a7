// Connections within this machine, between two threads of the program, or with --tree between two
// of its processes. Once both ends are known they are a pair of sockets (event_wakes.h, streams.h).
//
// Known are those that connect() and accept() have made between equal addresses, as on the loopback
// device, or to a Unix socket at which the program listens. There the kernel tells the server
// nothing but the client's name, so that clients without a name are given an abstract one, as the
// kernel does for SO_PASSCRED (unix(7), autobind). In threads of the program, not in signal
// handlers. errno is kept.
#ifndef LIBCOZ_INTERPOSE_CONNECTIONS_H
#define LIBCOZ_INTERPOSE_CONNECTIONS_H

#include <cstdint>

#include "delay/thread_delays.h"

namespace coz {

// accept() has returned `socket`, or a negative number.
void add_accepted(int listener, int socket) noexcept;

// What a thread has released by the connect() that `accepted` is the other end of, while this
// thread waited at the `listener`; or kNoObject.
std::uintptr_t released_by_connecting(const ThreadDelays& delays, int listener,
                                      int accepted) noexcept;

}  // namespace coz

#endif  // LIBCOZ_INTERPOSE_CONNECTIONS_H
