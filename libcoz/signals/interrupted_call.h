// Has a signal interrupted a system call that now returns EINTR? Read from the context that the
// signal's handler is given.
//
// Signal-safe.
#ifndef LIBCOZ_SIGNALS_INTERRUPTED_CALL_H
#define LIBCOZ_SIGNALS_INTERRUPTED_CALL_H

#include <ucontext.h>

#include <cerrno>
#include <cstdint>

namespace coz {

inline bool is_interrupted_call(const void* context) noexcept {
  // The instruction before an address is as readable as the address, if both are on one page.
  constexpr std::uintptr_t kPage = 4096;
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  const auto address = static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
  if (machine.gregs[REG_RAX] != -EINTR || address % kPage < 2) return false;
  const auto* before = reinterpret_cast<const unsigned char*>(address) - 2;
  return before[0] == 0x0f && before[1] == 0x05;  // syscall
#else
  const auto result = static_cast<std::int64_t>(machine.regs[0]);
  if (result != -EINTR || machine.pc % kPage < 4) return false;
  return *reinterpret_cast<const std::uint32_t*>(machine.pc - 4) == 0xd4000001;  // svc 0
#endif
}

}  // namespace coz

#endif  // LIBCOZ_SIGNALS_INTERRUPTED_CALL_H
