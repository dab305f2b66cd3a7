#include "unwind/machine.h"

#include <ucontext.h>

namespace coz {

FrameRegisters interrupted_registers(const void* context) noexcept {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
  FrameRegisters registers;
#if defined(__x86_64__)
  constexpr std::array kOrder = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                 REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                 REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
  for (std::size_t i = 0; i < kOrder.size(); ++i) {
    registers.values[i] = static_cast<std::uintptr_t>(machine.gregs[kOrder[i]]);
  }
  registers.pc = registers.values[16];
#else
  for (std::size_t i = 0; i < kStackPointer; ++i) registers.values[i] = machine.regs[i];
  registers.values[kStackPointer] = machine.sp;
  registers.pc = machine.pc;
#endif
  return registers;
}

}  // namespace coz
