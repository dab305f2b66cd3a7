#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_set>

#include "linetable/dwarf/debug_info.h"
#include "linetable/dwarf/entries.h"
#include "linetable/dwarf/inlines.h"
#include "linetable/dwarf/unit_files.h"
#include "linetable/dwarf/units.h"
#include "linetable/elf/code_space.h"
#include "linetable/elf/sections.h"

namespace coz::linetable {
namespace {

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
  void add_sequences(Dwarf_Lines* lines, std::size_t count, Dwarf_Die& unit, UnitFiles& files);
  void add_kept(Dwarf_Lines* lines, std::size_t count, const std::vector<CodeExtent>& kept,
                UnitFiles& files);
  void add_row(Dwarf_Line* row, Dwarf_Addr address, UnitFiles& files);
  void flush_row();
  void end_sequence(Dwarf_Addr address);

  const CodeSpace& code_;
  TableBuilder& builder_;
  std::unordered_set<const Dwarf_Lines*> done_;  // several units may share a line program
  std::size_t rows_with_lines_ = 0;
  // Most rows repeat the line or address of the row before. Only the last row of an address and the
  // first row of a line reach the builder.
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
    add_sequences(lines, count, unit, files);
  }
  return true;
}

bool RowReader::has_removed_code(Dwarf_Lines* lines, std::size_t count) const {
  // libdw sorts by address, and linkers give removed code the lowest or the highest address.
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

// The part of the unit's code that the linker kept.
std::vector<CodeExtent> RowReader::kept_code(Dwarf_Die& unit) const {
  std::vector<CodeExtent> kept = extents_of(unit);
  std::erase_if(kept, [this](const CodeExtent& extent) { return !code_.is_code(extent.begin); });
  std::sort(kept.begin(), kept.end(),
            [](const CodeExtent& a, const CodeExtent& b) { return a.begin < b.begin; });
  return kept;
}

// Whether an address belongs to a unit. Yes, if the unit does not say what code it has.
class UnitCode {
 public:
  explicit UnitCode(Dwarf_Die& unit) : unit_(unit) {}

  [[nodiscard]] bool has(Dwarf_Addr address) {
    if (!is_read_) extents_ = extents_of(unit_);
    is_read_ = true;
    return extents_.empty() || any_contains(extents_, address);
  }

 private:
  Dwarf_Die& unit_;
  std::vector<CodeExtent> extents_;
  bool is_read_ = false;  // which is only done when needed
};

// The end of a sequence sorts before rows at the same address. These may begin the next sequence.
// Or they are of the one that has ended, and belong to no code: gcc has such a row behind a call
// that does not return, where it notes the places of variables (-fstack-protector).
void RowReader::add_sequences(Dwarf_Lines* lines, std::size_t count, Dwarf_Die& unit,
                              UnitFiles& files) {
  constexpr Dwarf_Addr kNone = std::numeric_limits<Dwarf_Addr>::max();
  UnitCode code(unit);
  bool in_sequence = false;
  Dwarf_Addr empty_at = kNone;  // the end of an empty sequence
  Dwarf_Addr ended_at = kNone;
  for (std::size_t i = 0; i < count; ++i) {
    Dwarf_Line* row = dwarf_onesrcline(lines, i);
    Dwarf_Addr address = 0;
    bool end = false;
    if (dwarf_lineaddr(row, &address) != 0 || dwarf_lineendsequence(row, &end) != 0) continue;
    if (end) {
      // Of functions that the linker folded into one, two sequences end where one has code.
      if (!in_sequence && address != ended_at) empty_at = address;
      in_sequence = false;
      ended_at = address;
      end_sequence(address);
    } else if (in_sequence || (address != ended_at && address != empty_at) || code.has(address)) {
      in_sequence = true;
      add_row(row, address, files);
    }
  }
  if (pending_) flush_row();
}

// In libdw's sorted rows a removed sequence, which seems to begin at 0, may be mixed with code that
// was kept. Then the unit's own ranges say which rows and ends are real.
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

// Units whose functions are in a .dwo file that was not found.
class MissingFunctions {
 public:
  void add(Dwarf_Die& unit) {
    if (count_++ == 0) first_ = split_file_of(unit);
  }

  [[nodiscard]] bool any() const { return count_ > 0; }

  void warn(std::vector<std::string>& warnings) const {
    if (count_ == 0) return;
    const std::string others = count_ == 1 ? "" : " and " + std::to_string(count_ - 1) + " more";
    warnings.push_back("not found, or of another build: " + first_ + others +
                       ". Functions there have no names, and what is inlined does not count for " +
                       "its callers; put the .dwo files where the compiler wrote them, or " +
                       "compile without -gsplit-dwarf");
  }

 private:
  std::size_t count_ = 0;
  std::string first_;
};

// Whether .debug_info is compressed in a way that this libelf does not know; it knows zlib's.
bool is_unknown_compression(Elf* elf) {
  bool is_unknown = false;
  for_each_section(elf, [&](Elf_Scn* section, const GElf_Shdr& header, std::string_view name) {
    if (name != ".debug_info" || (header.sh_flags & SHF_COMPRESSED) == 0) return;
    GElf_Chdr compression;
    is_unknown = gelf_getchdr(section, &compression) != nullptr &&
                 compression.ch_type != ELFCOMPRESS_ZLIB && elf_compress(section, 0, 0) < 0;
  });
  return is_unknown;
}

}  // namespace

DebugInfoRead read_debug_info(const ElfFile& binary, const ElfFile& debug_file,
                              TableBuilder& builder, std::vector<std::string>& warnings) {
  if (is_unknown_compression(debug_file.elf())) {
    warnings.push_back("the debug information of " + debug_file.path() +
                       " is compressed in a way that the libelf here cannot read (zstd needs a "
                       "newer one): decompress it with objcopy --decompress-debug-sections");
    return {};
  }
  const DwarfHandle dwarf = open_dwarf(debug_file.elf());
  if (dwarf == nullptr) {
    warnings.push_back("the debug information of " + debug_file.path() +
                       " cannot be read: " + dwarf_errmsg(-1));
    return {};
  }
  DebugInfoRead result;
  const char* shared = nullptr;
  const void* id = nullptr;
  if (dwelf_dwarf_gnu_debugaltlink(dwarf.get(), &shared, &id) > 0 &&
      dwarf_getalt(dwarf.get()) == nullptr) {
    result.lacks_files = true;
    warnings.push_back("the shared debug file " + std::string(shared) + " of " + debug_file.path() +
                       " was not found: some function names are missing");
  }

  const CodeSpace code(binary);
  RowReader rows(code, builder);
  InlineReader inlines(code, builder);
  UnitWarnings unit_warnings(warnings);
  MissingFunctions missing;
  const auto read_unit = [&](Dwarf_Die& unit, Dwarf_Die& functions) {
    dwarf_errno();  // forgets earlier errors
    UnitFiles files(unit, builder);
    if (!rows.read(unit, files)) unit_warnings.add("line information", unit);
    if (lacks_split_unit(unit, functions)) missing.add(unit);
    UnitFiles function_files(functions, builder);
    if (!inlines.read(functions, function_files)) unit_warnings.add("functions", unit);
  };
  if (!for_each_unit(dwarf.get(), read_unit)) {
    warnings.push_back("the debug information of " + debug_file.path() +
                       " is damaged; what follows the damage is ignored: " + dwarf_errmsg(-1));
  }
  missing.warn(warnings);
  result.lacks_files = result.lacks_files || missing.any();
  result.rows = rows.rows_with_lines();
  return result;
}

}  // namespace coz::linetable
