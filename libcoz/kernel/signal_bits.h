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

// By which libc cancels a thread.
inline constexpr int kCancel = 32;

// Whether the kernel knows a handler for the signal, and whether calls that it ends are made again.
enum class Handling { kNone, kEndsCalls, kRestartsCalls };
inline Handling handling_of(int signal) noexcept {
  struct {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)();
    SignalBits mask;
  } action = {};
  raw_syscall(SYS_rt_sigaction, signal, 0, reinterpret_cast<long>(&action), sizeof action.mask);
  if (action.handler == SIG_DFL || action.handler == SIG_IGN) return Handling::kNone;
  return (action.flags & SA_RESTART) != 0 ? Handling::kRestartsCalls : Handling::kEndsCalls;
}

// Of the calling thread and of its process.
inline SignalBits pending_signals() noexcept {
  SignalBits bits = 0;
  raw_syscall(SYS_rt_sigpending, reinterpret_cast<long>(&bits), sizeof bits);
  return bits;
}

}  // namespace coz

#endif  // LIBCOZ_KERNEL_SIGNAL_BITS_H
