// A layout plan in memory, checked: every index and address in it is within bounds.
//
// It points into the bytes that it was given. Allocates nothing.
#ifndef COMMON_LAYOUT_PLAN_H
#define COMMON_LAYOUT_PLAN_H

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/layout_plan_format.h"

namespace coz {

struct LayoutPlan {
  const LayoutPlanHeader* header = nullptr;
  std::span<const LayoutUnit> units;
  std::span<const LayoutFixup> fixups;
  std::span<const LayoutEntry> entries;
  std::span<const LayoutTable> tables;
  std::span<const LayoutCommon> commons;
  std::span<const LayoutFrame> frames;
  std::span<const char> text;

  // The fixups of a unit.
  [[nodiscard]] std::span<const LayoutFixup> fixups_of(std::size_t unit) const noexcept {
    const std::size_t end = unit + 1 < units.size() ? units[unit + 1].first_fixup : fixups.size();
    return fixups.subspan(units[unit].first_fixup, end - units[unit].first_fixup);
  }
};

// Fills `out` from the bytes of a file, which begin at a multiple of 8. Returns nullptr, or what is
// wrong with them.
[[nodiscard]] const char* read_layout_plan(std::span<const std::byte> bytes,
                                           LayoutPlan& out) noexcept;

// The size of a section of `count` entries in the file.
template <typename Entry>
constexpr std::size_t layout_section_size(std::size_t count) noexcept {
  return (count * sizeof(Entry) + 7) / 8 * 8;
}

}  // namespace coz

#endif  // COMMON_LAYOUT_PLAN_H
