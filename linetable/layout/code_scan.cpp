#include "linetable/layout/code_scan.h"

#include <Zydis/Zydis.h>

#include <algorithm>

namespace coz::linetable {
namespace {

constexpr const char* kNotCode = "holds bytes that are no instruction";
constexpr const char* kNarrow = "has a distance of an unusual size";
constexpr const char* kAsksAddress = "asks for its own address by a call";
constexpr const char* kData = "holds data between instructions";
constexpr const char* kOutside = "refers to an address outside the program";
// References a little outside the image are within reach, too.
constexpr std::int64_t kAround = 8 << 20;

const ZydisDecoder& decoder() {
  static const ZydisDecoder made = [] {
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return decoder;
  }();
  return made;
}

}  // namespace

struct CodeScan::Instruction {
  ZydisDecodedInstruction decoded;

  [[nodiscard]] bool is_call() const { return decoded.mnemonic == ZYDIS_MNEMONIC_CALL; }
  [[nodiscard]] bool is_relative_branch() const { return decoded.raw.imm[0].is_relative != 0; }
  [[nodiscard]] bool is_indirect_jump() const {
    return decoded.mnemonic == ZYDIS_MNEMONIC_JMP && !is_relative_branch();
  }
  [[nodiscard]] bool names_rip() const {
    const auto& modrm = decoded.raw.modrm;
    return (decoded.attributes & ZYDIS_ATTRIB_HAS_MODRM) != 0 && modrm.mod == 0 && modrm.rm == 5;
  }
  // An index scaled onto an address, without a base register.
  [[nodiscard]] bool indexes_address() const {
    const auto& raw = decoded.raw;
    return (decoded.attributes & ZYDIS_ATTRIB_HAS_SIB) != 0 && raw.modrm.mod == 0 &&
           raw.sib.base == 5 && raw.disp.size == 32;
  }
  [[nodiscard]] bool is_fill() const {
    return decoded.mnemonic == ZYDIS_MNEMONIC_NOP || decoded.mnemonic == ZYDIS_MNEMONIC_INT3;
  }
  // Whether nothing is executed behind it. A call at the end of a function does not return.
  [[nodiscard]] bool ends_code() const {
    switch (decoded.mnemonic) {
      case ZYDIS_MNEMONIC_JMP:
      case ZYDIS_MNEMONIC_RET:
      case ZYDIS_MNEMONIC_CALL:
      case ZYDIS_MNEMONIC_UD0:
      case ZYDIS_MNEMONIC_UD1:
      case ZYDIS_MNEMONIC_UD2:
      case ZYDIS_MNEMONIC_HLT:
      case ZYDIS_MNEMONIC_INT3:
        return true;
      default:
        return false;
    }
  }
  [[nodiscard]] std::int64_t target(std::uint32_t address) const {
    return std::int64_t{address} + decoded.length + decoded.raw.imm[0].value.s;
  }
};

CodeScan::CodeScan(const ProgramCode& program) : program_(program) {
  Extent all{UINT32_MAX, 0};
  for (const CodeSection& section : program.sections) {
    if (section.content != Content::kText) continue;
    all.begin = std::min(all.begin, section.extent.begin);
    all.end = std::max(all.end, section.extent.end);
  }
  if (all.end == 0) return;
  begin_ = all.begin;
  instructions_.resize(all.size());
  targets_.resize(all.size());
}

bool CodeScan::decode(std::span<const std::uint8_t> bytes, Instruction& out) {
  return ZYAN_SUCCESS(
      ZydisDecoderDecodeInstruction(&decoder(), nullptr, bytes.data(), bytes.size(), &out.decoded));
}

void CodeScan::scan(Extent extent) {
  ScannedCode& code = code_.emplace_back();
  code.extent = extent;
  code.first_reference = references_.size();
  std::span<const std::uint8_t> bytes = program_.at(extent.begin);
  if (bytes.size() < extent.size()) {
    code.problem = kNotCode;
    return;
  }
  bytes = bytes.first(extent.size());
  Instruction instruction;
  code.falls_through = true;
  while (!bytes.empty()) {
    const auto address = extent.end - static_cast<std::uint32_t>(bytes.size());
    if (!decode(bytes, instruction)) {
      code.problem = kNotCode;
      break;
    }
    instructions_[address - begin_] = true;
    if (instruction.is_relative_branch()) note_branch(instruction, address, code);
    note_memory(instruction, address, code);
    code.jumps_indirectly = code.jumps_indirectly || instruction.is_indirect_jump();
    if (instruction.decoded.mnemonic != ZYDIS_MNEMONIC_NOP) {
      code.falls_through = !instruction.ends_code();
    }
    bytes = bytes.subspan(instruction.decoded.length);
  }
  if (code.problem == nullptr && !jumps_to_instructions(code)) code.problem = kData;
  if (!code.jumps_indirectly) code.table_candidates = {};
}

// Behind data, what was decoded may not be what is executed.
bool CodeScan::jumps_to_instructions(const ScannedCode& code) const {
  constexpr std::uint8_t kLock = 0xf0;  // glibc jumps past this prefix
  return std::all_of(
      code.inner_targets.begin(), code.inner_targets.end(), [&](std::uint32_t target) {
        return is_instruction(target) ||
               (is_instruction(std::int64_t{target} - 1) && program_.at(target - 1)[0] == kLock);
      });
}

void CodeScan::scan_stray(Extent extent) {
  std::span<const std::uint8_t> bytes = program_.at(extent.begin);
  bytes = bytes.first(std::min<std::size_t>(bytes.size(), extent.size()));
  Instruction instruction;
  while (!bytes.empty() && decode(bytes, instruction)) {
    const auto address = extent.end - static_cast<std::uint32_t>(bytes.size());
    if (instruction.is_relative_branch()) add_target(instruction.target(address));
    bytes = bytes.subspan(instruction.decoded.length);
  }
}

bool CodeScan::is_fill(Extent extent) const {
  std::span<const std::uint8_t> bytes = program_.at(extent.begin);
  if (bytes.size() < extent.size()) return false;
  bytes = bytes.first(extent.size());
  if (std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; })) {
    return true;
  }
  Instruction instruction;
  while (!bytes.empty()) {
    if (bytes[0] == 0) {  // zeros between no-operations
      bytes = bytes.subspan(1);
      continue;
    }
    if (!decode(bytes, instruction) || !instruction.is_fill()) return false;
    bytes = bytes.subspan(instruction.decoded.length);
  }
  return true;
}

