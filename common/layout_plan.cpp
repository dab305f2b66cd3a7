#include "common/layout_plan.h"

#include <cstring>

namespace coz {
namespace {

constexpr const char* kDamaged = "is damaged";

// Takes sections one after the other.
class Sections {
 public:
  explicit Sections(std::span<const std::byte> bytes) noexcept : rest_(bytes) {}

  template <typename Entry>
  bool take(std::uint64_t count, std::span<const Entry>& out) noexcept {
    if (count > rest_.size() / sizeof(Entry)) return false;
    const std::size_t size = layout_section_size<Entry>(static_cast<std::size_t>(count));
    if (size > rest_.size()) return false;
    out = {reinterpret_cast<const Entry*>(rest_.data()), static_cast<std::size_t>(count)};
    rest_ = rest_.subspan(size);
    return true;
  }

 private:
  std::span<const std::byte> rest_;
};

// [at, at + size) lies in `whole` bytes.
bool fits(std::uint64_t at, std::uint64_t size, std::uint64_t whole) noexcept {
  return at <= whole && size <= whole - at;
}

bool check_units(const LayoutPlan& plan) noexcept {
  std::uint64_t end = 0;
  std::uint64_t fixup = 0;
  for (const LayoutUnit& unit : plan.units) {
    if (unit.begin < end || unit.size == 0 || unit.first_fixup < fixup) return false;
    end = std::uint64_t{unit.begin} + unit.size;
    fixup = unit.first_fixup;
  }
  return end <= plan.header->image_size && fixup <= plan.fixups.size() &&
         (plan.units.empty() ? plan.fixups.empty() : plan.units.front().first_fixup == 0);
}

bool check_fixups(const LayoutPlan& plan) noexcept {
  for (std::size_t i = 0; i < plan.units.size(); ++i) {
    const LayoutUnit& unit = plan.units[i];
    for (const LayoutFixup& fixup : plan.fixups_of(i)) {
      if (fixup.at < unit.begin || !fits(fixup.at - unit.begin, 4, unit.size)) return false;
      if (fixup.unit != kStays && fixup.unit >= plan.units.size()) return false;
    }
  }
  return true;
}

bool check_places(const LayoutPlan& plan) noexcept {
  for (const LayoutEntry& entry : plan.entries) {
    if (entry.unit >= plan.units.size()) return false;
    if (!fits(entry.at, kEntryJumpSize, plan.header->image_size)) return false;
  }
  for (const LayoutTable& table : plan.tables) {
    if (table.unit >= plan.units.size() || (table.width != 4 && table.width != 8)) return false;
    if (!fits(table.at, table.width, plan.header->image_size)) return false;
  }
  return true;
}

bool is_pointer(std::uint32_t offset, std::uint32_t width, std::uint32_t size) noexcept {
  return offset == 0 || ((width == 4 || width == 8) && fits(offset, width, size));
}

bool check_frames(const LayoutPlan& plan) noexcept {
  const LayoutPlanHeader& header = *plan.header;
  if (!fits(header.eh_frame, header.eh_frame_size, header.image_size)) return false;
  for (const LayoutCommon& common : plan.commons) {
    if (!fits(common.offset, common.size, header.eh_frame_size) || common.size < 8) return false;
    if (!is_pointer(common.pointer_offset, common.pointer_width, common.size)) return false;
  }
  std::uint32_t common = 0;
  for (const LayoutFrame& frame : plan.frames) {
    if (frame.common < common) return false;  // each is copied once, before its frames
    common = frame.common;
    if (!fits(frame.offset, frame.size, header.eh_frame_size)) return false;
    if (frame.unit >= plan.units.size() || frame.common >= plan.commons.size()) return false;
    if (frame.begin_width == 0 || !is_pointer(8, frame.begin_width, frame.size)) return false;
    if (!is_pointer(frame.pointer_offset, frame.pointer_width, frame.size)) return false;
  }
  return true;
}

}  // namespace

const char* read_layout_plan(std::span<const std::byte> bytes, LayoutPlan& out) noexcept {
  Sections sections(bytes);
  std::span<const LayoutPlanHeader> header;
  if (!sections.take(1, header)) return kDamaged;
  LayoutPlan plan;
  plan.header = header.data();
  if (std::memcmp(plan.header->magic, kLayoutPlanMagic, sizeof kLayoutPlanMagic) != 0) {
    return "is no layout plan";
  }
  if (plan.header->version != kLayoutPlanVersion) return "is of another version of coz";
  const bool complete = sections.take(plan.header->unit_count, plan.units) &&
                        sections.take(plan.header->fixup_count, plan.fixups) &&
                        sections.take(plan.header->entry_count, plan.entries) &&
                        sections.take(plan.header->table_count, plan.tables) &&
                        sections.take(plan.header->common_count, plan.commons) &&
                        sections.take(plan.header->frame_count, plan.frames) &&
                        sections.take(plan.header->text_size, plan.text);
  const std::uint32_t alignment = plan.header->alignment;
  if (!complete || alignment == 0 || (alignment & (alignment - 1)) != 0) return kDamaged;
  if (plan.header->image_size > std::uint64_t{1} << 31) return kDamaged;
  if (!check_units(plan) || !check_fixups(plan) || !check_places(plan) || !check_frames(plan)) {
    return kDamaged;
  }
  out = plan;
  return nullptr;
}

}  // namespace coz
