// What `coz-linetable scope` and `coz-linetable lines` answer about a finished table.
#ifndef LINETABLE_QUERIES_H
#define LINETABLE_QUERIES_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "line/line_table.h"
#include "line/scope.h"

namespace coz::linetable {

struct Location {
  std::string path;  // whole, or its last components
  std::uint32_t line = 0;
};

// "FILE:LINE"; nothing when that is not what `text` is.
[[nodiscard]] std::optional<Location> parse_location(std::string_view text);

// The object that `scope` prints. `wanted` is the argument of --line, if there was one.
[[nodiscard]] std::string describe_scope(const LineTable& table, const SourceScope& scope,
                                         const std::optional<Location>& wanted);

// Calls `print` with an object for each line in scope, in order of path and line.
void list_lines(const LineTable& table, const SourceScope& scope,
                const std::function<void(const std::string&)>& print);

}  // namespace coz::linetable

#endif  // LINETABLE_QUERIES_H
