#include "linetable/layout/layout_planner.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "linetable/layout/code_scan.h"
#include "linetable/layout/jump_tables.h"

namespace coz::linetable {
namespace {

constexpr const char* kNoFunction = "belongs to no function that a symbol or unwind entry names";
constexpr const char* kStayingNeighbour = "runs on, or jumps by 8 bits, into code that stays";
constexpr std::uint8_t kEndbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
constexpr std::uint32_t kEndbrSize = sizeof kEndbr64;
constexpr std::uint8_t kNop = 0x90;
constexpr double kAligned = 0.95;  // share of functions that tells their alignment

// Index of the extent that contains an address, in ascending ones; -1 for none.
template <typename Item, typename ExtentOf>
std::int64_t find_extent(const std::vector<Item>& items, std::int64_t address, ExtentOf extent_of) {
  const auto after =
      std::upper_bound(items.begin(), items.end(), address,
                       [&](std::int64_t a, const Item& item) { return a < extent_of(item).begin; });
  if (after == items.begin() || !extent_of(*(after - 1)).contains(address)) return -1;
  return after - items.begin() - 1;
}

class Planner {
 public:
  explicit Planner(const ProgramCode& program) : program_(program), scan_(program) {}

  PlannedLayout plan() {
    sort_functions();
    scan_all();
    join_neighbours();
    make_units();
    find_families();
    const auto tables = find_tables(program_, scan_, [this](std::size_t code, std::uint32_t at) {
      return is_same_function(code, at);
    });
    add_fixups();
    add_tables(tables);
    add_entries();
    add_frames();
    out_.alignment = alignment();
    return std::move(out_);
  }

 private:
  void sort_functions() {
    functions_ = program_.functions;
    std::sort(functions_.begin(), functions_.end(), [](const auto& a, const auto& b) {
      // Of two names for the same code, keep the first by alphabet; a name is better than none.
      return std::tuple(a.extent.begin, a.name.empty(), a.name) <
             std::tuple(b.extent.begin, b.name.empty(), b.name);
    });
  }

  // Decodes the union of functions that overlap as one, and looks at what lies between.
  void scan_all() {
    for (const CodeSection& section : program_.sections) {
      if (section.content != Content::kText) continue;
      std::uint32_t end = section.extent.begin;  // of what has been looked at
      Extent whole{0, 0};
      const auto finish = [&] {
        if (whole.end == 0) return;
        note_gap({end, whole.begin});
        scan_.scan(whole);
        end = whole.end;
      };
      for (const CodeFunction& function : functions_) {
        if (!section.extent.contains(function.extent.begin)) continue;
        const Extent extent{function.extent.begin,
                            std::min(function.extent.end, section.extent.end)};
        if (whole.end != 0 && extent.begin < whole.end) {
          whole.end = std::max(whole.end, extent.end);
          continue;
        }
        finish();
        whole = extent;
      }
      finish();
      note_gap({end, section.extent.end});
    }
    for (const ScannedCode& code : scan_.code()) out_.text_bytes += code.extent.size();
  }

  void note_gap(Extent gap) {
    if (gap.begin >= gap.end || scan_.is_fill(gap)) return;
    scan_.scan_stray(gap);
    out_.text_bytes += gap.size();
    out_.pinned.push_back({gap, "", kNoFunction});
  }

  // Code that runs into its neighbour, or jumps to it by 8 bits, has to move with it.
  void join_neighbours() {
    const auto& code = scan_.code();
    joined_.assign(code.size(), false);
    problems_.assign(code.size(), nullptr);
    for (std::size_t i = 0; i < code.size(); ++i) {
      problems_[i] = code[i].problem;
      if (code[i].falls_through && code[i].problem == nullptr)
        join(i, static_cast<std::int64_t>(i) + 1);
      for (const std::uint32_t target : code[i].short_exits) join(i, code_at(target));
    }
  }

