// Eventfds, pipes, pairs of sockets and connections (connections.h), by which a thread of the
// program wakes another that waits for input: in a read, in poll() or select(), or at an epoll
// file.
//
// Each descriptor is an object like a lock. Those that dup() makes are not known. What another
// process of a tree writes is known by streams.h. errno is kept.
#ifndef LIBCOZ_INTERPOSE_EVENT_WAKES_H
#define LIBCOZ_INTERPOSE_EVENT_WAKES_H

#include <cstdint>

#include "interpose/blocking.h"

namespace coz {

inline std::uintptr_t key_of_file(int file) noexcept {
  return own_key(made_name(static_cast<std::uintptr_t>(file + 1) * 0xbea225f9eb34556dU));
}

// Released by whoever ends input at this file.
inline std::uintptr_t key_of_end(int file) noexcept {
  return own_key(made_name(static_cast<std::uintptr_t>(file + 1) * 0xa24baed4963ee407U));
}

inline bool may_be_event_file(int file) noexcept {
  const Session* session = Session::active();
  return session != nullptr && session->event_files.has(file);
}

// What a thread has released by a write that ended this thread's wait at the file; or kNoObject.
std::uintptr_t released_at(const ThreadDelays& delays, int file) noexcept;
// The same, where the wait ended without input: by shutdown(), or by close() of the other end. Not
// known at epoll files.
std::uintptr_t ended_at(const ThreadDelays& delays, int file) noexcept;
// The same as the first of another process, which has read, so that there is room.
std::uintptr_t room_released_at(const ThreadDelays& delays, int file) noexcept;
// The same of one that has ended, so that nobody can write any more.
std::uintptr_t end_released_at(const ThreadDelays& delays, int file) noexcept;

// These are the ends of a new pipe, or of a pair of sockets.
void add_pair(const int ends[2]) noexcept;

// Before the calling thread writes to a file that may be one of these.
void before_waking_at(ThreadDelays& delays, int file) noexcept;

// Before a write to any file.
[[gnu::always_inline]] inline void before_writing(int file) noexcept {
  if (!may_be_event_file(file)) return;
  if (auto delays = Session::current_delays()) before_waking_at(*delays, file);
}

}  // namespace coz

#endif  // LIBCOZ_INTERPOSE_EVENT_WAKES_H
