// The registers of an interrupted thread, out of what a signal handler is given and back into it.
//
// Signal-safe.
#ifndef LIBCOZ_PATCH_MACHINE_CONTEXT_H
#define LIBCOZ_PATCH_MACHINE_CONTEXT_H

#include <ucontext.h>

#include <array>
#include <cstdint>

#include "patch/displaced.h"

namespace coz {

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

#else

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
