// The registers of an interrupted thread, out of what a signal handler is given and back into it.
//
// Signal-safe.
#ifndef LIBCOZ_PATCH_MACHINE_CONTEXT_H
#define LIBCOZ_PATCH_MACHINE_CONTEXT_H

#include <sys/syscall.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

#include "patch/displaced.h"

namespace coz {

// What stands before an address is as readable as the address, if it is not the first on a page.
inline constexpr std::uintptr_t kSmallestPage = 4096;

// Those that the kernel makes again once a handler with SA_RESTART has run (signal(7)), and that a
// handler without it ends.
inline bool is_restarted(long call) noexcept {
  constexpr std::array kCalls = {
      SYS_read,         SYS_readv,           SYS_write,   SYS_writev,    SYS_ioctl,  SYS_wait4,
      SYS_waitid,       SYS_accept,          SYS_accept4, SYS_connect,   SYS_openat, SYS_recvfrom,
      SYS_recvmsg,      SYS_recvmmsg,        SYS_sendto,  SYS_sendmsg,   SYS_flock,  SYS_fcntl,
      SYS_mq_timedsend, SYS_mq_timedreceive, SYS_futex,   SYS_getrandom,
#ifdef SYS_open
      SYS_open,
#endif
  };
  return std::find(kCalls.begin(), kCalls.end(), call) != kCalls.end();
}

#if defined(__x86_64__)

inline constexpr std::array<int, 16> kRegisterOrder = {
    REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

inline Registers registers_of(void* context) noexcept {
  const auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  Registers registers;
  for (std::size_t i = 0; i < kRegisterOrder.size(); ++i) {
    registers.general[i] = static_cast<std::uint64_t>(machine[kRegisterOrder[i]]);
  }
  registers.rip = static_cast<std::uint64_t>(machine[REG_RIP]);
  registers.flags = static_cast<std::uint64_t>(machine[REG_EFL]);
  return registers;
}

// All but the flags, which no instruction that is emulated changes.
inline void set_registers(void* context, const Registers& registers) noexcept {
  auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  for (std::size_t i = 0; i < kRegisterOrder.size(); ++i) {
    machine[kRegisterOrder[i]] = static_cast<greg_t>(registers.general[i]);
  }
  machine[REG_RIP] = static_cast<greg_t>(registers.rip);
}

inline std::uintptr_t instruction_pointer(void* context) noexcept {
  return static_cast<std::uintptr_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
}

inline std::uintptr_t stack_pointer(void* context) noexcept {
  return static_cast<std::uintptr_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP]);
}

inline void set_stack_pointer(void* context, std::uintptr_t address) noexcept {
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP] = static_cast<greg_t>(address);
}

inline void set_instruction_pointer(void* context, std::uintptr_t address) noexcept {
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(address);
}

// A system call that is about to return EINTR, because handlers run now.
inline bool is_interrupted_call(void* context) noexcept {
  const auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto address = static_cast<std::uintptr_t>(machine[REG_RIP]);
  if (machine[REG_RAX] != -EINTR || address % kSmallestPage < 2) return false;
  const auto* before = reinterpret_cast<const unsigned char*>(address) - 2;
  return before[0] == 0x0f && before[1] == 0x05;  // syscall
}

// A system call that the kernel is about to make again, because handlers run now, ends with EINTR
// instead. (So does one that the thread was about to make, as if it had already begun.)
inline void end_restarted_call(void* context) noexcept {
  auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto address = static_cast<std::uintptr_t>(machine[REG_RIP]);
  if (!is_restarted(machine[REG_RAX]) || address % kSmallestPage > kSmallestPage - 2) return;
  const auto* next = reinterpret_cast<const unsigned char*>(address);
  if (next[0] != 0x0f || next[1] != 0x05) return;  // syscall
  machine[REG_RAX] = -EINTR;
  machine[REG_RIP] += 2;
}

#else

inline bool is_interrupted_call(void* context) noexcept {
  const auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
  const auto result = static_cast<std::int64_t>(machine.regs[0]);
  if (result != -EINTR || machine.pc % kSmallestPage < 4) return false;
  return *reinterpret_cast<const std::uint32_t*>(machine.pc - 4) == 0xd4000001;  // svc 0
}

inline void end_restarted_call(void* context) noexcept {
  auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
  if (!is_restarted(static_cast<long>(machine.regs[8]))) return;
  if (*reinterpret_cast<const std::uint32_t*>(machine.pc) != 0xd4000001) return;  // svc 0
  machine.regs[0] = static_cast<std::uint64_t>(-EINTR);
  machine.pc += 4;
}

// There are no breakpoints of ours on other machines: nothing is ever found or changed.
inline Registers registers_of(void*) noexcept { return {}; }
inline void set_registers(void*, const Registers&) noexcept {}
inline std::uintptr_t instruction_pointer(void*) noexcept { return 0; }
inline void set_instruction_pointer(void*, std::uintptr_t) noexcept {}
inline std::uintptr_t stack_pointer(void*) noexcept { return 0; }
inline void set_stack_pointer(void*, std::uintptr_t) noexcept {}

#endif

}  // namespace coz

#endif  // LIBCOZ_PATCH_MACHINE_CONTEXT_H
