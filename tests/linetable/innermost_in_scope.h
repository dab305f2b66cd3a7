// The first of LineTable::frames_in_scope(), which most tests are about.
#ifndef TESTS_LINETABLE_INNERMOST_IN_SCOPE_H
#define TESTS_LINETABLE_INNERMOST_IN_SCOPE_H

#include <cstdint>
#include <optional>
#include <span>

#include "common/line_table.h"

inline std::optional<coz::LineLocation> innermost_in_scope(
    const coz::LineTable& table, std::uint64_t address, std::span<const std::uint8_t> file_in_scope,
    coz::Lineless lineless = coz::Lineless::kSkip) {
  coz::LineLocation innermost;
  if (table.frames_in_scope(address, file_in_scope, {&innermost, 1}, lineless) == 0) {
    return std::nullopt;
  }
  return innermost;
}

#endif  // TESTS_LINETABLE_INNERMOST_IN_SCOPE_H