void CodeScan::note_branch(const Instruction& instruction, std::uint32_t address,
                           ScannedCode& code) {
  const auto& field = instruction.decoded.raw.imm[0];
  const std::int64_t target = instruction.target(address);
  add_target(target);
  if (code.extent.contains(target)) {
    code.inner_targets.push_back(static_cast<std::uint32_t>(target));
  }
  if (instruction.is_call() && field.value.s == 0) code.problem = kAsksAddress;
  if (field.size == 8) {
    if (!code.extent.contains(target)) {
      code.short_exits.push_back(static_cast<std::uint32_t>(target));
    }
  } else if (field.size != 32) {
    code.problem = kNarrow;
  } else if (!is_in_image(target)) {
    code.problem = kOutside;
  } else {
    const Reference kind = instruction.is_call() ? Reference::kCall : Reference::kJump;
    references_.push_back({address + field.offset, kind, target});
  }
}

void CodeScan::note_memory(const Instruction& instruction, std::uint32_t address,
                           ScannedCode& code) {
  const auto& raw = instruction.decoded.raw;
  if (instruction.names_rip()) {
    const std::int64_t target = std::int64_t{address} + instruction.decoded.length + raw.disp.value;
    if (raw.disp.size != 32 || instruction.decoded.address_width != 64) code.problem = kNarrow;
    if (!is_in_image(target)) code.problem = kOutside;
    references_.push_back({address + raw.disp.offset, Reference::kMemory, target});
    if (instruction.decoded.mnemonic == ZYDIS_MNEMONIC_LEA && target >= 0) {
      code.table_candidates.push_back(static_cast<std::uint32_t>(target));
    }
  } else if (instruction.indexes_address()) {
    note_absolute(raw.disp.value - static_cast<std::int64_t>(program_.base), code);
  } else if (instruction.decoded.mnemonic == ZYDIS_MNEMONIC_MOV && raw.imm[0].size == 32) {
    const std::int64_t value = raw.imm[0].value.s & 0xffffffff;
    note_absolute(value - static_cast<std::int64_t>(program_.base), code);
  }
}

// What a program that is loaded at any address has there is a number like others.
void CodeScan::note_absolute(std::int64_t address, ScannedCode& code) {
  if (program_.base == 0) return;
  const CodeSection* const section = program_.section_of(address);
  if (section == nullptr || section->content == Content::kText) return;
  absolute_.push_back(static_cast<std::uint32_t>(address));
  code.table_candidates.push_back(static_cast<std::uint32_t>(address));
}

bool CodeScan::is_in_image(std::int64_t address) const {
  return address > -kAround && address < static_cast<std::int64_t>(program_.image_size) + kAround;
}

bool CodeScan::is_instruction(std::int64_t address) const {
  const std::int64_t index = address - begin_;
  return index >= 0 && index < static_cast<std::int64_t>(instructions_.size()) &&
         instructions_[static_cast<std::size_t>(index)];
}

bool CodeScan::is_target(std::int64_t address) const {
  const std::int64_t index = address - begin_;
  return index >= 0 && index < static_cast<std::int64_t>(targets_.size()) &&
         targets_[static_cast<std::size_t>(index)];
}

void CodeScan::add_target(std::int64_t address) {
  const std::int64_t index = address - begin_;
  if (index < 0 || index >= static_cast<std::int64_t>(targets_.size())) return;
  targets_[static_cast<std::size_t>(index)] = true;
}

std::vector<std::uint32_t> CodeScan::named_data() const {
  std::vector<std::uint32_t> found = absolute_;
  for (const CodeReference& reference : references_) {
    if (reference.kind != Reference::kMemory || reference.target < 0) continue;
    found.push_back(static_cast<std::uint32_t>(reference.target));
  }
  return found;
}

}  // namespace coz::linetable
