// Where an interrupted thread is, from the context that a signal handler is given, and back into
// it.
//
// Signal-safe.
#ifndef LIBCOZ_KERNEL_MACHINE_CONTEXT_H
#define LIBCOZ_KERNEL_MACHINE_CONTEXT_H

#include <ucontext.h>

#include <cstdint>

namespace coz {

#if defined(__x86_64__)

inline std::uintptr_t instruction_pointer(void* context) noexcept {
  return static_cast<std::uintptr_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
}

inline std::uintptr_t stack_pointer(void* context) noexcept {
  return static_cast<std::uintptr_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP]);
}

inline void set_instruction_pointer(void* context, std::uintptr_t address) noexcept {
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(address);
}

inline void set_stack_pointer(void* context, std::uintptr_t address) noexcept {
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP] = static_cast<greg_t>(address);
}

#else

// There are no breakpoints of ours on other machines: nothing is ever found or changed.
inline std::uintptr_t instruction_pointer(void*) noexcept { return 0; }
inline std::uintptr_t stack_pointer(void*) noexcept { return 0; }
inline void set_instruction_pointer(void*, std::uintptr_t) noexcept {}
inline void set_stack_pointer(void*, std::uintptr_t) noexcept {}

#endif

}  // namespace coz

#endif  // LIBCOZ_KERNEL_MACHINE_CONTEXT_H
