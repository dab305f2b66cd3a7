// Where functions are entered (location_query.h): the functions of all units in, then the symbols
// of code without debug information; the addresses out.
#ifndef LINETABLE_QUERY_LOCATION_FUNCTIONS_H
#define LINETABLE_QUERY_LOCATION_FUNCTIONS_H

#include <elfutils/libdw.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "linetable/dwarf/scopes.h"
#include "linetable/elf/code_space.h"
#include "linetable/plan/code_bytes.h"
#include "linetable/query/location_query.h"

namespace coz::linetable {

// How well a name fits a function; the less, the better.
enum class Fit { kWhole, kBare, kPlain, kNone };

// `wanted` may hold % for any text. Whole is the demangled name, bare the same without parameters
// and template arguments, plain what it is called within its class or namespace.
[[nodiscard]] Fit fit_of(std::string_view wanted, const FunctionName& name);

// The symbols of functions by address: what the linker knows of them.
class FunctionSymbols {
 public:
  void read(const ElfFile& file);

  // Of a part that the compiler has split off: entered from within its function.
  [[nodiscard]] bool is_part(std::uint64_t address) const;

  // Name and address of each; clones without what makes them different.
  [[nodiscard]] const std::multimap<std::uint64_t, std::string>& all() const { return names_; }

 private:
  std::multimap<std::uint64_t, std::string> names_;
};

// "name.constprop.0" → "name"; others as they are.
[[nodiscard]] std::string_view without_clone_suffix(std::string_view symbol);

class LocationFunctions {
 public:
  // `wanted`: FUNCTION, or FILE:FUNCTION.
  LocationFunctions(std::string_view wanted, const CodeSpace& space, const CodeBytes& code,
                    const FunctionSymbols& symbols);

  // `functions` has the unit's functions: the unit itself, or its part in a split file.
  void read(Dwarf_Die& unit, Dwarf_Die& functions);
  void finish(LocationAnswer& answer);

 private:
  struct Function {
    Fit fit = Fit::kNone;
    FunctionName name;
    // Of bodies, by address, and of inlined calls: two of these may begin at one address, which is
    // two entries, then. With why one would be counted wrongly, or an empty text.
    std::map<std::uint64_t, const char*> bodies;
    std::vector<std::pair<std::uint64_t, const char*>> inlined;
    [[nodiscard]] bool is_entered() const { return !bodies.empty() || !inlined.empty(); }
  };

  const char* problem_with(Dwarf_Die& unit, Dwarf_Die& scope, std::uint64_t entry) const;
  Function& function_of(Dwarf_Die& scope);
  void add_symbols();
  void take_best(LocationAnswer& answer) const;

  std::string file_;  // a pattern, may be empty
  std::string wanted_;
  const CodeSpace& space_;
  const CodeBytes& code_;
  const FunctionSymbols& symbols_;
  std::unordered_map<const void*, std::string> key_of_origin_;
  std::map<std::string, Function> functions_;  // by location
  std::set<std::uint64_t> known_;              // entries of functions that units describe
};

}  // namespace coz::linetable

#endif  // LINETABLE_QUERY_LOCATION_FUNCTIONS_H
