// The folder of finished line tables, and of layout plans.
//
// Several helpers may use it at once: a table is written under a temporary name and then renamed,
// so that it is complete when it appears. Nothing found there is trusted: a table that is damaged,
// was written by another user or for another build, or is older than its binary is built again.
#ifndef LINETABLE_CACHE_TABLE_CACHE_H
#define LINETABLE_CACHE_TABLE_CACHE_H

#include <cstddef>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/line_table.h"
#include "linetable/elf/elf_file.h"

namespace coz::linetable {

// $XDG_CACHE_HOME/coz, or ~/.cache/coz; empty when neither is known.
[[nodiscard]] std::string default_cache_dir();

// The file name of the table of `binary`: its build id, or without one, a hash of what identifies
// its file (path, size, times, inode). A table with functions from symbols has the hash, too, since
// strip removes symbols and leaves the build id.
[[nodiscard]] std::string table_name(const ElfFile& binary, bool functions);

// The file name of its layout plan, by the hash of what identifies its file.
[[nodiscard]] std::string layout_name(const ElfFile& binary);

// When the contents or the name of a file last changed. A build id can be chosen by hand, so a
// table is good only if it is younger than what it was made from.
[[nodiscard]] timespec last_change(const ElfFile& file);

[[nodiscard]] timespec later_of(timespec a, timespec b);

// The time by the clock that stamps files. Ask before a binary is read.
[[nodiscard]] timespec file_clock();

class TableCache {
 public:
  TableCache() = default;
  ~TableCache();
  TableCache(const TableCache&) = delete;
  TableCache& operator=(const TableCache&) = delete;

  // Opens the folder; makes it and its parents, for this user only, where they are missing. Returns
  // nullptr, or what went wrong.
  [[nodiscard]] const char* open(const std::string& dir);

  // The table called `name`, if it is good for `binary` and younger than `younger_than`.
  [[nodiscard]] std::optional<LineTable> find(const std::string& name, const ElfFile& binary,
                                              timespec younger_than) const;

  // The bytes of the file called `name`, if it is ours and younger than `younger_than`; otherwise
  // none.
  [[nodiscard]] std::vector<std::byte> read(const std::string& name, timespec younger_than) const;

  // Writes the table called `name`, made from files as they were at the time `made_from`. Returns
  // nullptr, or what went wrong. Removes tables that nobody has opened for 60 days.
  [[nodiscard]] const char* store(const std::string& name, std::string_view bytes,
                                  timespec made_from) const;

  [[nodiscard]] std::string path_of(const std::string& name) const { return dir_ + "/" + name; }

 private:
  // The file called `name`, to read; -1 unless it is ours and younger than `younger_than`.
  [[nodiscard]] int open_good(const std::string& name, timespec younger_than) const;

  void remove_left_over() const;

  std::string dir_;
  int fd_ = -1;
};

}  // namespace coz::linetable

#endif  // LINETABLE_CACHE_TABLE_CACHE_H
