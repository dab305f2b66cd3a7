#include "linetable/query/location_lines.h"

#include <dwarf.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "linetable/dwarf/entries.h"
#include "linetable/dwarf/scopes.h"
#include "linetable/dwarf/unit_files.h"
#include "linetable/dwarf/units.h"
#include "linetable/query/bypassing_loops.h"
#include "linetable/query/inlined_entry.h"

namespace coz::linetable {
namespace {

constexpr std::size_t kMaxNearest = 6;

// The first statement of each run of rows.
std::vector<LineRow> statements_of(const std::vector<LineRow>& rows) {
  std::vector<LineRow> found;
  bool has_one = false;
  for (const LineRow& row : rows) {
    if (!row.follows) has_one = false;
    if (!has_one && row.is_statement) {
      found.push_back(row);
      has_one = true;
    }
  }
  return found;
}

// Where a pass begins: at the first statement, and in the cold part only if there is no other. An
// optimised line may have no statement of its own left; then at its first row.
const LineRow& anchor_of(const std::vector<LineRow>& rows, const std::vector<LineRow>& statements) {
  const auto is_before = [](const LineRow& a, const LineRow& b) {
    return std::tuple(a.is_aside, a.address) < std::tuple(b.is_aside, b.address);
  };
  const auto row = std::min_element(rows.begin(), rows.end(), is_before);
  const auto statement = std::min_element(statements.begin(), statements.end(), is_before);
  const bool has_statement =
      statement != statements.end() && (!statement->is_aside || row->is_aside);
  return has_statement ? *statement : *row;
}

std::vector<std::uint64_t> choose_in_scope(const std::vector<LineRow>& rows,
                                           const CodeBytes& code) {
  std::vector<LineRow> found = statements_of(rows);
  const LineRow anchor = anchor_of(rows, found);
  if (!anchor.is_statement) return {anchor.address};
  // Keep the copies of the same statement. Without columns they look like its other parts.
  std::erase_if(found, [&](const LineRow& row) {
    return row.address != anchor.address && (row.column == 0 || row.column != anchor.column);
  });
  // A jump into a loop's bottom test is not a pass; its target is.
  std::set<std::uint64_t> chosen;
  for (const LineRow& row : found) chosen.insert(row.address);
  for (const LineRow& row : found) {
    const auto target = code.jump_target(row.address);
    if (target && *target != row.address && chosen.contains(*target)) chosen.erase(row.address);
  }
  return {chosen.begin(), chosen.end()};
}

}  // namespace

std::vector<std::uint64_t> choose_rows(std::vector<LineRow> rows, const CodeBytes& code) {
  std::stable_sort(rows.begin(), rows.end(), [](const LineRow& a, const LineRow& b) {
    return std::pair(a.scope, a.address) < std::pair(b.scope, b.address);
  });
  std::vector<std::uint64_t> chosen;
  for (auto begin = rows.begin(); begin != rows.end();) {
    const auto end = std::find_if(begin, rows.end(),
                                  [&](const LineRow& row) { return row.scope != begin->scope; });
    const std::vector<std::uint64_t> some = choose_in_scope({begin, end}, code);
    chosen.insert(chosen.end(), some.begin(), some.end());
    begin = end;
  }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

// What the rows at one address say about the wanted line. A statement of it that is followed by
// other rows there has an entry of its own, without code.
struct LocationLines::Raw {
  std::uint64_t address = 0;
  std::uint64_t end = 0;
  const std::string* path = nullptr;  // of the file, if that may be meant
  std::uint32_t line = 0;             // of the last row, which counts
  bool is_statement = false;          // a statement of the wanted line begins
  int column = 0;
  bool is_empty = false;
  bool is_end = false;
};

LocationLines::LocationLines(const Location& wanted, const CodeSpace& space, const CodeBytes& code)
    : wanted_(wanted),
      pattern_(std::vector<std::string_view>{wanted_.path}),
      space_(space),
      code_(code) {}

void LocationLines::read(Dwarf_Die& unit, Dwarf_Die& functions) {
  scope_names_ = {};
  scopes_.reset();
  Dwarf_Lines* lines = nullptr;
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  std::size_t file_count = 0;
  if (!read_rows(unit, lines, count)) return;
  if (!read_files(unit, files, file_count)) return;
  // A file may have several numbers.
  std::set<std::string> paths;
  const std::string_view compilation_dir = compilation_dir_of(unit);
  std::vector<const std::string*> path_of_number(file_count, nullptr);
  for (std::size_t i = 0; i < file_count; ++i) {
    std::string path = path_of_file(files, i, compilation_dir);
    if (!path.empty() && pattern_.contains(path.c_str()))
      path_of_number[i] = &*paths.insert(std::move(path)).first;
  }
  if (paths.empty()) return;

  unit_code_ = extents_of(unit);
  has_removed_code_ = std::erase_if(unit_code_, [this](const CodeExtent& extent) {
                        return !space_.is_code(extent.begin);
                      }) > 0;
  const std::vector<Raw> raw = read_raw(lines, count, path_of_number);
  for (const std::string& path : paths) add_rows(path, raw, functions);
  add_calls(path_of_number, unit, functions);
}

std::vector<LocationLines::Raw> LocationLines::read_raw(
    Dwarf_Lines* lines, std::size_t count,
    const std::vector<const std::string*>& path_of_number) const {
  std::vector<Raw> raw;
  for (std::size_t i = 0; i < count; ++i) {
    Dwarf_Line* row = dwarf_onesrcline(lines, i);
    Raw next;
    bool is_statement = false;
    int line = 0;
    std::size_t number = 0;
    Dwarf_Files* table = nullptr;
    if (dwarf_lineaddr(row, &next.address) != 0) continue;
    dwarf_lineendsequence(row, &next.is_end);
    dwarf_linebeginstatement(row, &is_statement);
    if (!next.is_end && dwarf_lineno(row, &line) == 0 && line > 0 &&
        dwarf_line_file(row, &table, &number) == 0 && number < path_of_number.size()) {
      next.path = path_of_number[number];
      next.line = static_cast<std::uint32_t>(line);
    }
    const bool is_same_address =
        !raw.empty() && raw.back().address == next.address && !raw.back().is_end && !next.is_end;
    if (next.path != nullptr && next.line == wanted_.line && is_statement) {
      next.is_statement = true;
      dwarf_linecol(row, &next.column);
    } else if (is_same_address && next.path == raw.back().path && next.line == raw.back().line) {
      next.is_statement = raw.back().is_statement;
      next.column = raw.back().column;
    }
    if (is_same_address) {
      Raw& before = raw.back();
      const bool is_same_line = before.path == next.path && before.line == next.line;
      before.is_empty = before.is_statement && !is_same_line;
      if (!before.is_empty) raw.pop_back();
    } else if (!raw.empty()) {
      raw.back().end = next.address;
    }
    raw.push_back(next);
  }
  return raw;
}

// A line whose code was all inlined from elsewhere has no row. It still has samples (inlines.h),
// and its passes begin where the inlined function is entered.
void LocationLines::add_calls(const std::vector<const std::string*>& path_of_number,
                              Dwarf_Die& unit, Dwarf_Die& functions) {
  for_each_scope(functions, [&](Dwarf_Die& call, Dwarf_Die& function) {
    if (dwarf_tag(&call) != DW_TAG_inlined_subroutine) return;
    if (number_of(call, DW_AT_call_line) != wanted_.line) return;
    const std::uint64_t number = number_of(call, DW_AT_call_file);
    if (number >= path_of_number.size() || path_of_number[number] == nullptr) return;
    const auto body = entry_of(function);
    const auto entry = inlined_entry(unit, call, function, code_);
    if (!body || !space_.is_code(*body) || !entry || !space_.is_code(entry->address)) return;
    File& file = files_[*path_of_number[number]];
    if (!file.units.is_first(*body, functions)) return;
    LineRow found;
    found.address = entry->address;
    found.scope = dwarf_dieoffset(&function) + 1;
    found.is_statement = true;
    found.column = static_cast<int>(number_of(call, DW_AT_call_column));
    if (file.function.empty()) file.function = name_of(function, scope_names_).whole;
    Part& part = file.parts[*body];
    part.function = extents_of(function);
    part.calls.push_back(found);
    for_each_extent(call, [&](const CodeExtent& extent) { part.own.push_back(extent); });
    if (*entry->problem != '\0') part.problems[entry->address] = entry->problem;
  });
}

void LocationLines::add_rows(const std::string& path, const std::vector<Raw>& raw,
                             Dwarf_Die& functions) {
  File& file = files_[path];
  bool follows = false;
  for (const Raw& row : raw) {
    const bool is_here = row.path == &path && !row.is_end && space_.is_code(row.address);
    if (is_here && row.line == wanted_.line) {
      add_row(file, row, follows, functions);
      follows = follows || !row.is_empty;
      continue;
    }
    follows = false;
    if (!is_here) continue;
    if (row.line < wanted_.line) file.above = std::max(file.above, row.line);
    if (row.line > wanted_.line && (file.below == 0 || row.line < file.below)) {
      file.below = row.line;
    }
  }
}

// A row of code that the linker removed, which is not there, as far as that can be told.
bool LocationLines::is_stray(std::uint64_t address, const std::vector<CodeExtent>& function) const {
  if (!unit_code_.empty() && !any_contains(unit_code_, address)) return true;
  if (!has_removed_code_) return false;
  return std::any_of(function.begin(), function.end(), [&](const CodeExtent& extent) {
    return extent.contains(address) && !code_.begins_instruction(extent.begin, address);
  });
}

void LocationLines::add_row(File& file, const Raw& row, bool follows, Dwarf_Die& functions) {
  LineRow found;
  found.address = row.address;
  found.is_statement = row.is_statement;
  found.column = row.column;
  std::string name;
  std::uint64_t body = kNoEntry;
  std::vector<CodeExtent> around;
  if (!scopes_) scopes_.emplace(functions, space_);
  if (auto innermost = scopes_->innermost(row.address)) {
    found.scope = dwarf_dieoffset(&innermost->scope) + 1;
    name = name_of(innermost->scope, scope_names_).whole;
    around = extents_of(innermost->function);
    const auto entry = entry_of(innermost->function);
    body = entry.value_or(kNoEntry);
    for (const CodeExtent& extent : around) {
      if (extent.contains(row.address)) found.is_aside = entry && !extent.contains(*entry);
    }
  }
  if (body != kNoEntry && !file.units.is_first(body, functions)) return;
  if (is_stray(row.address, around)) return;
  Part& part = file.parts[body];
  part.function = std::move(around);
  if (row.is_empty) {
    part.empty.push_back(found);
    return;
  }
  found.follows = follows && !part.rows.empty() && found.scope == part.rows.back().scope;
  if (file.function.empty()) file.function = name;
  part.rows.push_back(found);
  part.own.push_back({row.address, row.end});
}

// Best are statements with code. Where there is none, one without is as good, unless the compiler
// moved it; then the calls that the line makes; then whatever code it has.
std::vector<LocationAddress> LocationLines::addresses_of(const Part& part) const {
  const bool has_statement = std::any_of(part.rows.begin(), part.rows.end(),
                                         [](const LineRow& row) { return row.is_statement; });
  const std::vector<LineRow>* best = &part.rows;
  if (!has_statement && !part.calls.empty()) best = &part.calls;
  if (!has_statement && !part.empty.empty()) best = &part.empty;
  const std::vector<std::uint64_t> chosen = choose_rows(*best, code_);
  // Statements with code are taken as they are; of calls it is known already.
  const bool is_bypassed = !has_statement && best != &part.calls &&
                           has_bypassing_loop(chosen, part.own, part.function, code_);
  std::vector<LocationAddress> addresses;
  for (const std::uint64_t address : chosen) {
    LocationAddress found{address, {}, {}, is_bypassed ? kBypassed : ""};
    const auto problem = part.problems.find(address);
    if (best == &part.calls && problem != part.problems.end())
      found.no_breakpoint = problem->second;
    addresses.push_back(std::move(found));
  }
  return addresses;
}

void LocationLines::finish(LocationAnswer& answer) {
  const auto exact = files_.find(wanted_.path);
  const bool only_exact = exact != files_.end() && !exact->second.parts.empty();
  for (auto& [path, file] : files_) {
    if (only_exact && path != wanted_.path) continue;
    if (file.parts.empty()) {
      for (const std::uint32_t line : {file.above, file.below}) {
        if (line != 0) answer.nearest.push_back(path + ":" + std::to_string(line));
      }
      continue;
    }
    FoundLocation location{path + ":" + std::to_string(wanted_.line), file.function, {}};
    for (const auto& [function, part] : file.parts) {
      for (LocationAddress& address : addresses_of(part)) {
        location.addresses.push_back(std::move(address));
      }
    }
    std::sort(location.addresses.begin(), location.addresses.end(),
              [](const auto& a, const auto& b) { return a.address < b.address; });
    answer.found.push_back(std::move(location));
  }
  if (!answer.found.empty()) answer.nearest.clear();
  answer.nearest.resize(std::min(answer.nearest.size(), kMaxNearest));
}

}  // namespace coz::linetable
