// A line table file (line_table_format.h), mapped read-only, and the questions asked of it.
//
// Ownership: a LineTable owns its mapping; what the lookups return points into it and dies with it.
// One that was moved from can only be destroyed or assigned to.
// The file may be replaced by rename while it is mapped, but must not be truncated in place, which
// is why the helper only ever renames finished tables into the cache.
//
// Threads: everything but open(), the destructor and assignment is const and may be called from any
// number of threads at once.
//
// Signals: functions marked "signal-safe" allocate nothing, take no lock and make no system call.
// They check every index that they read from the file: a damaged table yields no answer, or a
// wrong one, but no access outside the mapping.
#ifndef COMMON_LINE_TABLE_H
#define COMMON_LINE_TABLE_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/line_table_format.h"
#include "common/scope.h"

namespace coz {

// Where code was executed: a line, and the function (perhaps inlined) that it was executed as part
// of.
struct LineLocation {
  std::uint32_t line_id = 0;
  std::uint32_t function_id = kNoFunction;
};

// A static variable, and how far into it an address is.
struct ObjectLocation {
  const char* name = nullptr;
  std::uint32_t offset = 0;
};

// Frames of functions that are known by a symbol alone have line 0 (line_table_format.h). They are
// in scope wherever functions are what is looked for, whatever their file, which is the binary; and
// they are no lines.
enum class Lineless { kSkip, kFind };

// How a table frees its mapping.
struct Unmapping {
  std::size_t size = 0;
  void operator()(const char* file) const noexcept;
};

class LineTable {
 public:
  // Maps and checks the table at `path`. Returns nullptr, or what is wrong with the file, in which
  // case `out` is left as it was.
  [[nodiscard]] static const char* open(const char* path, LineTable& out) noexcept;

  // Maps and checks the table open as `fd`, which stays the caller's.
  [[nodiscard]] static const char* open_descriptor(int fd, LineTable& out) noexcept;

  // --- Signal-safe from here on. `address` is relative to base_address(). ---

  // The inline chain of the code at `address`, innermost first; empty where there is none.
  [[nodiscard]] std::span<const LineTableFrame> find_chain(std::uint64_t address) const noexcept;

  // The frames of that chain whose files are in scope, innermost first, as many as `out` has room
  // for; returns their number. `file_in_scope` has a byte for each file, nonzero for "in scope"
  // (see files_in_scope()); files past its end are out of scope.
  [[nodiscard]] std::size_t frames_in_scope(std::uint64_t address,
                                            std::span<const std::uint8_t> file_in_scope,
                                            std::span<LineLocation> out,
                                            Lineless lineless = Lineless::kSkip) const noexcept;

  [[nodiscard]] std::optional<LineTableLine> line(std::uint32_t line_id) const noexcept;

  // Both return nullptr for an id that the table does not know, kNoFunction included.
  [[nodiscard]] const char* file_path(std::uint32_t file_id) const noexcept;
  [[nodiscard]] const char* function_name(std::uint32_t function_id) const noexcept;

  // The static variable at `address`, which is relative to base_address(); without a name where
  // there is none.
  [[nodiscard]] ObjectLocation find_object(std::uint64_t address) const noexcept;

  [[nodiscard]] std::size_t row_count() const noexcept { return starts_.size(); }
  [[nodiscard]] std::size_t line_count() const noexcept { return lines_.size(); }
  [[nodiscard]] std::size_t file_count() const noexcept { return files_.size(); }
  [[nodiscard]] std::size_t function_count() const noexcept { return functions_.size(); }

  // Every frame of every chain, in no particular order: for a pass over the whole table.
  [[nodiscard]] std::span<const LineTableFrame> frames() const noexcept { return frames_; }
  [[nodiscard]] std::uint64_t base_address() const noexcept { return base_address_; }
  [[nodiscard]] std::span<const std::uint8_t> build_id() const noexcept { return build_id_; }

  // --- Not for signal handlers: these allocate, or read the whole table. ---

  // A byte for each file id: 1 when `scope` contains the file.
  [[nodiscard]] std::vector<std::uint8_t> files_in_scope(const SourceScope& scope) const;

  // The line of a function that stands first in its file; line 0 for a function that is known by a
  // symbol alone. Looks through all frames at its first call, and keeps what it found: one thread
  // at a time.
  [[nodiscard]] std::optional<LineTableLine> first_line_of(std::uint32_t function_id) const;

  // `path:function`, with the path of the function's first line. One thread at a time.
  [[nodiscard]] std::string function_location(std::uint32_t function_id) const;

  // The id of line `line` of the file whose path is, or ends in the components of, `path_suffix`.
  // An exact path wins over a suffix; among several suffixes the first in the table whose file is
  // in scope does, and where none is, the first. Line 0 is no line.
  [[nodiscard]] std::optional<std::uint32_t> find_line(
      std::string_view path_suffix, std::uint32_t line,
      std::span<const std::uint8_t> file_in_scope = {}) const noexcept;

 private:
  const char* adopt(const char* file, std::size_t size) noexcept;
  [[nodiscard]] const char* string_at(std::span<const std::uint32_t> offsets,
                                      std::uint32_t index) const noexcept;

  std::unique_ptr<const char, Unmapping> file_;
  std::uint64_t base_address_ = 0;
  std::span<const std::uint8_t> build_id_;
  std::span<const std::uint32_t> starts_;
  std::span<const std::uint32_t> chains_;
  std::span<const std::uint32_t> chain_begins_;
  std::span<const LineTableFrame> frames_;
  std::span<const LineTableLine> lines_;
  std::span<const std::uint32_t> files_;
  std::span<const std::uint32_t> functions_;
  std::span<const LineTableObject> objects_;
  std::span<const char> strings_;
  mutable std::vector<LineTableLine> first_lines_;  // of functions; empty until asked for
};

// True when `path` is `suffix` or ends in it at a component boundary. Signal-safe.
[[nodiscard]] bool path_ends_with(std::string_view path, std::string_view suffix) noexcept;

}  // namespace coz

#endif  // COMMON_LINE_TABLE_H
