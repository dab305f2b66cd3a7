#include "linetable/dwarf/inlines.h"

#include <dwarf.h>

#include <limits>
#include <optional>
#include <string>

#include "linetable/dwarf/entries.h"
#include "linetable/dwarf/scopes.h"
#include "linetable/symbols/demangle.h"

namespace coz::linetable {

bool InlineReader::read(Dwarf_Die& unit, UnitFiles& files) {
  bool has_all_ranges = true;
  scope_names_ = {};
  const auto add = [&](Dwarf_Die& entry, std::uint32_t outer) -> std::optional<std::uint32_t> {
    const bool is_function = dwarf_tag(&entry) == DW_TAG_subprogram;
    const std::uint32_t function = function_id(entry);
    const std::uint32_t scope =
        is_function ? builder_.add_function_scope(function)
                    : builder_.add_inlined_scope(function, outer, call_line(entry, files));
    if (add_ranges(entry, scope)) return scope;
    has_all_ranges = false;
    return std::nullopt;
  };
  return walk_scopes(unit, kNoScope, add) && has_all_ranges;
}

bool InlineReader::add_ranges(Dwarf_Die& entry, std::uint32_t scope) {
  return for_each_extent(entry, [&](const CodeExtent& extent) {
    if (!code_.is_code(extent.begin) || !code_.fits(extent.end)) return;
    builder_.add_range(code_.relative(extent.begin), code_.relative(extent.end), scope);
  });
}

std::uint32_t InlineReader::call_line(Dwarf_Die& inlined, UnitFiles& files) {
  const std::uint64_t line = number_of(inlined, DW_AT_call_line);
  if (line == 0 || line > std::numeric_limits<std::uint32_t>::max()) return kNoLine;
  const std::uint32_t file = files.id(number_of(inlined, DW_AT_call_file));
  return file == kNoFile ? kNoLine : builder_.add_line(file, static_cast<std::uint32_t>(line));
}

std::uint32_t InlineReader::function_id(Dwarf_Die& entry) {
  Dwarf_Die origin = origin_of(entry);
  const auto [of_origin, is_new_origin] = function_of_origin_.try_emplace(origin.addr, kNoFunction);
  if (!is_new_origin) return of_origin->second;
  const char* symbol = symbol_of(origin);
  if (symbol == nullptr || is_of_unit_only(origin)) {
    const std::string name = whole_name_of(origin, scope_names_);
    if (name.empty()) return kNoFunction;
    const std::string file = is_of_unit_only(origin) ? declaring_file_of(origin) : std::string();
    of_origin->second = builder_.add_function(name, file);
    return of_origin->second;
  }
  const auto [of_symbol, is_new] = function_of_symbol_.try_emplace(symbol, kNoFunction);
  if (is_new) of_symbol->second = builder_.add_function(demangled(symbol));
  of_origin->second = of_symbol->second;
  return of_origin->second;
}

}  // namespace coz::linetable
