#include "linetable/symbols/symbol_ranges.h"

#include <catch2/catch.hpp>
#include <random>
#include <sstream>
#include <string>

using namespace coz::linetable;
using Kind = Symbol::Kind;
using Binding = Symbol::Binding;

namespace {

constexpr std::uint64_t kLimit = 0x1000;

Symbol symbol(const char* name, std::uint64_t begin, std::uint64_t size,
              Kind kind = Kind::kFunction, Binding binding = Binding::kGlobal) {
  return {begin, size, kLimit, name, kind, binding};
}

// "name:begin-end" of each, in hex; a function without name by where it begins.
std::string text(const std::vector<FunctionRange>& ranges) {
  std::ostringstream out;
  for (const FunctionRange& range : ranges) {
    out << (range.code.begin == ranges.front().code.begin ? "" : " ") << std::hex;
    if (range.name.empty()) {
      out << "+" << range.function;
    } else {
      out << range.name;
    }
    out << ":" << range.code.begin << "-" << range.code.end;
  }
  return out.str();
}

}  // namespace

TEST_CASE("symbols with sizes are functions, what lies between them is not",
          "[linetable][symbols]") {
  CHECK(text(function_ranges({symbol("b", 0x40, 0x10), symbol("a", 0x10, 0x20)}, {})) ==
        "a:10-30 b:40-50");
  CHECK(function_ranges({}, {}).empty());
}

TEST_CASE("of aliases the plainest gives the name, and the largest the size",
          "[linetable][symbols]") {
  CHECK(text(function_ranges({symbol("__libc_malloc", 0x10, 0x20), symbol("malloc", 0x10, 0x20),
                              symbol("_malloc", 0x10, 0x30)},
                             {})) == "malloc:10-40");
  CHECK(text(function_ranges(
            {symbol("weak", 0x10, 8, Kind::kFunction, Binding::kWeak), symbol("__strong", 0x10, 8)},
            {})) == "__strong:10-18");
  CHECK(text(function_ranges({symbol("chosen", 0x10, 8, Kind::kIfunc),
                              symbol("zzz_resolver", 0x10, 8, Kind::kFunction, Binding::kLocal)},
                             {})) == "zzz_resolver:10-18");
  CHECK(text(function_ranges({symbol("label", 0x10, 0, Kind::kLabel), symbol("_f", 0x10, 8)},
                             {})) == "_f:10-18");
}

TEST_CASE("of functions in each other the innermost has the code", "[linetable][symbols]") {
  CHECK(text(function_ranges({symbol("outer", 0x10, 0x30), symbol("inner", 0x20, 0x8)}, {})) ==
        "outer:10-20 inner:20-28 outer:28-40");
  CHECK(text(function_ranges({symbol("a", 0x10, 0x10), symbol("b", 0x18, 0x10)}, {})) ==
        "a:10-18 b:18-28");
}

TEST_CASE("a function without size ends where the next thing begins", "[linetable][symbols]") {
  CHECK(text(function_ranges({symbol("a", 0x10, 0), symbol("b", 0x20, 8)}, {})) ==
        "a:10-20 b:20-28");
  CHECK(text(function_ranges({symbol("a", 0x10, 0)}, {})) == "a:10-1000");
  // By the unwind table: its own entry, or the next.
  CHECK(text(function_ranges({symbol("a", 0x10, 0)}, {{0x10, 0x18}})) == "a:10-18");
  CHECK(text(function_ranges({symbol("a", 0x10, 0)}, {{0x30, 0x38}})) == "a:10-30 +30:30-38");
  // A second entrance to a function that has a size.
  CHECK(text(function_ranges({symbol("f", 0x10, 0x20), symbol("entry", 0x18, 0)}, {})) ==
        "f:10-18 entry:18-30");
}

