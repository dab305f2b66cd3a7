// Where lines begin (places.h): the rows of all units in, the addresses out.
#ifndef LINETABLE_PLACE_LINES_H
#define LINETABLE_PLACE_LINES_H

#include <elfutils/libdw.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "code_bytes.h"
#include "code_space.h"
#include "places.h"
#include "queries.h"

#include "common/scope.h"

namespace coz::linetable {

// A row that the line begins or goes on with.
struct LineRow {
  std::uint64_t address = 0;
  std::uint64_t scope = 0;    // which copy of which function it is in
  bool is_aside = false;      // in a part of the function that the compiler has set apart as cold
  bool follows = false;       // directly on a row of the same line and scope
  bool is_statement = false;  // a statement begins
  int column = 0;
};

// Of the rows of one line, those to count. By address.
[[nodiscard]] std::vector<std::uint64_t> choose_rows(std::vector<LineRow> rows,
                                                     const CodeBytes& code);

class PlaceLines {
 public:
  PlaceLines(const Location& wanted, const CodeSpace& space, const CodeBytes& code);

  // `functions` has the unit's functions: the unit itself, or its part in a split file.
  void read(Dwarf_Die& unit, Dwarf_Die& functions);

  void finish(PlaceAnswer& answer);

 private:
  struct File {
    std::vector<LineRow> rows;
    std::vector<LineRow> calls;  // inlined ones that the line makes
    std::string function;
    std::uint32_t above = 0;  // the nearest lines with code; 0: none
    std::uint32_t below = 0;
  };
  struct Raw;

  std::string path_of(Dwarf_Die& unit, Dwarf_Files* files, std::size_t number) const;
  void add_calls(const std::vector<const std::string*>& path_of_number, Dwarf_Die& functions);
  void add_rows(const std::string& path, const std::vector<Raw>& raw, Dwarf_Die& functions);

  Location wanted_;
  SourceScope pattern_;
  const CodeSpace& space_;
  const CodeBytes& code_;
  std::map<std::string, File> files_;
};

}  // namespace coz::linetable

#endif  // LINETABLE_PLACE_LINES_H
