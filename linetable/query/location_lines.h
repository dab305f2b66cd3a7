// Where the passes through a line begin (location_query.h): takes the rows of all units, and
// returns addresses.
#ifndef LINETABLE_QUERY_LOCATION_LINES_H
#define LINETABLE_QUERY_LOCATION_LINES_H

#include <elfutils/libdw.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "linetable/dwarf/scope_names.h"
#include "linetable/dwarf/scopes.h"
#include "linetable/dwarf/units.h"
#include "linetable/elf/code_space.h"
#include "linetable/plan/code_bytes.h"
#include "linetable/query/location_query.h"
#include "linetable/query/table_queries.h"

#include "common/scope.h"

namespace coz::linetable {

// A row of the wanted line: one that has code, unless said otherwise.
struct LineRow {
  std::uint64_t address = 0;
  std::uint64_t scope = 0;    // which copy of which function it is in
  bool is_aside = false;      // in the cold part of the function
  bool follows = false;       // directly on a row of the same line and scope
  bool is_statement = false;  // a statement begins
  int column = 0;
};

// The addresses at which passes are counted, of the rows of one line.
[[nodiscard]] std::vector<std::uint64_t> choose_rows(std::vector<LineRow> rows,
                                                     const CodeBytes& code);

class LocationLines {
 public:
  LocationLines(const Location& wanted, const CodeSpace& space, const CodeBytes& code);

  // `functions` is the entry that the unit's functions are below (units.h).
  void read(Dwarf_Die& unit, Dwarf_Die& functions);

  void finish(LocationAnswer& answer);

 private:
  // What a function of the binary, with all that was inlined into it, has of the line.
  struct Part {
    std::vector<LineRow> rows;
    // Statements without code of their own, as where the line calls what is inlined; and such
    // calls.
    std::vector<LineRow> empty;
    std::vector<LineRow> calls;
    std::vector<CodeExtent> own;  // the code of the rows and calls
    std::vector<CodeExtent> function;
    std::map<std::uint64_t, const char*> problems;  // with counting at a call's entry
  };
  struct File {
    std::map<std::uint64_t, Part> parts;  // by the function's entry, or kNoEntry
    BodyUnits units;
    std::string function;
    std::uint32_t above = 0;  // the nearest lines with code; 0: none
    std::uint32_t below = 0;
  };
  struct Raw;
  static constexpr std::uint64_t kNoEntry = 0;  // of rows that no function has

  std::vector<Raw> read_raw(Dwarf_Lines* lines, std::size_t count,
                            const std::vector<const std::string*>& path_of_number) const;
  void add_calls(const std::vector<const std::string*>& path_of_number, Dwarf_Die& unit,
                 Dwarf_Die& functions);
  void add_rows(const std::string& path, const std::vector<Raw>& raw, Dwarf_Die& functions);
  void add_row(File& file, const Raw& row, bool follows, Dwarf_Die& functions);
  [[nodiscard]] bool is_stray(std::uint64_t address, const std::vector<CodeExtent>& function) const;
  [[nodiscard]] std::vector<LocationAddress> addresses_of(const Part& part) const;

  Location wanted_;
  SourceScope pattern_;
  const CodeSpace& space_;
  const CodeBytes& code_;
  // Of the unit that is being read. It may not say what code it has.
  ScopeNames scope_names_;
  std::optional<ScopeIndex> scopes_;  // read when needed
  std::vector<CodeExtent> unit_code_;
  bool has_removed_code_ = false;
  std::map<std::string, File> files_;
};

}  // namespace coz::linetable

#endif  // LINETABLE_QUERY_LOCATION_LINES_H
