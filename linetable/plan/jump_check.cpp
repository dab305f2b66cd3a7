#include "linetable/plan/jump_check.h"

#include <gelf.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "linetable/elf/eh_frame.h"
#include "patch/jumped_over.h"

namespace coz::linetable {
namespace {

using Kind = Instruction::Kind;

constexpr const char* kUnknownJumps =
    "a jump table, or code that is not known, may lead into the code there";

// A function and the parts split off from it have names with the same beginning.
std::string_view base_of(std::string_view name) { return name.substr(0, name.find('.', 1)); }

std::uint64_t target_of(const Instruction& instruction, std::uint64_t next) {
  return next + static_cast<std::uint64_t>(std::int64_t{instruction.relative});
}

bool overlap(const CodeExtent& a, const CodeExtent& b) {
  return a.begin < b.end && b.begin < a.end;
}

// Calls `look(address, bytes)` for each loaded part of the file that is code.
template <typename Look>
void for_each_code_segment(const ElfFile& file, Look look) {
  std::size_t size = 0;
  std::size_t count = 0;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(elf_rawfile(file.elf(), &size));
  if (bytes == nullptr || elf_getphdrnum(file.elf(), &count) != 0) return;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(file.elf(), static_cast<int>(i), &segment) == nullptr) continue;
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    if (segment.p_offset > size) continue;
    look(segment.p_vaddr,
         std::span(bytes + segment.p_offset,
                   std::min<std::size_t>(segment.p_filesz, size - segment.p_offset)));
  }
}

bool has_fixed_addresses(const ElfFile& file) {
  GElf_Ehdr header;
  return gelf_getehdr(file.elf(), &header) == nullptr || header.e_type == ET_EXEC;
}

// Whether bytes could be the end of an opcode that is followed by a distance of 32 bits to code: of
// call, jmp, conditional jumps, xbegin; or lea, which takes an address.
bool is_before_distance(std::uint8_t before, std::uint8_t last) {
  if (last == 0xe8 || last == 0xe9) return true;
  if (before == 0x0f) return (last & 0xf0) == 0x80;
  if (before == 0xc7) return last == 0xf8;
  return before == 0x8d && (last & 0xc7) == 0x05;
}

// Whether bytes could name code behind `begin` and before `end`, however they are to be read: by a
// distance or, where addresses are fixed, by its address.
bool is_named_in(std::span<const std::uint8_t> bytes, std::uint64_t address, bool has_addresses,
                 std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t inner = end - begin - 1;
  for (std::size_t i = 2; i + sizeof(std::int32_t) <= bytes.size(); ++i) {
    std::int32_t value = 0;
    std::memcpy(&value, bytes.data() + i, sizeof value);
    const auto distance = static_cast<std::uint64_t>(std::int64_t{value});
    const bool leads_there = address + i + sizeof value + distance - begin - 1 < inner;
    if (leads_there && is_before_distance(bytes[i - 2], bytes[i - 1])) return true;
    if (has_addresses && distance - begin - 1 < inner) return true;
  }
  return false;
}

// Opcodes of branches by 8 bits: conditional jumps, loops, jmp.
bool is_short_branch(std::uint8_t opcode) {
  return (opcode & 0xf0) == 0x70 || (opcode & 0xfc) == 0xe0 || opcode == 0xeb;
}

}  // namespace

std::string JumpCheck::problem_at(std::uint64_t address) {
  const auto over = jumped_over(code_.at(address, kJumpSize - 1 + kLongestInstruction));
  if (!over) return "the instructions there cannot be executed elsewhere";
  if (over->count == 1) return {};
  const char* problem = problem_within(address, address + over->length);
  return problem == nullptr ? "" : problem;
}

