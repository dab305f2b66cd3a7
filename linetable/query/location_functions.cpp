#include "linetable/query/location_functions.h"

#include <dwarf.h>

#include <algorithm>

#include "common/scope.h"
#include "linetable/dwarf/entries.h"
#include "linetable/dwarf/units.h"
#include "linetable/elf/sections.h"
#include "linetable/query/function_match.h"
#include "linetable/symbols/demangle.h"
#include "linetable/symbols/symbol_ranges.h"

namespace coz::linetable {
namespace {

std::string_view without_arguments(std::string_view plain) {
  return plain.starts_with("operator") ? plain : plain.substr(0, plain.find('<', 1));
}

std::string location_of(const FunctionName& name) {
  return name.file.empty() ? name.whole : name.file + ":" + name.whole;
}

// The colon between a file and a function: one that is not part of "::".
std::size_t file_separator(std::string_view text) {
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] != ':') continue;
    if (text[i + 1] == ':') {
      ++i;
      continue;
    }
    return i;
  }
  return std::string_view::npos;
}

struct Statement {
  int line = 0;
  int column = 0;
  bool operator==(const Statement&) const = default;
};

// Whether the statement that begins at `entry` begins in another of `extents` as well: the loop
// around an inlined call may have been unrolled.
bool has_copies(Dwarf_Die& unit, const std::vector<CodeExtent>& extents, std::uint64_t entry) {
  Dwarf_Lines* lines = nullptr;
  std::size_t count = 0;
  if (extents.size() < 2 || !read_rows(unit, lines, count)) return false;
  std::vector<std::pair<std::uint64_t, Statement>> elsewhere;
  std::vector<Statement> at_entry;
  for (std::size_t i = 0; i < count; ++i) {
    Dwarf_Line* row = dwarf_onesrcline(lines, i);
    Dwarf_Addr address = 0;
    bool begins = false;
    Statement statement;
    if (dwarf_lineaddr(row, &address) != 0) continue;
    if (dwarf_linebeginstatement(row, &begins) != 0 || !begins) continue;
    dwarf_lineno(row, &statement.line);
    dwarf_linecol(row, &statement.column);
    if (address == entry) at_entry.push_back(statement);
    for (const CodeExtent& extent : extents) {
      if (extent.contains(address) && !extent.contains(entry)) {
        elsewhere.emplace_back(address, statement);
      }
    }
  }
  // Several may begin there; the inlined function's is the last.
  return !at_entry.empty() &&
         std::any_of(elsewhere.begin(), elsewhere.end(),
                     [&](const auto& other) { return other.second == at_entry.back(); });
}

}  // namespace

Fit fit_of(std::string_view wanted, const FunctionName& name) {
  if (name.whole.empty()) return Fit::kNone;
  if (wildcard_match(wanted, name.whole)) return Fit::kWhole;
  if (wildcard_match(wanted, bare_function_name(name.whole))) return Fit::kBare;
  if (wildcard_match(wanted, name.plain)) return Fit::kPlain;
  return wildcard_match(wanted, without_arguments(name.plain)) ? Fit::kPlain : Fit::kNone;
}

void FunctionSymbols::read(const ElfFile& file) {
  const auto add = [&](const GElf_Sym& symbol, const char* name) {
    if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC) names_.emplace(symbol.st_value, name);
  };
  for_each_symbol(file.elf(), SHT_SYMTAB, add);
  for_each_symbol(file.elf(), SHT_DYNSYM, add);
}

bool FunctionSymbols::is_part(std::uint64_t address) const {
  const auto [begin, end] = names_.equal_range(address);
  return begin != end && std::all_of(begin, end, [](const auto& symbol) {
           const std::string& name = symbol.second;
           return name.find(".part.") != std::string::npos ||
                  name.find(".cold") != std::string::npos;
         });
}

