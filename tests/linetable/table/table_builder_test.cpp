#include "linetable/table/table_builder.h"

#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "common/line_table.h"
#include "tests/linetable/temporary_folder.h"

using coz::LineTable;
using coz::linetable::kNoLine;
using coz::linetable::kNoScope;
using coz::linetable::TableBuilder;

namespace {

LineTable finish(TableBuilder& builder) {
  const TemporaryFolder folder;
  write_whole(folder / "table", builder.finish(0x1000, {}));
  LineTable table;
  REQUIRE(LineTable::open((folder / "table").c_str(), table) == nullptr);
  return table;
}

// "function:line function:line", innermost first.
std::string chain(const LineTable& table, std::uint64_t address) {
  std::string text;
  for (const auto& frame : table.find_chain(address)) {
    const char* function = table.function_name(frame.function);
    if (!text.empty()) text += ' ';
    text += std::string(function == nullptr ? "?" : function) + ":" +
            std::to_string(table.line(frame.line)->line);
  }
  return text;
}

struct Sources {
  TableBuilder builder;
  std::uint32_t file = builder.add_file("/a.c");
  std::uint32_t line(std::uint32_t number) { return builder.add_line(file, number); }
  std::uint32_t function(const char* name) {
    return builder.add_function_scope(builder.add_function(name));
  }
  std::uint32_t inlined(const char* name, std::uint32_t parent, std::uint32_t call) {
    return builder.add_inlined_scope(builder.add_function(name), parent, call);
  }
};

}  // namespace

TEST_CASE("functions of one name in two files are two", "[linetable][builder]") {
  TableBuilder builder;
  const std::uint32_t external = builder.add_function("f");
  const std::uint32_t in_a = builder.add_function("f", "/a.c");
  const std::uint32_t in_b = builder.add_function("f", "/b.c");
  CHECK(std::set{external, in_a, in_b}.size() == 3);
  CHECK(builder.add_function("f", "/a.c") == in_a);
  const std::uint32_t file = builder.add_file("/a.c");
  std::uint32_t address = 0x10;
  for (const std::uint32_t function : {in_a, in_b}) {
    builder.add_row(address, builder.add_line(file, address));
    builder.add_range(address, address + 0x10, builder.add_function_scope(function));
    address += 0x10;
  }
  builder.add_row(address, kNoLine);
  const LineTable table = finish(builder);
  CHECK(table.function_count() == 2);
  CHECK(chain(table, 0x10) == "f:16");
  CHECK(chain(table, 0x20) == "f:32");
}

TEST_CASE("rows may come in any order", "[linetable][builder]") {
  Sources s;
  s.builder.add_row(0x30, kNoLine);
  s.builder.add_row(0x20, s.line(2));
  s.builder.add_row(0x10, s.line(1));
  const LineTable table = finish(s.builder);
  CHECK(chain(table, 0x0f).empty());
  CHECK(chain(table, 0x10) == "?:1");
  CHECK(chain(table, 0x1f) == "?:1");
  CHECK(chain(table, 0x20) == "?:2");
  CHECK(chain(table, 0x30).empty());
  CHECK(table.base_address() == 0x1000);
}

TEST_CASE("of several rows at an address the last line counts, and a gap yields",
          "[linetable][builder]") {
  Sources s;
  s.builder.add_row(0x10, s.line(1));
  s.builder.add_row(0x10, s.line(2));
  s.builder.add_row(0x20, s.line(3));
  s.builder.add_row(0x20, kNoLine);
  s.builder.add_row(0x30, kNoLine);
  const LineTable table = finish(s.builder);
  CHECK(chain(table, 0x10) == "?:2");
  CHECK(chain(table, 0x20) == "?:3");
  CHECK(table.line_count() == 2);  // line 1 has no code
}

TEST_CASE("neighbours with the same chain become one row", "[linetable][builder]") {
  Sources s;
  s.builder.add_range(0x10, 0x20, s.function("f"));
  s.builder.add_range(0x20, 0x40, s.function("g"));
  for (std::uint32_t address = 0x10; address < 0x40; address += 4) {
    s.builder.add_row(address, s.line(1));
  }
  s.builder.add_row(0x40, kNoLine);
  const LineTable table = finish(s.builder);
  CHECK(table.row_count() == 3);  // f, g, the gap
  CHECK(chain(table, 0x1c) == "f:1");
  CHECK(chain(table, 0x20) == "g:1");
}

