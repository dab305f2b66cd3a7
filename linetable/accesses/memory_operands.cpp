#include "linetable/accesses/memory_operands.h"

#include <Zydis/Zydis.h>

#include <array>

namespace coz::linetable {
namespace {

#if defined(__x86_64__)
ZydisRegisterContext context_of(const user_regs_struct& from) {
  ZydisRegisterContext context{};
  const auto set = [&](ZydisRegister name, std::uint64_t value) { context.values[name] = value; };
  set(ZYDIS_REGISTER_RAX, from.rax);
  set(ZYDIS_REGISTER_RBX, from.rbx);
  set(ZYDIS_REGISTER_RCX, from.rcx);
  set(ZYDIS_REGISTER_RDX, from.rdx);
  set(ZYDIS_REGISTER_RSI, from.rsi);
  set(ZYDIS_REGISTER_RDI, from.rdi);
  set(ZYDIS_REGISTER_RBP, from.rbp);
  set(ZYDIS_REGISTER_RSP, from.rsp);
  set(ZYDIS_REGISTER_R8, from.r8);
  set(ZYDIS_REGISTER_R9, from.r9);
  set(ZYDIS_REGISTER_R10, from.r10);
  set(ZYDIS_REGISTER_R11, from.r11);
  set(ZYDIS_REGISTER_R12, from.r12);
  set(ZYDIS_REGISTER_R13, from.r13);
  set(ZYDIS_REGISTER_R14, from.r14);
  set(ZYDIS_REGISTER_R15, from.r15);
  set(ZYDIS_REGISTER_RIP, from.rip);
  return context;
}

std::uint64_t segment_base(ZydisRegister segment, const user_regs_struct& registers) {
  if (segment == ZYDIS_REGISTER_FS) return registers.fs_base;
  return segment == ZYDIS_REGISTER_GS ? registers.gs_base : 0;
}
#endif

}  // namespace

#if defined(__x86_64__)
bool find_accesses(std::span<const std::uint8_t> code, const user_regs_struct& registers,
                   std::vector<Access>& out) {
  out.clear();
  static const ZydisDecoder decoder = [] {
    ZydisDecoder made;
    ZydisDecoderInit(&made, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return made;
  }();
  ZydisDecodedInstruction instruction;
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code.data(), code.size(), &instruction,
                                           operands.data())))
    return false;
  // Long ones have an operand that they do not access.
  if (instruction.mnemonic == ZYDIS_MNEMONIC_NOP) return true;
  const ZydisRegisterContext context = context_of(registers);
  std::vector<Access> stores;
  for (std::size_t i = 0; i < instruction.operand_count; ++i) {
    const ZydisDecodedOperand& operand = operands[i];
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.mem.type != ZYDIS_MEMOP_TYPE_MEM)
      continue;
    ZyanU64 address = 0;
    // Gathers and scatters have an address for each element; they are left out.
    if (!ZYAN_SUCCESS(
            ZydisCalcAbsoluteAddressEx(&instruction, &operand, registers.rip, &context, &address)))
      continue;
    address += segment_base(operand.mem.segment, registers);
    // call and push write below the stack pointer.
    const std::uint32_t size = operand.size / 8;
    const bool pushes = operand.mem.base == ZYDIS_REGISTER_RSP &&
                        operand.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
                        (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
    if (pushes) address -= size;
    Access access{registers.rip, address, size, false};
    if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0) out.push_back(access);
    access.is_store = true;
    if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0) stores.push_back(access);
  }
  out.insert(out.end(), stores.begin(), stores.end());
  return true;
}
#else
bool find_accesses(std::span<const std::uint8_t>, const user_regs_struct&,
                   std::vector<Access>& out) {
  out.clear();
  return false;
}
#endif

}  // namespace coz::linetable
