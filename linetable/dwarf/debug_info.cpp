#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <unordered_set>

#include "linetable/dwarf/debug_info.h"
#include "linetable/dwarf/dwarf_handle.h"
#include "linetable/dwarf/inlines.h"
#include "linetable/dwarf/unit_files.h"
#include "linetable/elf/code_space.h"
#include "linetable/elf/debug_file.h"

namespace coz::linetable {
namespace {

// Debug information that dwz moved out of `main`, to be shared by several binaries. Must outlive
// `main`. Null when there is none, or none can be found: names are missing then.
struct SharedDebugInfo {
  ElfFile file;
  DwarfHandle dwarf;
};

SharedDebugInfo open_shared(Dwarf* main, const ElfFile& debug_file,
                            const std::vector<std::string>& debug_dirs,
                            std::vector<std::string>& warnings) {
  const char* name = nullptr;
  const void* id = nullptr;
  const ssize_t id_size = dwelf_dwarf_gnu_debugaltlink(main, &name, &id);
  if (id_size <= 0) return {};
  const auto* id_bytes = static_cast<const std::uint8_t*>(id);
  const std::vector<std::uint8_t> build_id(id_bytes, id_bytes + id_size);
  std::vector<std::string> paths;
  paths.push_back(name[0] == '/' ? name : folder_of(debug_file.path()) + "/" + name);
  for (const std::string& dir : debug_dirs) paths.push_back(build_id_path(dir, build_id));
  for (const std::string& path : paths) {
    SharedDebugInfo shared;
    if (shared.file.open(path) != nullptr || shared.file.build_id() != build_id) continue;
    shared.dwarf = open_dwarf(shared.file.elf());
    if (shared.dwarf == nullptr) continue;
    dwarf_setalt(main, shared.dwarf.get());
    return shared;
  }
  warnings.push_back("the shared debug file " + std::string(name) + " of " + debug_file.path() +
                     " was not found: some function names are missing");
  return {};
}

// Reads the rows of line programs.
class RowReader {
 public:
  RowReader(const CodeSpace& code, TableBuilder& builder) : code_(code), builder_(builder) {}

  // False when the unit's line program cannot be read.
  [[nodiscard]] bool read(Dwarf_Die& unit, UnitFiles& files);

  [[nodiscard]] std::size_t rows_with_lines() const { return rows_with_lines_; }

 private:
  struct Row {
    Dwarf_Addr address = 0;
    std::uint32_t file = kNoFile;
    std::uint32_t line = 0;
  };

  bool has_removed_code(Dwarf_Lines* lines, std::size_t count) const;
  std::vector<CodeExtent> kept_code(Dwarf_Die& unit) const;
  void add_sequences(Dwarf_Lines* lines, std::size_t count, UnitFiles& files);
  void add_kept(Dwarf_Lines* lines, std::size_t count, const std::vector<CodeExtent>& kept,
                UnitFiles& files);
  void add_row(Dwarf_Line* row, Dwarf_Addr address, UnitFiles& files);
  void flush_row();
  void end_sequence(Dwarf_Addr address);

