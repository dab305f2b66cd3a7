// A small layout plan for a program of one page: two units of code, a table, an unwind table.
#ifndef TESTS_LIBLAYOUT_SAMPLE_PLAN_H
#define TESTS_LIBLAYOUT_SAMPLE_PLAN_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "common/layout_plan.h"

struct SamplePlan {
  static constexpr std::uint32_t kImage = 0x1000;
  coz::LayoutPlanHeader header;
  // A calls B; B calls A and reads data; the table leads into B.
  std::vector<coz::LayoutUnit> units{{0x100, 0x20, 0}, {0x140, 0x30, 1}};
  std::vector<coz::LayoutFixup> fixups{{0x104, 1}, {0x144, 0}, {0x150, coz::kStays}};
  std::vector<coz::LayoutEntry> entries{{0x100, 0}, {0x140, 1}};
  std::vector<coz::LayoutTable> tables{{0x800, 1, 4, 0x800}, {0x804, 1, 4, 0x800}};
  std::vector<coz::LayoutCommon> commons{{0, 0x18, 0x10, 4}};
  std::vector<coz::LayoutFrame> frames{{0x18, 0x20, 1, 0, 0x14, 4, 4, 0}};

  SamplePlan() {
    std::memcpy(header.magic, coz::kLayoutPlanMagic, sizeof header.magic);
    header.version = coz::kLayoutPlanVersion;
    header.alignment = 16;
    header.image_size = kImage;
    header.eh_frame = 0xa00;
    header.eh_frame_size = 0x40;
  }

  [[nodiscard]] std::vector<std::byte> bytes() const {
    coz::LayoutPlanHeader counted = header;
    counted.unit_count = static_cast<std::uint32_t>(units.size());
    counted.fixup_count = static_cast<std::uint32_t>(fixups.size());
    counted.entry_count = static_cast<std::uint32_t>(entries.size());
    counted.table_count = static_cast<std::uint32_t>(tables.size());
    counted.common_count = static_cast<std::uint32_t>(commons.size());
    counted.frame_count = static_cast<std::uint32_t>(frames.size());
    std::vector<std::byte> out;
    append(out, &counted, 1);
    append(out, units.data(), units.size());
    append(out, fixups.data(), fixups.size());
    append(out, entries.data(), entries.size());
    append(out, tables.data(), tables.size());
    append(out, commons.data(), commons.size());
    append(out, frames.data(), frames.size());
    return out;
  }

 private:
  template <typename Entry>
  static void append(std::vector<std::byte>& out, const Entry* entries, std::size_t count) {
    const auto* const begin = reinterpret_cast<const std::byte*>(entries);
    const std::size_t at = out.size();
    out.insert(out.end(), begin, begin + count * sizeof(Entry));
    out.resize(at + coz::layout_section_size<Entry>(count));
  }
};

// That program in memory, and room for copies behind it. `plan` is still to be read from `file`.
struct SampleProgram {
  SamplePlan sample;
  std::vector<std::byte> file = sample.bytes();
  coz::LayoutPlan plan;
  alignas(8) std::array<std::uint8_t, 0x3000> memory{};
  std::uint8_t* image = memory.data();

  void set(std::size_t at, std::int32_t value) { std::memcpy(image + at, &value, sizeof value); }
  [[nodiscard]] std::int64_t get(std::size_t at) const {
    std::int32_t value;
    std::memcpy(&value, image + at, sizeof value);
    return value;
  }
  // Where the distance at `at`, which ends an instruction, leads.
  [[nodiscard]] std::int64_t target(std::size_t at) const {
    return static_cast<std::int64_t>(at) + 4 + get(at);
  }
};

#endif  // TESTS_LIBLAYOUT_SAMPLE_PLAN_H
