#include "linetable/query/inlined_entry.h"

#include <dwarf.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "linetable/dwarf/entries.h"
#include "linetable/dwarf/units.h"
#include "linetable/query/bypassing_loops.h"

namespace coz::linetable {
namespace {

constexpr const char* kLoopHead =
    "the function's beginning is also the head of a loop, whose iterations would be counted";
constexpr const char* kCopies =
    "where it is inlined the compiler has made several copies of it, of which only one is known";
constexpr const char* kUnknown =
    "where it is inlined the debug information does not say where its code is entered";

constexpr std::uint64_t kMaxUnknown = 64;  // bytes

struct Statement {
  std::uint64_t address = 0;
  int line = 0;
  int column = 0;
  [[nodiscard]] bool is_same(const Statement& other) const {
    return line == other.line && column == other.column;
  }
};

using Extents = std::vector<CodeExtent>;

// The statements that begin in `extents`, or at `entry`, as the rows have them.
struct Statements {
  Statements(Dwarf_Die& unit, const Extents& extents, std::optional<std::uint64_t> entry,
             std::uint64_t entry_view) {
    Dwarf_Lines* lines = nullptr;
    std::size_t count = 0;
    if (!read_rows(unit, lines, count)) return;
    std::uint64_t view = 0;
    std::uint64_t last_address = 0;
    for (std::size_t i = 0; i < count; ++i) {
      Dwarf_Line* row = dwarf_onesrcline(lines, i);
      Statement statement;
      bool begins = false;
      Dwarf_Addr address = 0;
      if (dwarf_lineaddr(row, &address) != 0) continue;
      statement.address = address;
      view = address == last_address ? view + 1 : 0;
      last_address = address;
      if (dwarf_linebeginstatement(row, &begins) != 0 || !begins) continue;
      dwarf_lineno(row, &statement.line);
      dwarf_linecol(row, &statement.column);
      if (address == entry) {
        if (view >= entry_view && !at_entry) at_entry = statement;
      } else if (any_contains(extents, address)) {
        elsewhere.push_back(statement);
      }
    }
  }

  std::optional<Statement> at_entry;  // the first from the view on that the entry is in
  std::vector<Statement> elsewhere;
};

std::optional<std::uint64_t> known_entry(Dwarf_Die& call, const Extents& extents) {
  Dwarf_Addr address = 0;
  if (dwarf_hasattr(&call, DW_AT_entry_pc) != 0 && dwarf_entrypc(&call, &address) == 0) {
    return address;
  }
  if (extents.size() == 1) return extents.front().begin;
  return std::nullopt;
}

// What other functions were inlined into this one is not its own.
void remove_inner_calls(Dwarf_Die& call, std::vector<Statement>& statements) {
  const auto look_at = [&](Dwarf_Die& inner, int) -> std::optional<int> {
    const Extents extents = extents_of(inner);
    std::erase_if(statements,
                  [&](const Statement& one) { return any_contains(extents, one.address); });
    return std::nullopt;
  };
  static_cast<void>(walk_scopes(call, 0, look_at));
}

// Whether control goes from `begin` to `end` without a jump.
bool is_straight(std::uint64_t begin, std::uint64_t end, const CodeBytes& code) {
  std::uint64_t reached = begin;
  code.for_each_instruction(begin, end, [&](std::uint64_t address, const InstructionOutline& one) {
    if (one.jump_target || !one.falls_through) return false;
    reached = address + one.length;
    return true;
  });
  return reached == end;
}

// Whether a loop of the function itself is around `entry`.
bool is_in_loop(std::uint64_t entry, const Extents& extents, const CodeBytes& code) {
  return std::any_of(extents.begin(), extents.end(), [&](const CodeExtent& extent) {
    const std::uint64_t begin = std::max(extent.begin, std::min(entry, extent.end));
    return code.has_jump(begin, extent.end, [&](std::uint64_t target) {
      return target <= entry && any_contains(extents, target);
    });
  });
}

InlinedEntry guessed_entry(Dwarf_Die& unit, Dwarf_Die& call, const Extents& extents,
                           const CodeBytes& code) {
  std::vector<Statement> own = Statements(unit, extents, std::nullopt, 0).elsewhere;
  remove_inner_calls(call, own);
  std::erase_if(own, [](const Statement& statement) { return statement.line == 0; });
  if (own.empty()) return {extents.front().begin, kUnknown};
  const Statement first =
      *std::min_element(own.begin(), own.end(), [](const Statement& a, const Statement& b) {
        return std::tuple(a.line, a.address) < std::tuple(b.line, b.address);
      });
  const bool has_copies = std::any_of(own.begin(), own.end(), [&](const Statement& other) {
    return other.address != first.address && other.is_same(first);
  });
  if (has_copies) return {first.address, kCopies};
  return {first.address, is_in_loop(first.address, extents, code) ? kLoopHead : ""};
}

// With counting at an entry that the debug information names.
const char* problem_with(Dwarf_Die& unit, Dwarf_Die& call, std::uint64_t entry,
                         const Extents& extents, const CodeBytes& code) {
  const char* problem = loop_problem(entry, extents, code);
  if (*problem != '\0') return problem;
  // The loop around the call may have been unrolled: then the statement begins elsewhere as well.
  const Statements found(unit, extents, entry, number_of(call, DW_AT_GNU_entry_view));
  const bool has_copies =
      found.at_entry &&
      std::any_of(found.elsewhere.begin(), found.elsewhere.end(),
                  [&](const Statement& other) { return other.is_same(*found.at_entry); });
  return has_copies ? kCopies : "";
}

}  // namespace

const char* loop_problem(std::uint64_t entry, const std::vector<CodeExtent>& extents,
                         const CodeBytes& code) {
  const auto leads_to_entry = [&](std::uint64_t target) {
    // The loop may begin with instructions that the debug information does not give to the call.
    return target == entry || (target < entry && entry - target <= kMaxUnknown &&
                               !any_contains(extents, target) && is_straight(target, entry, code));
  };
  const bool is_head = std::any_of(extents.begin(), extents.end(), [&](const CodeExtent& extent) {
    return code.has_jump(extent.begin, extent.end, leads_to_entry);
  });
  return is_head ? kLoopHead : "";
}

std::optional<InlinedEntry> inlined_entry(Dwarf_Die& unit, Dwarf_Die& call, Dwarf_Die& function,
                                          const CodeBytes& code) {
  const Extents extents = extents_of(call);
  if (extents.empty()) return std::nullopt;
  const auto known = known_entry(call, extents);
  InlinedEntry entry = known ? InlinedEntry{*known, problem_with(unit, call, *known, extents, code)}
                             : guessed_entry(unit, call, extents, code);
  if (*entry.problem == '\0' &&
      has_bypassing_loop({{entry.address}}, extents, extents_of(function), code)) {
    entry.problem = kBypassed;
  }
  return entry;
}

}  // namespace coz::linetable