  // From the smaller to the larger of both, with what lies between.
  void join(std::size_t from, std::int64_t other) {
    const auto& code = scan_.code();
    if (other < 0 || static_cast<std::size_t>(other) >= code.size()) {
      problems_[from] = kStayingNeighbour;
      return;
    }
    const std::size_t first = std::min(from, static_cast<std::size_t>(other));
    const std::size_t last = std::max(from, static_cast<std::size_t>(other));
    for (std::size_t i = first; i < last; ++i) {
      joined_[i] = true;
      const Extent gap{code[i].extent.end, code[i + 1].extent.begin};
      if (gap.begin < gap.end && !scan_.is_fill(gap)) problems_[i] = kStayingNeighbour;
    }
  }

  void make_units() {
    const auto& code = scan_.code();
    unit_of_code_.assign(code.size(), kStays);
    for (std::size_t first = 0, next = 0; first < code.size(); first = next) {
      next = first + 1;
      while (joined_[next - 1] && next < code.size()) ++next;
      const auto problem = std::find_if(problems_.begin() + static_cast<std::ptrdiff_t>(first),
                                        problems_.begin() + static_cast<std::ptrdiff_t>(next),
                                        [](const char* text) { return text != nullptr; });
      const bool stays = problem != problems_.begin() + static_cast<std::ptrdiff_t>(next);
      for (std::size_t i = first; i < next; ++i) {
        if (stays) {
          const char* const own = problems_[i];
          pin(code[i].extent, own == nullptr ? kStayingNeighbour : own);
        } else {
          unit_of_code_[i] = static_cast<std::uint32_t>(out_.units.size());
          out_.movable_bytes += code[i].extent.size();
        }
      }
      if (stays) continue;
      const std::uint32_t begin = code[first].extent.begin;
      out_.units.push_back({begin, code[next - 1].extent.end - begin, 0});
    }
  }

  void pin(Extent extent, const char* reason) {
    const auto function =
        std::lower_bound(functions_.begin(), functions_.end(), extent.begin,
                         [](const CodeFunction& f, std::uint32_t a) { return f.extent.begin < a; });
    out_.pinned.push_back({extent, function == functions_.end() ? "" : function->name, reason});
  }

  // Pieces of code with a jump from one to the other may be parts of one function.
  void find_families() {
    const auto& code = scan_.code();
    for (std::size_t i = 0; i < code.size(); ++i) {
      for (const CodeReference& reference : references_of(i)) {
        if (reference.kind != Reference::kJump || code[i].extent.contains(reference.target)) {
          continue;
        }
        const std::int64_t other = code_at(reference.target);
        if (other < 0) continue;
        families_.insert({i, static_cast<std::size_t>(other)});
        families_.insert({static_cast<std::size_t>(other), i});
      }
    }
  }

  bool is_same_function(std::size_t code, std::uint32_t address) const {
    if (scan_.code()[code].extent.contains(address)) return true;
    const std::int64_t other = code_at(address);
    return other >= 0 && families_.contains({code, static_cast<std::size_t>(other)});
  }

  void add_fixups() {
    for (std::size_t i = 0; i < scan_.code().size(); ++i) {
      const std::uint32_t unit = unit_of_code_[i];
      if (unit == kStays) continue;
      if (unit_of_code_[i] != kStays && (i == 0 || unit_of_code_[i - 1] != unit)) {
        out_.units[unit].first_fixup = static_cast<std::uint32_t>(out_.fixups.size());
      }
      for (const CodeReference& reference : references_of(i)) {
        const std::uint32_t target_unit = unit_at(reference.target);
        if (reference.kind != Reference::kMemory) {
          if (target_unit != unit) out_.fixups.push_back({reference.at, target_unit});
        } else if (target_unit != unit || is_function(reference.target)) {
          // The address of a function is compared with what others have of it, so it stays. What
          // the unit has of its own (labels, constants) moves with it.
          out_.fixups.push_back({reference.at, kStays});
        }
      }
    }
  }

  void add_tables(const std::vector<TableEntry>& tables) {
    for (const TableEntry& entry : tables) {
      const std::uint32_t unit = unit_at(entry.target);
      if (unit != kStays) out_.tables.push_back({entry.at, unit, entry.width, entry.base});
    }
  }

