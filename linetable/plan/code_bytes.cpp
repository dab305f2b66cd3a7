#include "linetable/plan/code_bytes.h"

#include <gelf.h>

#include <algorithm>

namespace coz::linetable {
std::span<const std::uint8_t> CodeBytes::at(std::uint64_t address, std::size_t size) const {
  std::size_t file_size = 0;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(elf_rawfile(file_.elf(), &file_size));
  std::size_t count = 0;
  if (bytes == nullptr || elf_getphdrnum(file_.elf(), &count) != 0) return {};
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(file_.elf(), static_cast<int>(i), &segment) == nullptr) continue;
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    if (address < segment.p_vaddr || address - segment.p_vaddr >= segment.p_filesz) continue;
    const std::uint64_t into = address - segment.p_vaddr;
    const std::uint64_t offset = segment.p_offset + into;
    if (offset >= file_size) return {};
    return {bytes + offset, static_cast<std::size_t>(std::min<std::uint64_t>(
                                {size, segment.p_filesz - into, file_size - offset}))};
  }
  return {};
}

bool CodeBytes::is_x86_64() const {
  GElf_Ehdr header;
  return gelf_getehdr(file_.elf(), &header) != nullptr && header.e_machine == EM_X86_64;
}

PlannedPatch CodeBytes::patch_at(std::uint64_t address) const {
  if (!is_x86_64()) return {std::nullopt, "its code is not for x86-64"};
  return plan_patch(at(address, kMaxInstruction), address);
}

std::optional<std::uint64_t> CodeBytes::jump_target(std::uint64_t address) const {
  if (!is_x86_64()) return std::nullopt;
  const auto instruction = outline_instruction(at(address, kMaxInstruction), address);
  return instruction ? instruction->jump_target : std::nullopt;
}

void CodeBytes::for_each_instruction(
    std::uint64_t begin, std::uint64_t end,
    const std::function<bool(std::uint64_t, const InstructionOutline&)>& visit) const {
  if (!is_x86_64()) return;
  std::span<const std::uint8_t> bytes = at(begin, end > begin ? end - begin : 0);
  std::uint64_t address = begin;
  while (!bytes.empty()) {
    const auto instruction = outline_instruction(bytes, address);
    if (!instruction || !visit(address, *instruction)) return;
    address += instruction->length;
    bytes = bytes.subspan(instruction->length);
  }
}

bool CodeBytes::begins_instruction(std::uint64_t begin, std::uint64_t address) const {
  bool is_inside = false;  // of an instruction that begins before
  const std::uint64_t end = address + kMaxInstruction;
  for_each_instruction(begin, end, [&](std::uint64_t at, const InstructionOutline& one) {
    is_inside = at < address && address < at + one.length;
    return at + one.length <= address;
  });
  return !is_inside;
}

bool CodeBytes::has_jump(std::uint64_t begin, std::uint64_t end,
                         const std::function<bool(std::uint64_t)>& is_wanted) const {
  bool is_found = false;
  for_each_instruction(begin, end, [&](std::uint64_t, const InstructionOutline& one) {
    is_found = one.jump_target && is_wanted(*one.jump_target);
    return !is_found;
  });
  return is_found;
}

}  // namespace coz::linetable
