#include "linetable/query/location_query.h"

#include <elfutils/libdw.h>

#include <memory>
#include <optional>
#include <variant>

#include "common/json.h"
#include "linetable/dwarf/units.h"
#include "linetable/query/location_functions.h"
#include "linetable/query/location_lines.h"

namespace coz::linetable {
namespace {

// One name, and what is found for it.
using Search = std::variant<LocationLines, LocationFunctions>;

void read_units(Dwarf* dwarf, std::vector<Search>& searches) {
  const auto read_unit = [&](Dwarf_Die& unit, Dwarf_Die& functions) {
    for (Search& search : searches) {
      std::visit([&](auto& each) { each.read(unit, functions); }, search);
    }
  };
  static_cast<void>(for_each_unit(dwarf, read_unit));
}

void plan_patches(LocationAnswer& answer, const CodeBytes& code) {
  for (FoundLocation& location : answer.found) {
    for (LocationAddress& address : location.addresses) {
      const PlannedPatch patch = code.patch_at(address.address);
      if (patch.plan) address.patch = encode(*patch.plan);
      address.no_instruction = patch.refusal;
    }
  }
}

}  // namespace

bool find_locations(const LocationQuery& query, std::vector<LocationAnswer>& answers,
                    std::string& error) {
  ElfFile binary;
  if (const char* problem = binary.open(query.binary)) {
    error = query.binary + " " + problem;
    return false;
  }
  std::optional<ElfFile> separate;
  std::vector<std::string> warnings;
  if (!binary.has_debug_info()) {
    separate = find_separate_debug_file(binary, query.search, warnings);
  }
  const ElfFile& debug_file = separate ? *separate : binary;
  const DwarfHandle dwarf = open_dwarf(debug_file.elf());

  const CodeSpace space(binary);
  const CodeBytes code(binary);
  FunctionSymbols symbols;
  symbols.read(binary);
  if (separate) symbols.read(debug_file);
  std::vector<Search> searches;
  searches.reserve(query.names.size());
  for (const std::string& name : query.names) {
    if (const auto line = parse_location(name)) {
      searches.emplace_back(std::in_place_type<LocationLines>, *line, space, code);
    } else {
      searches.emplace_back(std::in_place_type<LocationFunctions>, name, space, code, symbols);
    }
  }
  if (dwarf != nullptr) read_units(dwarf.get(), searches);
  for (std::size_t i = 0; i < searches.size(); ++i) {
    LocationAnswer answer;
    answer.name = query.names[i];
    answer.is_line = std::holds_alternative<LocationLines>(searches[i]);
    std::visit([&](auto& search) { search.finish(answer); }, searches[i]);
    plan_patches(answer, code);
    answers.push_back(std::move(answer));
  }
  return true;
}

std::string to_json(const std::vector<LocationAnswer>& answers) {
  JsonWriter json;
  json.begin_object().key("names").begin_array();
  for (const LocationAnswer& answer : answers) {
    json.begin_object().field("name", answer.name).field("is_line", answer.is_line);
    json.key("places").begin_array();
    for (const FoundLocation& location : answer.found) {
      json.begin_object().field("location", location.location).field("function", location.function);
      json.key("addresses").begin_array();
      for (const LocationAddress& address : location.addresses) {
        json.begin_object().field("address", address.address);
        json.field("patch", address.patch);
        json.field("no_instruction", address.no_instruction);
        json.field("no_breakpoint", address.no_breakpoint).end_object();
      }
      json.end_array().end_object();
    }
    json.end_array().key("nearest").begin_array();
    for (const std::string& name : answer.nearest) json.value(name);
    json.end_array().end_object();
  }
  json.end_array().end_object();
  return json.text();
}

}  // namespace coz::linetable
