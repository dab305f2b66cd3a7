// Finds where the functions with a given name are entered (location_query.h). Call read() for each
// unit, then finish(): it looks at the symbols of code without debug information, too, and writes
// the addresses into the answer.
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
#include "linetable/dwarf/units.h"
#include "linetable/elf/code_space.h"
#include "linetable/plan/code_bytes.h"
#include "linetable/query/inlined_entry.h"
#include "linetable/query/location_query.h"

namespace coz::linetable {

// How well a name fits a function, best first.
enum class Fit { kWhole, kBare, kPlain, kNone };

// `wanted` may hold % for any text. The whole name is the demangled one; the bare name lacks its
// parameters and template arguments; the plain name lacks its class and namespace, too.
[[nodiscard]] Fit fit_of(std::string_view wanted, const FunctionName& name);

// The symbols of functions, by address.
class FunctionSymbols {
 public:
  void read(const ElfFile& file);

  // Whether a part that the compiler split off begins there: it is entered from within its
  // function.
  [[nodiscard]] bool is_part(std::uint64_t address) const;

  struct Symbol {
    std::string name;
    std::uint64_t size = 0;  // 0: unknown
  };
  // By address.
  [[nodiscard]] const std::multimap<std::uint64_t, Symbol>& all() const { return symbols_; }

 private:
  std::multimap<std::uint64_t, Symbol> symbols_;
};

class LocationFunctions {
 public:
  // `wanted`: FUNCTION, or FILE:FUNCTION.
  LocationFunctions(std::string_view wanted, const CodeSpace& space, const CodeBytes& code,
                    const FunctionSymbols& symbols);

  // `functions` is the entry that the unit's functions are below (units.h).
  void read(Dwarf_Die& unit, Dwarf_Die& functions);
  void finish(LocationAnswer& answer);

 private:
  struct Function {
    Fit fit = Fit::kNone;
    FunctionName name;
    // Each entry, with the reason not to count there (empty: none).
    std::map<std::uint64_t, const char*> bodies;
    // Two calls may begin at one address, which then counts as two entries.
    std::vector<InlinedEntry> inlined;
    // Of what units the calls are, by the entry of the function around them (units.h).
    BodyUnits units;
    [[nodiscard]] bool is_entered() const { return !bodies.empty() || !inlined.empty(); }
  };

  Function& function_of(Dwarf_Die& scope);
  void add_symbols();
  void take_best(LocationAnswer& answer) const;

  std::string file_;  // a pattern, may be empty
  std::string wanted_;
  const CodeSpace& space_;
  const CodeBytes& code_;
  const FunctionSymbols& symbols_;
  ScopeNames scope_names_;  // of the unit that is being read
  std::unordered_map<const void*, std::string> key_of_origin_;
  std::map<std::string, Function> functions_;  // by location
  std::set<std::uint64_t> known_;              // entries of functions that units describe
};

}  // namespace coz::linetable

#endif  // LINETABLE_QUERY_LOCATION_FUNCTIONS_H
