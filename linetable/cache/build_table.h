// `coz-linetable build`: from a binary to its table in the cache.
#ifndef LINETABLE_CACHE_BUILD_TABLE_H
#define LINETABLE_CACHE_BUILD_TABLE_H

#include <cstddef>
#include <string>
#include <vector>

#include "linetable/elf/debug_file.h"

namespace coz::linetable {

struct BuildOptions {
  std::string binary;
  std::string cache_dir;  // empty for the default
  DebugFileSearch search;
  bool reuse_cached = true;
  bool functions = false;  // also those that are known by symbols alone
};

enum class BuildError { kNone, kNoDebugInfo, kNotElf, kCache };

struct BuildResult {
  BuildError error = BuildError::kNone;
  std::string message;  // for the user, when there is an error
  std::string table;
  std::string binary;
  std::string build_id;
  std::string debug_file;  // empty: there is no debug information
  bool cached = false;
  std::size_t rows = 0;
  std::size_t lines = 0;
  std::size_t files = 0;
  std::size_t functions = 0;
  std::vector<std::string> warnings;
};

[[nodiscard]] BuildResult build_table(const BuildOptions& options);

// The object that the command prints, a success or an error.
[[nodiscard]] std::string to_json(const BuildResult& result);

}  // namespace coz::linetable

#endif  // LINETABLE_CACHE_BUILD_TABLE_H
