// A small table with every feature of the format, for tests of its readers.
#ifndef TESTS_LINETABLE_SAMPLE_TABLE_H
#define TESTS_LINETABLE_SAMPLE_TABLE_H

#include <array>
#include <cstdint>
#include <string>

#include "linetable/table/table_builder.h"

inline constexpr std::uint64_t kSampleBase = 0x400000;
inline constexpr std::array<std::uint8_t, 4> kSampleBuildId = {0xab, 0x12, 0xcd, 0x34};

// outer() is [0x10, 0x40) in /src/a.c; inlined into it, [0x20, 0x30), is inner() of /src/b.h,
// called at line 11. [0x40, 0x50) is a gap; other(), [0x50, 0x60), is in /usr/include/c.h.
inline std::string sample_table() {
  coz::linetable::TableBuilder builder;
  const auto a = builder.add_file("/src/a.c");
  const auto b = builder.add_file("/src/b.h");
  const auto c = builder.add_file("/usr/include/c.h");
  const auto outer = builder.add_function_scope(builder.add_function("outer"));
  builder.add_range(0x10, 0x40, outer);
  const auto inner =
      builder.add_inlined_scope(builder.add_function("inner"), outer, builder.add_line(a, 11));
  builder.add_range(0x20, 0x30, inner);
  const auto other = builder.add_function_scope(builder.add_function("other"));
  builder.add_range(0x50, 0x60, other);
  builder.add_row(0x10, builder.add_line(a, 10));
  builder.add_row(0x20, builder.add_line(b, 5));
  builder.add_row(0x30, builder.add_line(a, 12));
  builder.add_row(0x40, coz::linetable::kNoLine);
  builder.add_row(0x50, builder.add_line(c, 7));
  builder.add_row(0x60, coz::linetable::kNoLine);
  return builder.finish(kSampleBase, kSampleBuildId);
}

#endif  // TESTS_LINETABLE_SAMPLE_TABLE_H
