// Which system call a signal has interrupted, read from the context that its handler is given.
//
// Signal-safe.
#ifndef LIBCOZ_KERNEL_INTERRUPTED_CALL_H
#define LIBCOZ_KERNEL_INTERRUPTED_CALL_H

#include <ucontext.h>

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

}  // namespace coz

#endif  // LIBCOZ_KERNEL_INTERRUPTED_CALL_H
