// `coz-linetable layout`: from a program to its layout plan in the cache.
#ifndef LINETABLE_LAYOUT_BUILD_LAYOUT_H
#define LINETABLE_LAYOUT_BUILD_LAYOUT_H

#include <string>

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

}  // namespace coz::linetable

#endif  // LINETABLE_LAYOUT_BUILD_LAYOUT_H