LocationFunctions::LocationFunctions(std::string_view wanted, const CodeSpace& space,
                                     const CodeBytes& code, const FunctionSymbols& symbols)
    : space_(space), code_(code), symbols_(symbols) {
  const std::size_t colon = file_separator(wanted);
  if (colon != std::string_view::npos) {
    file_ = wanted.substr(0, colon);
    wanted.remove_prefix(colon + 1);
  }
  wanted_ = wanted;
}

LocationFunctions::Function& LocationFunctions::function_of(Dwarf_Die& scope) {
  const auto [known, is_new] = key_of_origin_.try_emplace(origin_of(scope).addr);
  if (!is_new) return functions_[known->second];
  FunctionName name = name_of(scope);
  known->second = location_of(name);
  Function& function = functions_[known->second];
  if (!function.name.whole.empty()) return function;
  const bool is_in_file =
      file_.empty() ||
      SourceScope(std::vector<std::string_view>{file_}).contains(name.file.c_str());
  function.fit = is_in_file ? fit_of(wanted_, name) : Fit::kNone;
  function.name = std::move(name);
  return function;
}

const char* LocationFunctions::problem_with(Dwarf_Die& unit, Dwarf_Die& scope,
                                            std::uint64_t entry) const {
  const std::vector<CodeExtent> extents = extents_of(scope);
  for (const CodeExtent& extent : extents) {
    if (code_.has_jump_to(entry, extent.begin, extent.end)) {
      return "the function's beginning is also the head of a loop, whose iterations would be "
             "counted";
    }
  }
  if (dwarf_tag(&scope) == DW_TAG_inlined_subroutine && has_copies(unit, extents, entry)) {
    return "where it is inlined the compiler has made several copies of it, of which only one is "
           "known";
  }
  return "";
}

void LocationFunctions::read(Dwarf_Die& unit, Dwarf_Die& functions) {
  for_each_scope(functions, std::nullopt, [&](Dwarf_Die& scope, Dwarf_Die&) {
    const auto entry = entry_of(scope);
    if (!entry || !space_.is_code(*entry)) return;
    const bool is_body = dwarf_tag(&scope) == DW_TAG_subprogram;
    if (is_body) known_.insert(*entry);
    Function& function = function_of(scope);
    if (function.fit == Fit::kNone || (is_body && symbols_.is_part(*entry))) return;
    const char* problem = problem_with(unit, scope, *entry);
    if (is_body) {
      function.bodies[*entry] = problem;
    } else {
      function.inlined.emplace_back(*entry, problem);
    }
  });
}

void LocationFunctions::add_symbols() {
  if (!file_.empty()) return;  // which files they are from is not known
  for (const auto& [address, symbol] : symbols_.all()) {
    if (known_.contains(address) || !space_.is_code(address) || symbols_.is_part(address)) continue;
    FunctionName name;
    name.whole = demangled(std::string(without_variant(symbol)).c_str());
    name.plain = name.whole;
    Function& function = functions_[name.whole];
    if (function.name.whole.empty()) {
      function.fit = fit_of(wanted_, name);
      function.name = std::move(name);
    }
    if (function.fit != Fit::kNone) function.bodies[address] = "";
  }
}

void LocationFunctions::take_best(LocationAnswer& answer) const {
  Fit best = Fit::kNone;
  for (const auto& [text, function] : functions_) {
    if (function.is_entered()) best = std::min(best, function.fit);
  }
  if (best == Fit::kNone) return;
  for (const auto& [text, function] : functions_) {
    if (function.fit != best || !function.is_entered()) continue;
    FoundLocation location{text, function.name.whole, {}};
    for (const auto& [address, problem] : function.bodies) {
      location.addresses.push_back({address, {}, {}, problem});
    }
    for (const auto& [address, problem] : function.inlined) {
      location.addresses.push_back({address, {}, {}, problem});
    }
    answer.found.push_back(std::move(location));
  }
}

void LocationFunctions::finish(LocationAnswer& answer) {
  add_symbols();
  take_best(answer);
  if (!answer.found.empty()) return;
  NearestNames nearest(wanted_);
  for (const auto& [location, function] : functions_) nearest.consider(function.name.whole);
  answer.nearest = nearest.best();
}

}  // namespace coz::linetable