  void add_entries() {
    std::int64_t before = -1;
    for (const CodeFunction& function : functions_) {
      const std::uint32_t begin = function.extent.begin;
      const std::uint32_t unit = unit_at(begin);
      if (unit == kStays || begin == before) continue;
      before = begin;
      ++out_.functions;
      const std::uint32_t at = begin + (begins_with_endbr(begin) ? kEndbrSize : 0);
      if (has_room(at, unit, begin)) {
        out_.entries.push_back({at, unit});
      } else {
        ++out_.kept_entries;
      }
    }
  }

  bool begins_with_endbr(std::uint32_t address) const {
    const auto bytes = program_.at(address);
    return bytes.size() >= kEndbrSize &&
           std::equal(std::begin(kEndbr64), std::end(kEndbr64), bytes.begin());
  }

  // Whether a jump can stand there, so that nobody ever jumps into the middle of it.
  bool has_room(std::uint32_t at, std::uint32_t unit, std::uint32_t function) const {
    const std::uint32_t end = at + kEntryJumpSize;
    if (!scan_.is_instruction(at)) return false;
    // Clang begins a part of a split function with a NOP where its first code is a landing pad, to
    // which the unwinder jumps.
    if (const auto bytes = program_.at(at); !bytes.empty() && bytes.front() == kNop) return false;
    for (std::uint32_t inside = function + 1; inside < end; ++inside) {
      const bool is_jump_begin = inside <= at;
      if (is_function(inside) || (!is_jump_begin && scan_.is_target(inside))) return false;
    }
    const std::uint32_t unit_end = out_.units[unit].begin + out_.units[unit].size;
    if (end <= unit_end) return true;
    const CodeSection* const section = program_.section_of(at);
    return section != nullptr && end <= section->extent.end && scan_.is_fill({unit_end, end});
  }

  void add_frames() {
    out_.commons = program_.frames.commons;
    for (const FrameEntry& entry : program_.frames.entries) {
      LayoutFrame frame = entry;
      frame.unit = unit_at(entry.code.begin);
      if (frame.unit != kStays) out_.frames.push_back(frame);
    }
    std::stable_sort(
        out_.frames.begin(), out_.frames.end(),
        [](const LayoutFrame& a, const LayoutFrame& b) { return a.common < b.common; });
  }

  std::uint32_t alignment() const {
    for (const std::uint32_t wanted : {64U, 32U}) {
      const auto aligned = std::count_if(
          functions_.begin(), functions_.end(),
          [&](const CodeFunction& function) { return function.extent.begin % wanted == 0; });
      if (static_cast<double>(aligned) >= kAligned * static_cast<double>(functions_.size())) {
        return wanted;
      }
    }
    return 16;
  }

  std::span<const CodeReference> references_of(std::size_t code) const {
    const auto& all = scan_.code();
    const std::size_t begin = all[code].first_reference;
    const std::size_t end =
        code + 1 < all.size() ? all[code + 1].first_reference : scan_.references().size();
    return std::span(scan_.references()).subspan(begin, end - begin);
  }

  std::int64_t code_at(std::int64_t address) const {
    return find_extent(scan_.code(), address, [](const ScannedCode& c) { return c.extent; });
  }

  std::uint32_t unit_at(std::int64_t address) const {
    const std::int64_t found = find_extent(out_.units, address, [](const LayoutUnit& unit) {
      return Extent{unit.begin, unit.begin + unit.size};
    });
    return found < 0 ? kStays : static_cast<std::uint32_t>(found);
  }

  bool is_function(std::int64_t address) const {
    const auto found = std::lower_bound(
        functions_.begin(), functions_.end(), address,
        [](const CodeFunction& function, std::int64_t a) { return function.extent.begin < a; });
    return found != functions_.end() && found->extent.begin == address;
  }

  const ProgramCode& program_;
  CodeScan scan_;
  PlannedLayout out_;
  std::vector<CodeFunction> functions_;      // ascending
  std::vector<bool> joined_;                 // by code: with the next
  std::vector<const char*> problems_;        // by code
  std::vector<std::uint32_t> unit_of_code_;  // kStays for none
  std::set<std::pair<std::size_t, std::size_t>> families_;
};

}  // namespace

PlannedLayout plan_layout(const ProgramCode& program) { return Planner(program).plan(); }

}  // namespace coz::linetable
