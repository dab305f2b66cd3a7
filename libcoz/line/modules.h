// The binaries of this process that have a line table, and from a code address to a line in scope.
//
// Lines and functions have global ids: the id in the table plus the module's `first_line` or
// `first_function`.
// load() runs once, before any thread is profiled; it allocates. Everything else is const and
// signal-safe, from any thread.
#ifndef LIBCOZ_LINE_MODULES_H
#define LIBCOZ_LINE_MODULES_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "line/line_table.h"

namespace coz {

struct Module {
  std::uintptr_t begin = 0;  // of its executable segments in memory
  std::uintptr_t end = 0;
  std::uintptr_t load_bias = 0;  // address in memory less address in the file
  std::uint32_t first_line = 0;
  std::uint32_t first_function = 0;
  LineTable table;
  std::vector<std::uint8_t> file_in_scope;
};

// Global ids; the function, of which the line was executed as part (perhaps inlined), may be
// kNoFunction.
struct Place {
  std::uint32_t line = 0;
  std::uint32_t function = kNoFunction;
};

// Where a file's code is in this process; nullopt when it is not loaded.
struct Loading {
  std::uintptr_t begin = 0;  // of its executable segments in memory
  std::uintptr_t end = 0;
  std::uintptr_t load_bias = 0;  // address in memory less address in the file
};
std::optional<Loading> find_loading(const char* binary);

class Modules {
 public:
  // Maps the tables listed as `binary<TAB>table`, one a line, and finds where the binaries are
  // loaded. A table that can't be used is left out, and said in `problems`.
  // `lineless`: whether functions that are known by symbols alone are places.
  void load(std::string_view list, const SourceScope& scope, Lineless lineless,
            std::vector<std::string>& problems);

  // The places in scope of the code at `address` by the inline chain, innermost first, as many as
  // `out` has room for; returns their number.
  std::size_t find(std::uintptr_t address, std::span<Place> out) const noexcept;

  std::uint32_t line_count() const noexcept { return line_count_; }
  std::uint32_t function_count() const noexcept { return function_count_; }
  bool empty() const noexcept { return modules_.empty(); }

  // False for what stands for all functions without lines in a binary (line_table_format.h).
  bool is_line(std::uint32_t line) const noexcept;
  // `path:line`, or of functions without lines the path alone; may allocate.
  std::string location(std::uint32_t line) const;
  // nullptr where there is none.
  const char* function_name(std::uint32_t function) const noexcept;
  // As LineTable::function_location(); may allocate.
  std::string function_location(std::uint32_t function) const;
  std::optional<std::uint32_t> find_line(std::string_view location) const noexcept;
  // By its location, whole. Reads whole tables; may allocate.
  std::optional<std::uint32_t> find_function(std::string_view location) const;

  // Build id of the main executable, hex.
  std::string build_id() const;

 private:
  const Module* module_of_line(std::uint32_t line) const noexcept;
  const Module* module_of_function(std::uint32_t function) const noexcept;

  std::vector<Module> modules_;
  Lineless lineless_ = Lineless::kSkip;
  std::uint32_t line_count_ = 0;
  std::uint32_t function_count_ = 0;
};

}  // namespace coz

#endif  // LIBCOZ_LINE_MODULES_H
