// From rows and inlined scopes, in any order, to the bytes of a line table (line_table_format.h).
//
// It knows neither ELF nor DWARF. Addresses are relative to the table's base address.
#ifndef LINETABLE_TABLE_TABLE_BUILDER_H
#define LINETABLE_TABLE_TABLE_BUILDER_H

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/line_table_format.h"
#include "linetable/table/hash_index.h"
#include "linetable/table/table_file.h"

namespace coz::linetable {

inline constexpr std::uint32_t kNoLine = 0xffffffffU;
inline constexpr std::uint32_t kNoScope = 0xffffffffU;

class TableBuilder {
 public:
  // Each returns the id of its argument, the same for the same argument. The ids are the builder's
  // own: finish() renumbers files and lines in order of path and line.
  std::uint32_t add_file(std::string_view path);
  // `file`: of a function that only its unit knows by that name; others may have the same name.
  std::uint32_t add_function(std::string_view name, std::string_view file = {});
  std::uint32_t add_line(std::uint32_t file, std::uint32_t line);

  // From `address` to the next row the code belongs to `line`; kNoLine begins a gap, or code that
  // the compiler gives no line (line 0). In a scope this has the line that the scope had last
  // before, or the line of the call. Of several rows at an address the last one added counts, but a
  // gap yields to any line: where one sequence ends, another may begin.
  void add_row(std::uint32_t address, std::uint32_t line);

  // A function, or with a parent, a call that was inlined into it: `call_line` is the line of the
  // call, in the parent (kNoLine if not known; the chain then goes without that frame).
  std::uint32_t add_function_scope(std::uint32_t function);
  std::uint32_t add_inlined_scope(std::uint32_t function, std::uint32_t parent,
                                  std::uint32_t call_line);

  // Code of the scope. Parents' ranges have to be added before their children's.
  void add_range(std::uint32_t begin, std::uint32_t end, std::uint32_t scope);

  // Code that a symbol says belongs to `function`; `line` is the line 0 of the binary. It counts
  // where there is neither a row with a line nor a scope; and gives the function's name to lines in
  // no scope. Such code must not overlap.
  void add_symbol(std::uint32_t begin, std::uint32_t end, std::uint32_t function,
                  std::uint32_t line);

  // A static variable. Of several at an address the first one added counts.
  void add_object(std::uint32_t begin, std::uint32_t size, std::string_view name);

  // The finished table. The builder is used up. Empty when the table would outgrow its 32-bit
  // indices.
  [[nodiscard]] std::string finish(std::uint64_t base_address,
                                   std::span<const std::uint8_t> build_id);

 private:
  struct Row {
    std::uint32_t address;
    std::uint32_t line;
  };
  struct Range {
    std::uint32_t begin;
    std::uint32_t end;
    std::uint32_t scope;
  };
  struct SymbolRange {
    std::uint32_t begin;
    std::uint32_t end;
    LineTableFrame frame;
  };
  struct Object {
    std::uint32_t begin;
    std::uint32_t size;
    std::string name;
  };
  struct Scope {
    std::uint32_t function;
    std::uint32_t outer;           // the nodes of the frames around it, kNoNode for a function
    std::uint32_t line = kNoLine;  // that its code had last, in the order of addresses
  };
  // Chains share their tails: a node is a frame and the node of the frame around it.
  struct Node {
    LineTableFrame frame;
    std::uint32_t outer;
    bool operator==(const Node& other) const {
      return frame.line == other.frame.line && frame.function == other.frame.function &&
             outer == other.outer;
    }
    [[nodiscard]] std::uint64_t hash() const {
      return ((std::uint64_t{frame.line} << 32) | frame.function) ^
             (std::uint64_t{outer} * 0xc2b2ae3d27d4eb4fULL);
    }
  };
  struct Line {
    std::uint32_t file;
    std::uint32_t line;
    bool operator==(const Line&) const = default;
    [[nodiscard]] std::uint64_t hash() const { return (std::uint64_t{file} << 32) | line; }
  };
  struct OutputRow {
    std::uint32_t start;
    std::uint32_t node;
  };
  struct StringPool {
    std::unordered_map<std::string_view, std::uint32_t> ids;
    std::deque<std::string> strings;  // a deque never moves what the map's keys point to
    std::uint32_t add(std::string_view text);
  };
  [[nodiscard]] std::string_view function_name(std::uint32_t id) const;

  class Cursor;  // over the scopes and symbols, by address

  std::uint32_t add_node(std::uint32_t line, std::uint32_t function, std::uint32_t outer);
  std::uint32_t node_at(const Cursor& cursor, std::uint32_t line);
  std::uint32_t node_in(Scope& scope, std::uint32_t line);
  void sort_input();
  std::vector<OutputRow> sweep();
  void write_rows(const std::vector<OutputRow>& rows, TableContent& content) const;
  void write_names(TableContent& content) const;
  void write_objects(TableContent& content);

  StringPool files_;
  StringPool functions_;  // names; behind a NUL the file
  std::vector<Line> lines_;
  HashIndex line_ids_;
  std::vector<Row> rows_;
  std::vector<Scope> scopes_;
  std::vector<Range> ranges_;
  std::vector<SymbolRange> symbols_;
  std::vector<Object> objects_;
  std::vector<Node> nodes_;
  HashIndex node_ids_;
};

}  // namespace coz::linetable

#endif  // LINETABLE_TABLE_TABLE_BUILDER_H
