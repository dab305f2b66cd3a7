// Sets of signals as the kernel has them, a bit each; signals are numbered from 1.
//
// Signal-safe.
#ifndef LIBCOZ_KERNEL_SIGNAL_BITS_H
#define LIBCOZ_KERNEL_SIGNAL_BITS_H

#include <signal.h>

#include <cstdint>
#include <cstring>

#include "common/raw_syscall.h"

namespace coz {

using SignalBits = std::uint64_t;

constexpr SignalBits bit_of(int signal) noexcept { return SignalBits{1} << ((signal - 1) & 63); }

// libc's sets have room for more, and begin with the kernel's.
inline SignalBits bits_of(const sigset_t& set) noexcept {
  SignalBits bits = 0;
  std::memcpy(&bits, &set, sizeof bits);
  return bits;
}

inline void assign_bits(sigset_t& set, SignalBits bits) noexcept {
  std::memcpy(&set, &bits, sizeof bits);
}

// The calling thread's mask in the kernel; how: SIG_BLOCK... Returns what it was. libc's function
// would not touch the two signals that it uses itself.
inline SignalBits change_kernel_mask(int how, SignalBits bits) noexcept {
  SignalBits before = 0;
  raw_syscall(SYS_rt_sigprocmask, how, reinterpret_cast<long>(&bits),
              reinterpret_cast<long>(&before), sizeof bits);
  return before;
}

// Of the calling thread and of its process.
inline SignalBits pending_signals() noexcept {
  SignalBits bits = 0;
  raw_syscall(SYS_rt_sigpending, reinterpret_cast<long>(&bits), sizeof bits);
  return bits;
}

}  // namespace coz

#endif  // LIBCOZ_KERNEL_SIGNAL_BITS_H
