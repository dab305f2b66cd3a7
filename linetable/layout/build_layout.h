// `coz-linetable layout`: from a program to its layout plan in the cache.
#ifndef LINETABLE_LAYOUT_BUILD_LAYOUT_H
#define LINETABLE_LAYOUT_BUILD_LAYOUT_H

#include <cstdint>
#include <string>
#include <vector>

#include "linetable/cache/build_table.h"

namespace coz::linetable {

enum class LayoutError { kNone, kRefused, kNotElf, kCache };

struct LayoutAnswer {
  LayoutError error = LayoutError::kNone;
  std::string json;  // the object that the command prints
};

// A plan in the cache is taken if it is for this very file: strip leaves the build id. No separate
// debug file is looked for.
[[nodiscard]] LayoutAnswer build_layout(const BuildOptions& options);

// The functions of these units of the program's plan, which are left out if it has fewer.
[[nodiscard]] LayoutAnswer describe_units(const BuildOptions& options,
                                          const std::vector<std::uint32_t>& units);

}  // namespace coz::linetable

#endif  // LINETABLE_LAYOUT_BUILD_LAYOUT_H
