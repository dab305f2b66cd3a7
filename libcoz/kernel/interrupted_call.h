// Where a signal has found a thread: about to make a system call, or just after one. Read from the
// context that the signal's handler is given.
//
// Signal-safe.
#ifndef LIBCOZ_KERNEL_INTERRUPTED_CALL_H
#define LIBCOZ_KERNEL_INTERRUPTED_CALL_H

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

namespace coz {

// Has the thread just returned from a system call? (Or jumped behind one, which hardly ever
// happens.)
inline bool is_after_system_call(const void* context) noexcept {
  // The instruction before an address is as readable as the address, if both are on one page.
  constexpr std::uintptr_t kPage = 4096;
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  const auto address = static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
  if (address % kPage < 2) return false;
  const auto* before = reinterpret_cast<const unsigned char*>(address) - 2;
  return before[0] == 0x0f && before[1] == 0x05;  // syscall
#else
  if (machine.pc % kPage < 4) return false;
  return *reinterpret_cast<const std::uint32_t*>(machine.pc - 4) == 0xd4000001;  // svc 0
#endif
}

// Has it just returned from waiting by a futex? The call's second argument, which is still there,
// tells; other calls hardly have one like that.
inline bool is_after_futex_wait(const void* context) noexcept {
  if (!is_after_system_call(context)) return false;
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  const auto argument = static_cast<std::uint64_t>(machine.gregs[REG_RSI]);
#else
  const std::uint64_t argument = machine.regs[1];
#endif
  constexpr std::uint64_t kFlags = FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME;
  constexpr std::array<std::uint64_t, 4> kWaits = {FUTEX_WAIT, FUTEX_WAIT_BITSET, FUTEX_LOCK_PI,
                                                   FUTEX_LOCK_PI2};
  return std::find(kWaits.begin(), kWaits.end(), argument & ~kFlags) != kWaits.end();
}

// Has a signal interrupted a system call that now returns EINTR?
inline bool is_interrupted_call(const void* context) noexcept {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  const auto result = static_cast<std::int64_t>(machine.gregs[REG_RAX]);
#else
  const auto result = static_cast<std::int64_t>(machine.regs[0]);
#endif
  return result == -EINTR && is_after_system_call(context);
}

// Is the thread about to make a call again that waits, and that a signal may end with EINTR? The
// kernel has a call made again if the handler that it sets up has SA_RESTART.
inline bool is_call_to_be_made_again(const void* context) noexcept {
#if defined(__x86_64__)
  constexpr std::uintptr_t kPage = 4096;
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
  const auto address = static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
  if (address % kPage == kPage - 1) return false;
  const auto* next = reinterpret_cast<const unsigned char*>(address);
  if (next[0] != 0x0f || next[1] != 0x05) return false;
  // Where the instruction left off. Before the first time it would seldom be there.
  if (static_cast<std::uintptr_t>(machine.gregs[REG_RCX]) != address + 2) return false;
  const auto argument = static_cast<unsigned>(machine.gregs[REG_RSI]);
  // Other operations of these two never end with EINTR.
  if (machine.gregs[REG_RAX] == SYS_futex) {
    const unsigned operation = argument & static_cast<unsigned>(FUTEX_CMD_MASK);
    return operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET;
  }
  if (machine.gregs[REG_RAX] == SYS_fcntl) return argument == F_SETLKW || argument == F_OFD_SETLKW;
  // Without ioctl(), which some devices have made again whatever SA_RESTART says.
  constexpr std::array kWaiting = {
      SYS_read,      SYS_readv,    SYS_preadv2,  SYS_write,           SYS_writev,
      SYS_pwritev2,  SYS_recvfrom, SYS_recvmsg,  SYS_recvmmsg,        SYS_sendto,
      SYS_sendmsg,   SYS_sendmmsg, SYS_sendfile, SYS_copy_file_range, SYS_accept,
      SYS_accept4,   SYS_connect,  SYS_wait4,    SYS_waitid,          SYS_flock,
      SYS_splice,    SYS_tee,      SYS_vmsplice, SYS_mq_timedreceive, SYS_mq_timedsend,
      SYS_getrandom, SYS_open,     SYS_openat,   SYS_openat2,
  };
  return std::find(kWaiting.begin(), kWaiting.end(), machine.gregs[REG_RAX]) != kWaiting.end();
#else
  static_cast<void>(context);
  return false;
#endif
}

// The thread does not make the call: to it, the call has ended with EINTR.
inline void end_call(void* context) noexcept {
#if defined(__x86_64__)
  auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
  machine.gregs[REG_RIP] += 2;
  machine.gregs[REG_RAX] = -EINTR;
#else
  static_cast<void>(context);
#endif
}

}  // namespace coz

#endif  // LIBCOZ_KERNEL_INTERRUPTED_CALL_H
