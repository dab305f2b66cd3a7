#include "liblayout/rewriting.h"

#include <cstring>
#include <limits>

namespace coz::layout {
namespace {

constexpr std::uint8_t kJump = 0xe9;  // jmp by a 32-bit distance

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

// Where a table's entry leads, relative to the image.
std::uint64_t leads_to(const Program& program, const LayoutTable& table) noexcept {
  const std::uint8_t* const at = program.image + table.at;
  if (table.width == 4) {
    return table.base + static_cast<std::uint64_t>(std::int64_t{read<std::int32_t>(at)});
  }
  return read<std::uint64_t>(at) - reinterpret_cast<std::uintptr_t>(program.image);
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
    std::memcpy(program.image + unit.begin + move, program.image + unit.begin, unit.size);
    for (const LayoutFixup& fixup : program.plan.fixups_of(i)) {
      const std::int64_t change = move_of(program, fixup.unit) - move;
      if (!add(program.image + fixup.at + move, 4, change)) return false;
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
  for (const LayoutEntry& entry : program.plan.entries) {
    std::uint8_t* const at = program.image + entry.at;
    // From the end of the jump to the same instruction in the copy.
    const std::int64_t distance = program.moves[entry.unit] - kEntryJumpSize;
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
