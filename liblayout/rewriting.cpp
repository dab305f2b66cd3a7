#include "liblayout/rewriting.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace coz::layout {
namespace {

constexpr std::uint8_t kJump = 0xe9;  // jmp by a 32-bit distance
constexpr std::uint8_t kCall = 0xe8;  // likewise
// Conditional jumps by 32 bits: 0f 80 to 0f 8f.
constexpr std::uint8_t kTwoBytes = 0x0f;
constexpr std::uint8_t kJumpIf = 0x80;
constexpr std::uint8_t kConditions = 0x0f;
constexpr std::uint8_t kEndbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

template <typename Number>
Number read(const std::uint8_t* at) noexcept {
  Number number;
  std::memcpy(&number, at, sizeof number);
  return number;
}

template <typename Number>
bool write(std::uint8_t* at, std::int64_t value) noexcept {
  if (value < std::numeric_limits<Number>::min() || value > std::numeric_limits<Number>::max()) {
    return false;
  }
  const auto number = static_cast<Number>(value);
  std::memcpy(at, &number, sizeof number);
  return true;
}

bool add(std::uint8_t* at, unsigned width, std::int64_t amount) noexcept {
  return width == 4 ? write<std::int32_t>(at, read<std::int32_t>(at) + amount)
                    : write<std::int64_t>(at, read<std::int64_t>(at) + amount);
}

std::int64_t move_of(const Program& program, std::uint32_t unit) noexcept {
  return unit == kStays ? 0 : program.moves[unit];
}

// Does the unit have its copy already?
bool is_made(const Program& program, std::size_t unit) noexcept {
  return !program.made.empty() && program.made[unit] == program.moves[unit];
}

// Where a table's entry leads, relative to the image.
std::uint64_t leads_to(const Program& program, const LayoutTable& table) noexcept {
  const std::uint8_t* const at = program.image + table.at;
  if (table.width == 4) {
    return table.base + static_cast<std::uint64_t>(std::int64_t{read<std::int32_t>(at)});
  }
  return read<std::uint64_t>(at) - reinterpret_cast<std::uintptr_t>(program.image);
}

// Is this the field of a call or jump? In front of other fields stands a byte that tells how an
// address is computed, which is none of these.
bool is_branch(const std::uint8_t* unit, const std::uint8_t* field) noexcept {
  if (field == unit) return false;
  if (field[-1] == kCall || field[-1] == kJump) return true;
  return field - unit >= 2 && field[-2] == kTwoBytes && (field[-1] & ~kConditions) == kJumpIf;
}

// The stub of the function that a call or jump leads to, in the original; nullptr if it is none.
const std::uint8_t* stub_of(const Program& program, const LayoutUnit& unit,
                            const LayoutFixup& fixup) noexcept {
  if (program.stubs == nullptr || fixup.unit == kStays) return nullptr;
  const std::uint8_t* const field = program.image + fixup.at;
  if (!is_branch(program.image + unit.begin, field)) return nullptr;
  const std::int64_t target = fixup.at + 4 + std::int64_t{read<std::int32_t>(field)};
  const auto& entries = program.plan.entries;
  const auto found = std::lower_bound(
      entries.begin(), entries.end(), target,
      [](const LayoutEntry& entry, std::int64_t address) { return entry.at < address; });
  if (found == entries.end()) return nullptr;
  const bool is_after_endbr = found->at == target + static_cast<std::int64_t>(sizeof kEndbr64) &&
                              std::memcmp(program.image + target, kEndbr64, sizeof kEndbr64) == 0;
  if (found->at != target && !is_after_endbr) return nullptr;
  return program.stubs + static_cast<std::size_t>(found - entries.begin()) * kStubSize;
}

// A relative pointer of an entry that is copied from `from` to `to`, to what moves by `amount`.
bool correct(const std::uint8_t* from, std::uint8_t* to, unsigned offset, unsigned width,
             std::int64_t amount) noexcept {
  return offset == 0 || add(to + offset, width, from - to + amount);
}

}  // namespace

bool copy_units(const Program& program) noexcept {
  for (std::size_t i = 0; i < program.plan.units.size(); ++i) {
    const LayoutUnit& unit = program.plan.units[i];
    const std::int64_t move = program.moves[i];
    if (is_made(program, i)) continue;
    std::memcpy(program.image + unit.begin + move, program.image + unit.begin, unit.size);
    for (const LayoutFixup& fixup : program.plan.fixups_of(i)) {
      std::uint8_t* const at = program.image + fixup.at + move;
      const std::uint8_t* const stub = stub_of(program, unit, fixup);
      const bool fits = stub == nullptr ? add(at, 4, move_of(program, fixup.unit) - move)
                                        : write<std::int32_t>(at, stub - (at + 4));
      if (!fits) return false;
    }
  }
  return true;
}

std::size_t frames_size(const LayoutPlan& plan) noexcept {
  std::size_t size = 4;  // the length 0 that ends a table
  for (const LayoutCommon& common : plan.commons) size += common.size;
  for (const LayoutFrame& frame : plan.frames) size += frame.size;
  return size + 4 * plan.commons.size();
}

bool copy_frames(const Program& program, std::uint8_t* out) noexcept {
  const std::uint8_t* const section = program.image + program.plan.header->eh_frame;
  std::uint32_t common_index = kStays;
  const std::uint8_t* common_copy = out;
  // Frames come in the order of what they have in common.
  for (const LayoutFrame& frame : program.plan.frames) {
    // Unwinders take the table that begins last before an address: tables must not overlap.
    if (is_made(program, frame.unit)) continue;
    if (frame.common != common_index) {
      common_index = frame.common;
      const LayoutCommon& common = program.plan.commons[common_index];
      const std::uint8_t* const from = section + common.offset;
      std::memcpy(out, from, common.size);
      if (!correct(from, out, common.pointer_offset, common.pointer_width, 0)) return false;
      common_copy = out;
      out += common.size;
    }
    const std::uint8_t* const from = section + frame.offset;
    std::memcpy(out, from, frame.size);
    const bool fits = write<std::int32_t>(out + 4, out + 4 - common_copy) &&
                      correct(from, out, 8, frame.begin_width, program.moves[frame.unit]) &&
                      correct(from, out, frame.pointer_offset, frame.pointer_width, 0);
    if (!fits) return false;
    out += frame.size;
  }
  std::memset(out, 0, 4);
  return true;
}

bool lead_to_copies(const Program& program) noexcept {
  for (std::size_t i = 0; i < program.plan.entries.size(); ++i) {
    const LayoutEntry& entry = program.plan.entries[i];
    std::uint8_t* const at = program.image + entry.at;
    // From the end of the jump to the same instruction in the copy, or to the stub.
    const std::int64_t distance = (program.stubs == nullptr ? program.moves[entry.unit]
                                                            : program.stubs + i * kStubSize - at) -
                                  kEntryJumpSize;
    *at = kJump;
    if (!write<std::int32_t>(at + 1, distance)) return false;
  }
  for (const LayoutTable& table : program.plan.tables) {
    const LayoutUnit& unit = program.plan.units[table.unit];
    const std::uint64_t target = leads_to(program, table);
    if (target < unit.begin || target - unit.begin >= unit.size) continue;
    if (!add(program.image + table.at, table.width, program.moves[table.unit])) return false;
  }
  return true;
}

}  // namespace coz::layout
