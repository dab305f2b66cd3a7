// The binaries of this process that have a line table, and from a code address to a line in scope.
//
// A line has one *global line id*: its id in its table plus the module's `first_line`.
// load() runs once, before any thread is profiled; it allocates. Everything else is const and
// signal-safe, from any thread.
#ifndef LIBCOZ_LINE_MODULES_H
#define LIBCOZ_LINE_MODULES_H

#include <cstdint>
#include <optional>
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
  LineTable table;
  std::vector<std::uint8_t> file_in_scope;
};

struct Place {
  std::uint32_t line;      // global line id
  std::uint32_t function;  // function id in the line's module, or kNoFunction
};

class Modules {
 public:
  // Maps the tables listed as `binary<TAB>table`, one a line, and finds where the binaries are
  // loaded. A table that can't be used is left out, and said in `problems`.
  void load(std::string_view list, const SourceScope& scope, std::vector<std::string>& problems);

  // The innermost line in scope of the code at `address`, by the inline chain.
  std::optional<Place> find(std::uintptr_t address) const noexcept;

  std::uint32_t line_count() const noexcept { return line_count_; }
  bool empty() const noexcept { return modules_.empty(); }

  // `path:line`; may allocate.
  std::string location(std::uint32_t line) const;
  const char* function_name(const Place& place) const noexcept;
  std::optional<std::uint32_t> find_line(std::string_view location) const noexcept;

  // Build id of the main executable, hex.
  std::string build_id() const;

 private:
  const Module* module_of_line(std::uint32_t line) const noexcept;

  std::vector<Module> modules_;
  std::uint32_t line_count_ = 0;
};

}  // namespace coz

#endif  // LIBCOZ_LINE_MODULES_H