// The instructions from `address` to `end` are several.
const char* JumpCheck::problem_within(std::uint64_t address, std::uint64_t end) {
  if (!is_read_) read();
  const Function* function = nullptr;
  for (const Function& each : functions_) {
    if (each.extent.begin > address && each.extent.begin < end) return "another function begins";
    if (each.extent.begin > address || each.extent.end <= address) continue;
    if (function == nullptr || function->extent.begin < each.extent.begin) function = &each;
  }
  if (function == nullptr || end > function->extent.end) {
    return "the function around it is not known";
  }
  bool is_known = false;
  if (is_reached_in(*function, address, end, is_known)) return "the code there can be jumped into";
  if (!is_known) return kUnknownJumps;
  for (const Function& each : functions_) {
    if (base_of(each.name) != base_of(function->name)) continue;
    for (const CodeExtent& guarded : with_landing_pads_) {
      if (overlap(guarded, each.extent)) return "exceptions may lead into the code there";
    }
    // Only whether there are indirect jumps, and that all is known.
    is_known = false;
    is_reached_in(each, 0, 0, is_known);
    if (!is_known) return kUnknownJumps;
  }
  if (is_reached_from_elsewhere(function->extent, address, end)) {
    return "the code there may be jumped into";
  }
  return nullptr;
}

// Whether a branch of the function's leads to behind `begin` and before `end`. `is_known` becomes
// true when all of it could be read, has no indirect jump, and has instructions at `begin` and
// `end`, if these are not 0.
bool JumpCheck::is_reached_in(const Function& function, std::uint64_t begin, std::uint64_t end,
                              bool& is_known) const {
  auto bytes = code_.at(function.extent.begin, function.extent.end - function.extent.begin);
  std::uint64_t address = function.extent.begin;
  int seen = begin == 0 ? 2 : end == function.extent.end ? 1 : 0;
  while (address < function.extent.end) {
    const auto instruction = decode(bytes);
    if (!instruction || is_indirect_jump(bytes.first(instruction->length))) return false;
    if (begin != 0 && (address == begin || address == end)) ++seen;
    address += instruction->length;
    bytes = bytes.subspan(instruction->length);
    const bool branches = instruction->kind == Kind::kJump || instruction->kind == Kind::kCall ||
                          instruction->kind == Kind::kCondition ||
                          instruction->kind == Kind::kCount;
    const std::uint64_t target = target_of(*instruction, address);
    if (branches && target > begin && target < end) return true;
  }
  is_known = seen == 2;
  return false;
}

bool JumpCheck::is_reached_from_elsewhere(const CodeExtent& function, std::uint64_t begin,
                                          std::uint64_t end) const {
  bool found = false;
  const bool has_addresses = has_fixed_addresses(binary_);
  for_each_code_segment(binary_, [&](std::uint64_t address, std::span<const std::uint8_t> bytes) {
    found = found || is_named_in(bytes, address, has_addresses, begin, end);
  });
  // Around the function, in whatever way the bytes are to be read.
  constexpr std::uint64_t kReach = 0x82;
  const std::uint64_t from = begin > kReach ? begin - kReach : 0;
  for (std::uint64_t address = from; address < end + kReach && !found; ++address) {
    if (address + 2 > function.begin && address < function.end) continue;
    const auto bytes = code_.at(address, 2);
    if (bytes.size() < 2 || !is_short_branch(bytes[0])) continue;
    const std::uint64_t target =
        address + 2 + static_cast<std::uint64_t>(std::int64_t{static_cast<std::int8_t>(bytes[1])});
    found = target > begin && target < end;
  }
  return found;
}

void JumpCheck::read() {
  is_read_ = true;
  with_landing_pads_ = read_eh_frame(binary_.elf()).with_landing_pads;
  for (Elf_Scn* section = elf_nextscn(symbols_.elf(), nullptr); section != nullptr;
       section = elf_nextscn(symbols_.elf(), section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_entsize == 0) continue;
    // The parts that are split off are in this one alone.
    if (header.sh_type != SHT_SYMTAB) continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    const std::size_t count = data == nullptr ? 0 : header.sh_size / header.sh_entsize;
    for (std::size_t i = 0; i < count; ++i) {
      GElf_Sym symbol;
      if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) break;
      const char* name = elf_strptr(symbols_.elf(), header.sh_link, symbol.st_name);
      const bool is_function = GELF_ST_TYPE(symbol.st_info) == STT_FUNC;
      if (!is_function || symbol.st_shndx == SHN_UNDEF || name == nullptr) continue;
      functions_.push_back({{symbol.st_value, symbol.st_value + symbol.st_size}, name});
    }
  }
}

}  // namespace coz::linetable
