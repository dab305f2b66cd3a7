// What the rules know objects by that threads wait for: the address; with --tree, where another
// process may have an object of its own at the same address, only if both share the object.
//
// Objects that processes map at different addresses have different keys. Without a record of who
// released one, the global delay stands in (delay/thread_delays.h); but not where a process that is
// not profiled may have released it (kOfOthersToo).
#ifndef LIBCOZ_INTERPOSE_OBJECT_KEYS_H
#define LIBCOZ_INTERPOSE_OBJECT_KEYS_H

#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "thread/session.h"

namespace coz {

// Whether objects are for several processes, as glibc marks them.
inline bool is_shared(const pthread_mutex_t* mutex) noexcept {
  constexpr int kShared = 128;
  return (mutex->__data.__kind & kShared) != 0;
}
// Which of a condition's numbers says so depends on the glibc that runs, not on the one that we
// were built with: 2.41 dropped one in front of it. In a new condition it is the only one that is
// set; past the end if there is none.
inline std::size_t find_condition_flags() noexcept {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_cond_t condition;
  pthread_cond_init(&condition, &attributes);
  std::array<unsigned, sizeof condition / sizeof(unsigned)> numbers;
  std::memcpy(numbers.data(), &condition, sizeof numbers);
  return static_cast<std::size_t>(std::ranges::find(numbers, 1U) - numbers.begin());
}
inline bool is_shared(const pthread_cond_t* condition) noexcept {
  static const std::size_t flags = find_condition_flags();
  return flags < sizeof *condition / sizeof(unsigned) &&
         (reinterpret_cast<const unsigned*>(condition)[flags] & 1U) != 0;
}
inline bool is_shared(const pthread_rwlock_t* lock) noexcept { return lock->__data.__shared != 0; }
// Their types say nothing of what is inside: the count, then this; and four numbers, this last.
inline bool is_shared(const sem_t* semaphore) noexcept {
  return reinterpret_cast<const int*>(semaphore)[2] != 0;
}
inline bool is_shared(const pthread_barrier_t* barrier) noexcept {
  return reinterpret_cast<const int*>(barrier)[3] != 0;
}

// Of this process alone.
inline std::uintptr_t own_key(std::uintptr_t address) noexcept {
  return address ^ Session::object_salt();
}

// Of several.
inline std::uintptr_t shared_key(std::uintptr_t address) noexcept {
  return Session::knows_all() ? address : address | kOfOthersToo;
}

template <typename Object>
std::uintptr_t key(const Object* object) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(object);
  return is_shared(object) ? shared_key(address) : own_key(address);
}
// Those of C11 are never shared.
inline std::uintptr_t key(const mtx_t* mutex) noexcept {
  return own_key(reinterpret_cast<std::uintptr_t>(mutex));
}
inline std::uintptr_t key(const cnd_t* condition) noexcept {
  return own_key(reinterpret_cast<std::uintptr_t>(condition));
}

// A key that is made only where it is used: to take a free lock, or to release one that nobody
// waits for, needs none.
template <typename Object>
class LazyKey {
 public:
  explicit LazyKey(const Object* object) noexcept : object_(object) {}
  operator std::uintptr_t() const noexcept { return key(object_); }

 private:
  const Object* object_;
};

}  // namespace coz

#endif  // LIBCOZ_INTERPOSE_OBJECT_KEYS_H