TEST_CASE("inlined calls form a chain, from the inside out", "[linetable][builder]") {
  Sources s;
  const auto outer = s.function("outer");
  s.builder.add_range(0x10, 0x50, outer);
  const auto middle = s.inlined("middle", outer, s.line(100));
  s.builder.add_range(0x20, 0x40, middle);
  const auto inner = s.inlined("inner", middle, s.line(200));
  s.builder.add_range(0x28, 0x30, inner);
  s.builder.add_row(0x10, s.line(1));
  s.builder.add_row(0x60, kNoLine);
  const LineTable table = finish(s.builder);
  CHECK(chain(table, 0x10) == "outer:1");
  CHECK(chain(table, 0x20) == "middle:1 outer:100");
  CHECK(chain(table, 0x28) == "inner:1 middle:200 outer:100");
  CHECK(chain(table, 0x30) == "middle:1 outer:100");
  CHECK(chain(table, 0x40) == "outer:1");
  CHECK(chain(table, 0x50) == "?:1");
}

TEST_CASE("a function in pieces, and a call whose line is not known", "[linetable][builder]") {
  Sources s;
  const auto outer = s.function("outer");
  s.builder.add_range(0x10, 0x20, outer);
  s.builder.add_range(0x80, 0x90, outer);
  const auto inner = s.inlined("inner", outer, kNoLine);
  s.builder.add_range(0x18, 0x20, inner);
  s.builder.add_range(0x80, 0x88, inner);
  const auto orphan = s.inlined("orphan", kNoScope, s.line(9));
  s.builder.add_range(0xa0, 0xb0, orphan);
  s.builder.add_row(0x10, s.line(1));
  const LineTable table = finish(s.builder);
  CHECK(chain(table, 0x18) == "inner:1");
  CHECK(chain(table, 0x80) == "inner:1");
  CHECK(chain(table, 0x88) == "outer:1");
  CHECK(chain(table, 0xa0) == "orphan:1");
}

TEST_CASE("symbols fill what rows and scopes leave", "[linetable][builder]") {
  Sources s;
  const std::uint32_t none = s.builder.add_line(s.builder.add_file("/bin/prog"), 0);
  const auto symbol = [&](std::uint32_t begin, std::uint32_t end, const char* name) {
    s.builder.add_symbol(begin, end, s.builder.add_function(name), none);
  };
  symbol(0x80, 0x90, "after");
  symbol(0x08, 0x18, "before");
  symbol(0x20, 0x60, "around");
  s.builder.add_range(0x30, 0x50, s.function("f"));
  s.builder.add_row(0x10, s.line(1));  // in a symbol, but in no scope
  s.builder.add_row(0x18, kNoLine);
  s.builder.add_row(0x30, s.line(2));
  s.builder.add_row(0x40, kNoLine);  // line 0
  const LineTable table = finish(s.builder);
  const std::vector<std::pair<std::uint64_t, std::string>> expected = {
      {0x00, ""},         {0x07, ""},         {0x08, "before:0"}, {0x0f, "before:0"},
      {0x10, "before:1"}, {0x17, "before:1"}, {0x18, ""},         {0x1f, ""},
      {0x20, "around:0"}, {0x2f, "around:0"}, {0x30, "f:2"},      {0x3f, "f:2"},
      {0x40, "f:2"},      {0x4f, "f:2"},      {0x50, "around:0"}, {0x5f, "around:0"},
      {0x60, ""},         {0x7f, ""},         {0x80, "after:0"},  {0x8f, "after:0"},
      {0x90, ""},         {0xffffff, ""},
  };
  for (const auto& [address, frames] : expected) {
    INFO(std::hex << address);
    CHECK(chain(table, address) == frames);
  }
}

TEST_CASE("code with line 0 has the last line of its scope, or that of the call",
          "[linetable][builder]") {
  Sources s;
  const std::uint32_t outer = s.function("f");
  s.builder.add_range(0x10, 0x60, outer);
  s.builder.add_range(0x20, 0x40,
                      s.builder.add_inlined_scope(s.builder.add_function("g"), outer, s.line(7)));
  s.builder.add_row(0x10, kNoLine);  // before any line of f
  s.builder.add_row(0x18, s.line(1));
  s.builder.add_row(0x20, kNoLine);  // before any line of g
  s.builder.add_row(0x28, s.line(2));
  s.builder.add_row(0x30, kNoLine);
  s.builder.add_row(0x50, s.line(3));
  s.builder.add_row(0x60, kNoLine);
  const LineTable table = finish(s.builder);
  const std::vector<std::pair<std::uint64_t, std::string>> expected = {
      {0x10, ""},        {0x18, "f:1"}, {0x20, "f:7"}, {0x28, "g:2 f:7"}, {0x30, "g:2 f:7"},
      {0x3f, "g:2 f:7"}, {0x40, "f:1"}, {0x50, "f:3"}, {0x60, ""},
  };
  for (const auto& [address, frames] : expected) {
    INFO(std::hex << address);
    CHECK(chain(table, address) == frames);
  }
}