TEST_CASE("labels are functions only where nothing else is", "[linetable][symbols]") {
  const Symbol label = symbol("label", 0x18, 0, Kind::kLabel);
  CHECK(text(function_ranges({symbol("f", 0x10, 0x10), label}, {})) == "f:10-20");
  CHECK(text(function_ranges({symbol("f", 0x10, 0), label}, {{0x10, 0x20}})) == "f:10-20");
  CHECK(text(function_ranges({symbol("f", 0x10, 0x8), label, symbol("g", 0x30, 8)}, {})) ==
        "f:10-18 label:18-30 g:30-38");
}

TEST_CASE("the unwind table has the functions without symbols", "[linetable][symbols]") {
  CHECK(text(function_ranges({}, {{0x20, 0x30}, {0x10, 0x20}, {0x40, 0x40}})) ==
        "+10:10-20 +20:20-30");
  CHECK(text(function_ranges({symbol("f", 0x20, 0x10)}, {{0x10, 0x20}, {0x20, 0x30}})) ==
        "+10:10-20 f:20-30");
  // A piece of a function with a symbol; an entry that goes on where the symbol's size ends.
  CHECK(text(function_ranges({symbol("f", 0x10, 0x20)}, {{0x10, 0x20}, {0x20, 0x30}})) ==
        "f:10-30");
  CHECK(text(function_ranges({symbol("f", 0x10, 0x8)}, {{0x10, 0x20}})) == "f:10-20");
}

TEST_CASE("whatever the symbols, their ranges are disjoint, and within them",
          "[linetable][symbols]") {
  std::mt19937 random(5);
  const auto number = [&](unsigned below) { return static_cast<std::uint64_t>(random() % below); };
  for (int round = 0; round < 2000; ++round) {
    std::vector<Symbol> symbols;
    std::vector<CodeExtent> unwound;
    std::vector<bool> known(0x140);
    for (std::uint64_t i = number(8); i > 0; --i) {
      const Symbol made = {number(0x100),
                           number(0x30),
                           0x120,
                           "s",
                           static_cast<Kind>(number(3)),
                           static_cast<Binding>(number(3))};
      symbols.push_back(made);
    }
    std::uint64_t at = 0;
    for (std::uint64_t i = number(6); i > 0; --i) {
      at += number(0x20);
      unwound.push_back({at, at + number(0x20)});
      at = unwound.back().end;
    }
    for (const Symbol& s : symbols) {
      for (std::uint64_t a = s.begin; a < std::min(s.begin + s.size, s.limit); ++a) known[a] = true;
    }
    std::uint64_t end = 0;
    for (const FunctionRange& range : function_ranges(symbols, unwound)) {
      REQUIRE(range.code.begin >= end);
      REQUIRE(range.code.begin < range.code.end);
      end = range.code.end;
      REQUIRE(end <= 0x140);
      std::fill(known.begin() + static_cast<std::ptrdiff_t>(range.code.begin),
                known.begin() + static_cast<std::ptrdiff_t>(end), false);
    }
    // All that a symbol with a size covers is some function's.
    REQUIRE(std::count(known.begin(), known.end(), true) == 0);
  }
}

TEST_CASE("a piece or variant of a function has the function's name", "[linetable][symbols]") {
  CHECK(without_variant("f") == "f");
  CHECK(without_variant("f.cold") == "f");
  CHECK(without_variant("f.part.0.isra.12") == "f");
  CHECK(without_variant("f.constprop.1.cold") == "f");
  CHECK(without_variant("f.isra.0.constprop.1") == "f");
  CHECK(without_variant("f.clone.3") == "f");
  CHECK(without_variant("_ZN1a1fEv.part.3") == "_ZN1a1fEv");
  CHECK(without_variant("memcpy@@GLIBC_2.14") == "memcpy");
  CHECK(without_variant("a.b") == "a.b");
  CHECK(without_variant("counter.0") == "counter.0");
  CHECK(without_variant(".cold") == ".cold");
  CHECK(without_variant("") == "");
}
