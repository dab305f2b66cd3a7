#include "linetable/layout/jump_tables.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <unordered_set>

namespace coz::linetable {
namespace {

constexpr std::size_t kFewest = 2;  // entries of a table

template <typename Number>
Number number_at(std::span<const std::uint8_t> bytes) {
  Number number;
  std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

class Finder {
 public:
  Finder(const ProgramCode& program, const CodeScan& scan, const SameFunction& same)
      : program_(program), scan_(scan), same_(same) {
    for (const CodeFunction& function : program.functions) starts_.insert(function.extent.begin);
    limits_ = scan.named_data();
    limits_.insert(limits_.end(), program.objects.begin(), program.objects.end());
    std::sort(limits_.begin(), limits_.end());
  }

  void walk(std::size_t code, std::uint32_t begin, std::uint32_t width) {
    const CodeSection* const section = program_.section_of(begin);
    if (section == nullptr || section->content == Content::kText || begin % 4 != 0) return;
    if (width == 4 && section->content != Content::kConstants) return;
    const auto limit = std::upper_bound(limits_.begin(), limits_.end(), begin);
    const std::uint32_t end =
        limit == limits_.end() ? section->extent.end : std::min(*limit, section->extent.end);
    std::vector<TableEntry> found;
    bool has_middle = false;
    for (std::uint32_t at = begin; at + width <= end; at += width) {
      const auto target = target_of(at, width, begin);
      const bool is_middle = is_inside(target);
      // A part that the compiler put elsewhere may be entered at its begin.
      if (!is_middle && (width != 4 || !scan_.is_instruction(target))) break;
      if (!same_(code, static_cast<std::uint32_t>(target))) break;
      has_middle = has_middle || is_middle;
      found.push_back({at, static_cast<std::uint32_t>(target), width, begin});
    }
    if (!has_middle || found.size() < kFewest) return;
    entries_.insert(entries_.end(), found.begin(), found.end());
  }

  // What the loader relocates is certainly an address.
  void add_pointers() {
    for (const DataPointer& pointer : program_.pointers) {
      if (is_inside(pointer.target)) entries_.push_back({pointer.at, pointer.target, 8, 0});
    }
  }

  std::vector<TableEntry> take() {
    const auto place = [](const TableEntry& entry) { return std::tuple(entry.at, entry.base); };
    std::sort(entries_.begin(), entries_.end(),
              [&](const TableEntry& a, const TableEntry& b) { return place(a) < place(b); });
    entries_.erase(
        std::unique(entries_.begin(), entries_.end(),
                    [](const TableEntry& a, const TableEntry& b) { return a.at == b.at; }),
        entries_.end());
    return std::move(entries_);
  }

 private:
  std::int64_t target_of(std::uint32_t at, std::uint32_t width, std::uint32_t base) const {
    const auto bytes = program_.at(at);
    if (bytes.size() < width) return -1;
    if (width == 4) return std::int64_t{base} + number_at<std::int32_t>(bytes);
    return static_cast<std::int64_t>(number_at<std::uint64_t>(bytes) - program_.base);
  }

  // An instruction, but not the first one: that would be the address of a function.
  bool is_inside(std::int64_t address) const {
    return scan_.is_instruction(address) && !starts_.contains(static_cast<std::uint32_t>(address));
  }

  const ProgramCode& program_;
  const CodeScan& scan_;
  const SameFunction& same_;
  std::unordered_set<std::uint32_t> starts_;
  std::vector<std::uint32_t> limits_;  // where something in data begins
  std::vector<TableEntry> entries_;
};

}  // namespace

std::vector<TableEntry> find_tables(const ProgramCode& program, CodeScan& scan,
                                    const SameFunction& same_function) {
  Finder finder(program, scan, same_function);
  for (std::size_t code = 0; code < scan.code().size(); ++code) {
    for (const std::uint32_t begin : scan.code()[code].table_candidates) {
      finder.walk(code, begin, 4);
      if (program.base != 0) finder.walk(code, begin, 8);
    }
  }
  finder.add_pointers();
  std::vector<TableEntry> found = finder.take();
  for (const TableEntry& entry : found) scan.add_target(entry.target);
  return found;
}

}  // namespace coz::linetable
