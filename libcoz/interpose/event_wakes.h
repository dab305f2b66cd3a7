// Eventfds, by which a thread of the program wakes another that waits at one, at an epoll file, or
// in poll().
//
// Each descriptor is an object like a lock. Those that dup() makes are not known, nor those that
// other processes share. errno is kept.
#ifndef LIBCOZ_INTERPOSE_EVENT_WAKES_H
#define LIBCOZ_INTERPOSE_EVENT_WAKES_H

#include <cstdint>

#include "interpose/blocking.h"

namespace coz {

inline std::uintptr_t key_of_file(int file) noexcept {
  return own_key(static_cast<std::uintptr_t>(file + 1) * 0xbea225f9eb34556dU);
}

inline bool is_event_file(int file) noexcept {
  const Session* session = Session::active();
  return session != nullptr && session->event_files.has(file);
}

// Before the calling thread writes to an eventfd.
void before_waking_at(ThreadDelays& delays, int file) noexcept;

// Before a write to any file.
[[gnu::always_inline]] inline void before_writing(int file) noexcept {
  if (!is_event_file(file)) return;
  if (auto delays = Session::current_delays()) before_waking_at(*delays, file);
}

}  // namespace coz

#endif  // LIBCOZ_INTERPOSE_EVENT_WAKES_H
