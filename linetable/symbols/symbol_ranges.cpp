#include "linetable/symbols/symbol_ranges.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <tuple>

namespace coz::linetable {
namespace {

// The order in which aliases are preferred.
auto rank(const Symbol& symbol) {
  const std::size_t letters = symbol.name.find_first_not_of('_');
  const std::size_t underscores = std::min(letters, symbol.name.size());
  return std::tuple(symbol.kind, symbol.binding, underscores, symbol.name);
}

// One symbol for each address, ascending.
std::vector<Symbol> without_aliases(std::vector<Symbol> symbols) {
  std::sort(symbols.begin(), symbols.end(), [](const Symbol& a, const Symbol& b) {
    return std::tuple_cat(std::tuple(a.begin), rank(a)) <
           std::tuple_cat(std::tuple(b.begin), rank(b));
  });
  std::vector<Symbol> kept;
  for (const Symbol& symbol : symbols) {
    if (kept.empty() || kept.back().begin != symbol.begin) {
      kept.push_back(symbol);
    } else {
      kept.back().size = std::max(kept.back().size, symbol.size);
    }
  }
  return kept;
}

// The extent of `extents` (ascending) that `address` lies in, its beginning included.
const CodeExtent* extent_around(const std::vector<CodeExtent>& extents, std::uint64_t address) {
  const auto next =
      std::upper_bound(extents.begin(), extents.end(), address,
                       [](std::uint64_t a, const CodeExtent& extent) { return a < extent.begin; });
  if (next == extents.begin() || address >= std::prev(next)->end) return nullptr;
  return &*std::prev(next);
}

// Adds `extent`, which begins no earlier than any before it, to a union in ascending order.
void add_to_union(std::vector<CodeExtent>& covered, CodeExtent extent) {
  if (!covered.empty() && extent.begin < covered.back().end) {
    covered.back().end = std::max(covered.back().end, extent.end);
  } else {
    covered.push_back(extent);
  }
}

// The union of what the symbols with a size cover, ascending.
std::vector<CodeExtent> covered_by_sized(const std::vector<Symbol>& symbols) {
  std::vector<CodeExtent> covered;
  for (const Symbol& symbol : symbols) {
    if (symbol.size == 0) continue;
    add_to_union(covered, {symbol.begin, std::min(symbol.begin + symbol.size, symbol.limit)});
  }
  return covered;
}

bool is_inside(const CodeExtent* extent, std::uint64_t address) {
  return extent != nullptr && extent->begin < address;
}

// Where a symbol without size ends, if `next` is where the next one begins.
std::uint64_t end_of_unsized(const Symbol& symbol, std::uint64_t next, const CodeExtent* sized,
                             const std::vector<CodeExtent>& unwound) {
  std::uint64_t end = std::min(next, symbol.limit);
  if (sized != nullptr) end = std::min(end, sized->end);
  if (const CodeExtent* entry = extent_around(unwound, symbol.begin)) {
    return std::min(end, entry->end);
  }
  const auto following =
      std::upper_bound(unwound.begin(), unwound.end(), symbol.begin,
                       [](std::uint64_t a, const CodeExtent& extent) { return a < extent.begin; });
  return following == unwound.end() ? end : std::min(end, following->begin);
}

std::vector<FunctionRange> ranges_of_symbols(const std::vector<Symbol>& all,
                                             const std::vector<CodeExtent>& unwound) {
  const std::vector<CodeExtent> sized = covered_by_sized(all);
  std::vector<Symbol> symbols;
  for (const Symbol& symbol : all) {
    const bool is_label = symbol.kind == Symbol::Kind::kLabel && symbol.size == 0;
    if (is_label && (is_inside(extent_around(sized, symbol.begin), symbol.begin) ||
                     is_inside(extent_around(unwound, symbol.begin), symbol.begin))) {
      continue;
    }
    symbols.push_back(symbol);
  }
  std::vector<FunctionRange> ranges;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const Symbol& symbol = symbols[i];
    const std::uint64_t next =
        i + 1 < symbols.size() ? symbols[i + 1].begin : std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t end =
        symbol.size > 0 ? std::min(symbol.begin + symbol.size, symbol.limit)
                        : end_of_unsized(symbol, next, extent_around(sized, symbol.begin), unwound);
    ranges.push_back({{symbol.begin, end}, symbol.begin, symbol.name});
  }
  return ranges;
}

// Adds the entries of the unwind table as functions, with a name where a symbol begins there. An
// entry that begins inside a function with a symbol is a piece of it.
void add_unwound(const std::vector<CodeExtent>& unwound, std::vector<FunctionRange>& ranges) {
  const std::size_t symbols = ranges.size();
  std::vector<CodeExtent> covered;  // ranges of symbols, as a union
  for (const FunctionRange& range : ranges) add_to_union(covered, range.code);
  std::size_t i = 0;
  for (const CodeExtent& entry : unwound) {
    while (i < symbols && ranges[i].code.begin < entry.begin) ++i;
    const bool has_symbol = i < symbols && ranges[i].code.begin == entry.begin;
    if (!has_symbol && is_inside(extent_around(covered, entry.begin), entry.begin)) continue;
    ranges.push_back({entry, entry.begin, has_symbol ? ranges[i].name : std::string_view()});
  }
}

// Where ranges lie in each other, keeps the innermost.
std::vector<FunctionRange> flattened(std::vector<FunctionRange> ranges) {
  std::stable_sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) {
    return a.code.begin != b.code.begin ? a.code.begin < b.code.begin : a.code.end > b.code.end;
  });
  std::vector<FunctionRange> flat;
  std::vector<FunctionRange> active;
  std::uint64_t at = 0;
  const auto flush_until = [&](std::uint64_t end) {
    while (!active.empty() && at < end) {
      const FunctionRange& top = active.back();
      const std::uint64_t until = std::min(top.code.end, end);
      if (until > at) {
        const bool goes_on =
            !flat.empty() && flat.back().code.end == at && flat.back().function == top.function;
        if (goes_on) {
          flat.back().code.end = until;
        } else {
          flat.push_back({{at, until}, top.function, top.name});
        }
        at = until;
      }
      if (top.code.end <= at) active.pop_back();
    }
  };
  for (const FunctionRange& range : ranges) {
    flush_until(range.code.begin);
    at = std::max(at, range.code.begin);
    if (range.code.begin < range.code.end) active.push_back(range);
  }
  flush_until(std::numeric_limits<std::uint64_t>::max());
  return flat;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::vector<FunctionRange> function_ranges(std::vector<Symbol> symbols,
                                           std::vector<CodeExtent> unwound) {
  std::erase_if(unwound, [](const CodeExtent& extent) { return extent.begin >= extent.end; });
  std::sort(unwound.begin(), unwound.end(),
            [](const CodeExtent& a, const CodeExtent& b) { return a.begin < b.begin; });
  std::vector<FunctionRange> ranges =
      ranges_of_symbols(without_aliases(std::move(symbols)), unwound);
  add_unwound(unwound, ranges);
  return flattened(std::move(ranges));
}

std::string_view without_variant(std::string_view name) {
  using std::string_view_literals::operator""sv;
  constexpr std::array kSuffixes = {"cold"sv,     "part"sv, "isra"sv,       "constprop"sv,
                                    "lto_priv"sv, "llvm"sv, "localalias"sv, "clone"sv};
  name = name.substr(0, name.find('@', 1));
  while (true) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos || dot == 0) return name;
    const std::string_view last = name.substr(dot + 1);
    const std::string_view rest = name.substr(0, dot);
    if (std::find(kSuffixes.begin(), kSuffixes.end(), last) != kSuffixes.end()) {
      name = rest;
      continue;
    }
    const std::size_t before = rest.rfind('.');
    if (!is_number(last) || before == std::string_view::npos || before == 0) return name;
    if (std::find(kSuffixes.begin(), kSuffixes.end(), rest.substr(before + 1)) == kSuffixes.end()) {
      return name;
    }
    name = rest.substr(0, before);
  }
}

}  // namespace coz::linetable
