// `coz-linetable layout`: from a program to its layout plan in the cache.
#ifndef LINETABLE_LAYOUT_BUILD_LAYOUT_H
#define LINETABLE_LAYOUT_BUILD_LAYOUT_H

#include <string>

namespace coz::linetable {

struct LayoutOptions {
  std::string binary;
  std::string cache_dir;  // empty for the default
  bool reuse_cached = true;
};

enum class LayoutError { kNone, kRefused, kNotElf, kCache };

struct LayoutAnswer {
  LayoutError error = LayoutError::kNone;
  std::string json;  // the object that the command prints
};

// A plan in the cache is taken if it is for this very file: strip leaves the build id.
[[nodiscard]] LayoutAnswer build_layout(const LayoutOptions& options);

}  // namespace coz::linetable

#endif  // LINETABLE_LAYOUT_BUILD_LAYOUT_H