TEST_CASE("a table may be made of symbols alone", "[linetable][builder]") {
  Sources s;
  const std::uint32_t none = s.builder.add_line(s.builder.add_file("/bin/prog"), 0);
  s.builder.add_symbol(0, 0x10, s.builder.add_function("f"), none);
  const LineTable table = finish(s.builder);
  CHECK(chain(table, 0) == "f:0");
  CHECK(chain(table, 0x10).empty());
  CHECK(table.function_location(0) == "/bin/prog:f");
}

TEST_CASE("static variables are found by any address in them", "[linetable][builder]") {
  Sources s;
  s.builder.add_row(0x10, s.line(1));
  s.builder.add_object(0x200, 40, "later");
  s.builder.add_object(0x100, 80, "table_lock");
  s.builder.add_object(0x100, 80, "its_alias");
  const LineTable table = finish(s.builder);
  CHECK(table.find_object(0xff).name == nullptr);
  CHECK(std::string(table.find_object(0x100).name) == "table_lock");
  CHECK(table.find_object(0x100).offset == 0);
  CHECK(std::string(table.find_object(0x100 + 79).name) == "table_lock");
  CHECK(table.find_object(0x100 + 79).offset == 79);
  CHECK(table.find_object(0x100 + 80).name == nullptr);
  CHECK(std::string(table.find_object(0x200).name) == "later");
  CHECK(table.find_object(UINT64_MAX).name == nullptr);
}

TEST_CASE("equal chains are stored once", "[linetable][builder]") {
  Sources s;
  for (std::uint32_t i = 0; i < 100; ++i) {
    // The same call, inlined into a hundred clones of its function.
    const auto outer = s.function("outer");
    s.builder.add_range(i * 16, i * 16 + 16, outer);
    s.builder.add_range(i * 16 + 8, i * 16 + 16, s.inlined("inner", outer, s.line(5)));
    s.builder.add_row(i * 16, s.line(1));
    s.builder.add_row(i * 16 + 8, s.line(2));
  }
  s.builder.add_row(1600, kNoLine);
  const LineTable table = finish(s.builder);
  CHECK(table.row_count() == 201);
  CHECK(table.frames().size() == 3);
  CHECK(table.line_count() == 3);
  CHECK(table.function_count() == 2);
}

TEST_CASE("files and lines are numbered in order, unused ones left out", "[linetable][builder]") {
  TableBuilder builder;
  const auto z = builder.add_file("/z.c");
  const auto a = builder.add_file("/a.c");
  CHECK(builder.add_file("/z.c") == z);
  builder.add_file("/unused.c");
  builder.add_line(a, 77);
  builder.add_row(0, builder.add_line(z, 3));
  builder.add_row(1, builder.add_line(a, 9));
  builder.add_row(2, builder.add_line(a, 2));
  const LineTable table = finish(builder);
  REQUIRE(table.file_count() == 2);
  CHECK(std::string(table.file_path(0)) == "/a.c");
  CHECK(std::string(table.file_path(1)) == "/z.c");
  REQUIRE(table.line_count() == 3);
  CHECK(table.line(0)->line == 2);
  CHECK(table.line(1)->line == 9);
  CHECK(table.line(2)->line == 3);
}

TEST_CASE("an empty table is a table", "[linetable][builder]") {
  TableBuilder builder;
  const LineTable table = finish(builder);
  CHECK(table.row_count() == 0);
  CHECK(table.find_chain(0).empty());
}

TEST_CASE("many rows agree with a plain model", "[linetable][builder]") {
  std::mt19937 random(7);
  Sources s;
  constexpr std::uint32_t kSize = 20000;
  std::vector<std::uint32_t> model(kSize, 0);
  std::vector<std::uint32_t> row_at(kSize, 0);
  for (int i = 0; i < 5000; ++i) {
    const std::uint32_t address = static_cast<std::uint32_t>(random()) % kSize;
    const std::uint32_t line = static_cast<std::uint32_t>(random()) % 50 + 1;
    row_at[address] = line;
    s.builder.add_row(address, s.line(line));
  }
  for (std::uint32_t address = 0, line = 0; address < kSize; ++address) {
    if (row_at[address] != 0) line = row_at[address];
    model[address] = line;
  }
  const LineTable table = finish(s.builder);
  std::uint32_t wrong = 0;
  for (std::uint32_t address = 0; address < kSize; ++address) {
    const std::string expected = model[address] == 0 ? "" : "?:" + std::to_string(model[address]);
    wrong += chain(table, address) == expected ? 0 : 1;
  }
  CHECK(wrong == 0);
}
