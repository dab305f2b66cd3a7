// What `coz-linetable scope` and `coz-linetable lines` answer about a finished table.
#ifndef LINETABLE_QUERY_TABLE_QUERIES_H
#define LINETABLE_QUERY_TABLE_QUERIES_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/line_table.h"
#include "common/scope.h"

namespace coz::linetable {

struct Location {
  std::string path;  // whole, or its last components
  std::uint32_t line = 0;
};

// "FILE:LINE"; nothing when that is not what `text` is.
[[nodiscard]] std::optional<Location> parse_location(std::string_view text);

// What a user chose: the arguments of --line, of which `location` is what parse_location() made,
// and of --function.
struct WantedTargets {
  struct Line {
    std::string text;
    Location location;
  };
  std::vector<Line> lines;
  std::vector<std::string> functions;
};

// The object that `scope` prints.
[[nodiscard]] std::string describe_scope(const LineTable& table, const SourceScope& scope,
                                         const WantedTargets& wanted_targets);

// Calls `print` with an object for each line in scope, in order of path and line; or, with
// `functions`, for each function in scope, in order of path and name.
void list_lines(const LineTable& table, const SourceScope& scope, bool functions,
                const std::function<void(const std::string&)>& print);

}  // namespace coz::linetable

#endif  // LINETABLE_QUERY_TABLE_QUERIES_H