  const CodeSpace& code_;
  TableBuilder& builder_;
  std::unordered_set<const Dwarf_Lines*> done_;  // several units may share a line program
  std::size_t rows_with_lines_ = 0;
  // Most rows repeat their predecessor's line or address. Only the last of an address, and the
  // first of a line, reach the builder.
  std::optional<Row> pending_;
  std::optional<Row> added_;  // the last in this sequence
};

bool RowReader::read(Dwarf_Die& unit, UnitFiles& files) {
  if (dwarf_hasattr(&unit, DW_AT_stmt_list) == 0) return true;
  Dwarf_Lines* lines = nullptr;
  std::size_t count = 0;
  if (!read_rows(unit, lines, count)) return false;
  if (!done_.insert(lines).second) return true;
  pending_.reset();
  added_.reset();
  if (has_removed_code(lines, count)) {
    add_kept(lines, count, kept_code(unit), files);
  } else {
    add_sequences(lines, count, files);
  }
  return true;
}

bool RowReader::has_removed_code(Dwarf_Lines* lines, std::size_t count) const {
  // libdw sorts by address, and linkers move removed code to the lowest or the highest address.
  for (const std::size_t i : {std::size_t{0}, count - 1}) {
    Dwarf_Addr address = 0;
    bool end = false;
    Dwarf_Line* row = count == 0 ? nullptr : dwarf_onesrcline(lines, i);
    if (row == nullptr || dwarf_lineaddr(row, &address) != 0) continue;
    dwarf_lineendsequence(row, &end);
    if (!code_.is_code(end && address != 0 ? address - 1 : address)) return true;
  }
  return false;
}

// What of the unit's code the linker kept.
std::vector<CodeExtent> RowReader::kept_code(Dwarf_Die& unit) const {
  std::vector<CodeExtent> kept;
  Dwarf_Addr base = 0;
  Dwarf_Addr begin = 0;
  Dwarf_Addr end = 0;
  std::ptrdiff_t offset = 0;
  while ((offset = dwarf_ranges(&unit, offset, &base, &begin, &end)) > 0) {
    if (code_.is_code(begin)) kept.push_back({begin, end});
  }
  std::sort(kept.begin(), kept.end(),
            [](const CodeExtent& a, const CodeExtent& b) { return a.begin < b.begin; });
  return kept;
}

void RowReader::add_sequences(Dwarf_Lines* lines, std::size_t count, UnitFiles& files) {
  bool in_sequence = false;
  // A sequence of no length: its end sorts before its rows, which belong to nothing.
  Dwarf_Addr empty_at = std::numeric_limits<Dwarf_Addr>::max();
  for (std::size_t i = 0; i < count; ++i) {
    Dwarf_Line* row = dwarf_onesrcline(lines, i);
    Dwarf_Addr address = 0;
    bool end = false;
    if (dwarf_lineaddr(row, &address) != 0 || dwarf_lineendsequence(row, &end) != 0) continue;
    if (end) {
      if (!in_sequence) empty_at = address;
      in_sequence = false;
      end_sequence(address);
    } else if (address != empty_at) {
      in_sequence = true;
      add_row(row, address, files);
    }
  }
  if (pending_) flush_row();
}

// In libdw's sorted rows a removed sequence, which seems to begin at 0, may be mixed up with code
// that was kept. Then the unit's own ranges say which rows, and which ends, are real.
void RowReader::add_kept(Dwarf_Lines* lines, std::size_t count, const std::vector<CodeExtent>& kept,
                         UnitFiles& files) {
  std::size_t i = 0;
  for (const CodeExtent& extent : kept) {
    for (; i < count; ++i) {
      Dwarf_Line* row = dwarf_onesrcline(lines, i);
      Dwarf_Addr address = 0;
      bool end = false;
      if (dwarf_lineaddr(row, &address) != 0 || dwarf_lineendsequence(row, &end) != 0) continue;
      if (address >= extent.end) break;
      if (!end && address >= extent.begin) add_row(row, address, files);
    }
    end_sequence(extent.end);
  }
}

void RowReader::add_row(Dwarf_Line* row, Dwarf_Addr address, UnitFiles& files) {
  int line = 0;
  std::size_t file_number = 0;
  Dwarf_Files* file_table = nullptr;
  if (pending_ && pending_->address != address) flush_row();
  pending_ = Row{address};
  if (dwarf_lineno(row, &line) == 0 && line > 0 &&
      dwarf_line_file(row, &file_table, &file_number) == 0) {
    pending_->file = files.id(file_number);
    pending_->line = static_cast<std::uint32_t>(line);
  }
}

void RowReader::flush_row() {
  const Row row = *pending_;
  pending_.reset();
  if (!code_.is_code(row.address)) return;
  if (added_ && added_->file == row.file && added_->line == row.line) return;
  added_ = row;
  const bool has_line = row.file != kNoFile;
  if (has_line) ++rows_with_lines_;
  builder_.add_row(code_.relative(row.address),
                   has_line ? builder_.add_line(row.file, row.line) : kNoLine);
}

void RowReader::end_sequence(Dwarf_Addr address) {
  if (pending_) flush_row();
  added_.reset();
  if (code_.fits(address)) builder_.add_row(code_.relative(address), kNoLine);
}

std::string unit_name(Dwarf_Die& unit) {
  const char* name = dwarf_diename(&unit);
  return name == nullptr ? "at offset " + std::to_string(dwarf_dieoffset(&unit)) : name;
}

// Keeps a binary with thousands of bad units from drowning the user.
class UnitWarnings {
 public:
  explicit UnitWarnings(std::vector<std::string>& warnings) : warnings_(warnings) {}
  ~UnitWarnings() {
    if (count_ > kShown) {
      warnings_.push_back(std::to_string(count_ - kShown) + " more units could not be read");
    }
  }
  UnitWarnings(const UnitWarnings&) = delete;
  UnitWarnings& operator=(const UnitWarnings&) = delete;

  void add(const char* what, Dwarf_Die& unit) {
    const int error = dwarf_errno();
    if (++count_ > kShown) return;
    std::string text = std::string(what) + " of unit " + unit_name(unit) + " cannot be read";
    if (error != 0) text += std::string(": ") + dwarf_errmsg(error);
    warnings_.push_back(text);
  }

 private:
  static constexpr std::size_t kShown = 10;
  std::vector<std::string>& warnings_;
  std::size_t count_ = 0;
};

}  // namespace

std::size_t read_debug_info(const ElfFile& binary, const ElfFile& debug_file,
                            const std::vector<std::string>& debug_dirs, TableBuilder& builder,
                            std::vector<std::string>& warnings) {
  SharedDebugInfo shared;
  const DwarfHandle dwarf = open_dwarf(debug_file.elf());
  if (dwarf == nullptr) {
    warnings.push_back("the debug information of " + debug_file.path() +
                       " cannot be read: " + dwarf_errmsg(-1));
    return 0;
  }
  shared = open_shared(dwarf.get(), debug_file, debug_dirs, warnings);

  const CodeSpace code(binary);
  RowReader rows(code, builder);
  InlineReader inlines(code, builder);
  UnitWarnings unit_warnings(warnings);
  Dwarf_CU* cursor = nullptr;
  Dwarf_Die unit{};
  Dwarf_Die split{};  // with -gsplit-dwarf, the part of the unit that is in a .dwo file
  int status = 0;
  while ((status = dwarf_get_units(dwarf.get(), cursor, &cursor, nullptr, nullptr, &unit,
                                   &split)) == 0) {
    const int tag = dwarf_tag(&unit);
    if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit) continue;
    dwarf_errno();  // forgets errors of before
    UnitFiles files(unit, builder);
    if (!rows.read(unit, files)) unit_warnings.add("line information", unit);
    const bool is_split = split.addr != nullptr;
    UnitFiles split_files(is_split ? split : unit, builder);
    if (!inlines.read(is_split ? split : unit, split_files)) {
      unit_warnings.add("functions", unit);
    }
  }
  if (status < 0) {
    warnings.push_back("the debug information of " + debug_file.path() +
                       " is damaged; what follows the damage is ignored: " + dwarf_errmsg(-1));
  }
  return rows.rows_with_lines();
}

}  // namespace coz::linetable
