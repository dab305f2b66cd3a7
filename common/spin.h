// For loops that wait by spinning.
#ifndef COMMON_SPIN_H
#define COMMON_SPIN_H

namespace coz {

// Leaves the core's resources to its other threads for a moment.
inline void spin_once() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#else
  asm volatile("");
#endif
}

}  // namespace coz

#endif  // COMMON_SPIN_H
