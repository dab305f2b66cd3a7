#include "linetable/query/location_functions.h"

#include <dwarf.h>

#include <algorithm>

#include "common/scope.h"
#include "linetable/dwarf/entries.h"
#include "linetable/dwarf/units.h"
#include "linetable/elf/sections.h"
#include "linetable/query/function_match.h"
#include "linetable/query/inlined_entry.h"
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

}  // namespace

Fit fit_of(std::string_view wanted, const FunctionName& name) {
  if (name.whole.empty()) return Fit::kNone;
  if (wildcard_match(wanted, name.whole)) return Fit::kWhole;
  const std::string_view bare = bare_function_name(name.whole);
  if (wildcard_match(wanted, bare)) return Fit::kBare;
  const bool has_scope = wanted.find("::") != std::string_view::npos;
  if (has_scope && wildcard_match("%::" + std::string(wanted), bare)) return Fit::kPlain;
  if (wildcard_match(wanted, name.plain)) return Fit::kPlain;
  const std::string shorter = without_anonymous(wanted);
  if (shorter.size() < wanted.size()) {
    const FunctionName other{without_anonymous(name.whole), name.plain, name.file};
    return fit_of(shorter, other) == Fit::kNone ? Fit::kNone : Fit::kPlain;
  }
  return wildcard_match(wanted, without_arguments(name.plain)) ? Fit::kPlain : Fit::kNone;
}

void FunctionSymbols::read(const ElfFile& file) {
  const auto add = [&](const GElf_Sym& symbol, const char* name) {
    if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC) return;
    symbols_.emplace(symbol.st_value, Symbol{name, symbol.st_size});
  };
  for_each_symbol(file.elf(), SHT_SYMTAB, add);
  for_each_symbol(file.elf(), SHT_DYNSYM, add);
}

bool FunctionSymbols::is_part(std::uint64_t address) const {
  const auto [begin, end] = symbols_.equal_range(address);
  return begin != end && std::all_of(begin, end, [](const auto& symbol) {
           const std::string& name = symbol.second.name;
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
  FunctionName name = name_of(scope, scope_names_);
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

void LocationFunctions::read(Dwarf_Die& unit, Dwarf_Die& functions) {
  scope_names_ = {};
  for_each_scope(functions, [&](Dwarf_Die& scope, Dwarf_Die& outer) {
    if (dwarf_tag(&scope) == DW_TAG_inlined_subroutine) {
      Function& function = function_of(scope);
      if (function.fit == Fit::kNone) return;
      const auto body = entry_of(outer);
      if (!body || !space_.is_code(*body) || !function.units.is_first(*body, functions)) return;
      const auto entry = inlined_entry(unit, scope, outer, code_);
      if (entry && space_.is_code(entry->address)) function.inlined.push_back(*entry);
      return;
    }
    const auto entry = entry_of(scope);
    if (!entry || !space_.is_code(*entry)) return;
    known_.insert(*entry);
    Function& function = function_of(scope);
    if (function.fit == Fit::kNone || symbols_.is_part(*entry)) return;
    function.bodies[*entry] = loop_problem(*entry, extents_of(scope), code_);
  });
}

void LocationFunctions::add_symbols() {
  if (!file_.empty()) return;  // which files they are from is not known
  for (const auto& [address, symbol] : symbols_.all()) {
    if (known_.contains(address) || !space_.is_code(address) || symbols_.is_part(address)) continue;
    FunctionName name;
    name.whole = demangled(std::string(without_variant(symbol.name)).c_str());
    name.plain = name.whole;
    Function& function = functions_[name.whole];
    if (function.name.whole.empty()) {
      function.fit = fit_of(wanted_, name);
      function.name = std::move(name);
    }
    if (function.fit == Fit::kNone) continue;
    function.bodies[address] = loop_problem(address, {{address, address + symbol.size}}, code_);
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
