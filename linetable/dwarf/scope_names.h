// Names of functions without a mangled symbol, qualified by the scopes around them: g++ writes no
// symbol for what has internal linkage, and the plain names of such functions are often the same.
#ifndef LINETABLE_DWARF_SCOPE_NAMES_H
#define LINETABLE_DWARF_SCOPE_NAMES_H

#include <elfutils/libdw.h>

#include <string>
#include <unordered_map>
#include <unordered_set>

namespace coz::linetable {

// For the units of one file of debug information, each of which is read when it is first asked for.
// Users make a new one for each unit of functions, since the scopes of all would take much memory.
class ScopeNames {
 public:
  // As c++filt has it, but without parameters and anonymous namespaces: "Cache::find", or
  // "work::{lambda#1}::operator()", with lambdas and types without a name numbered in the order in
  // which they stand in what is around them. Of a function of C its plain name. Empty where it has
  // none. `origin` is what origin_of() returns (scopes.h).
  [[nodiscard]] std::string qualified(Dwarf_Die& origin);

 private:
  // Of a function or class: the namespace, class or function that it stands in.
  struct Place {
    Dwarf_Die around;     // its `addr` is null in the unit itself
    unsigned number = 0;  // of a class without a name: which one of its kind there, from 1 on
  };
  struct Numbers {
    unsigned lambdas = 0;
    unsigned others = 0;
  };

  void read(Dwarf_Die& unit);
  void read_children(Dwarf_Die& parent, const Dwarf_Die& around, unsigned depth);
  void add(Dwarf_Die& scope, const Dwarf_Die& around);
  [[nodiscard]] std::string own_name(Dwarf_Die& scope) const;

  // By addresses in the mapped debug information, which are unique.
  std::unordered_map<const void*, Place> places_;
  std::unordered_map<const void*, Numbers> numbers_;  // so far, by the scope or unit around
  std::unordered_set<const void*> units_;
};

}  // namespace coz::linetable

#endif  // LINETABLE_DWARF_SCOPE_NAMES_H
