#include "linetable/query/table_queries.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tests/linetable/sample_table.h"
#include "tests/linetable/temporary_folder.h"

using namespace coz::linetable;
using coz::LineTable;
using coz::SourceScope;

namespace {

LineTable table_of(const std::string& bytes) {
  const TemporaryFolder folder;
  write_whole(folder / "table", bytes);
  LineTable table;
  REQUIRE(LineTable::open((folder / "table").c_str(), table) == nullptr);
  return table;
}

LineTable sample() { return table_of(sample_table()); }

}  // namespace

TEST_CASE("FILE:LINE is told from what it is not", "[linetable][queries]") {
  const auto location = parse_location("./src/a.c:10");
  REQUIRE(location);
  CHECK(location->path == "src/a.c");
  CHECK(location->line == 10);
  CHECK(parse_location("/a:b.c:3")->path == "/a:b.c");
  CHECK(parse_location("../../src/a.c:3")->path == "src/a.c");
  for (const char* bad : {"a.c", "a.c:", ":3", "a.c:0", "a.c:-1", "a.c:3x", "a.c:99999999999"}) {
    INFO(bad);
    CHECK_FALSE(parse_location(bad));
  }
}

TEST_CASE("the scope of a table is described", "[linetable][queries]") {
  const LineTable table = sample();
  CHECK(describe_scope(table, SourceScope(), {}) ==
        R"({"lines":4,"functions":2,"files":["/src/a.c","/src/b.h"],)"
        R"("all_files":["/src/a.c","/src/b.h","/usr/include/c.h"],"chosen":[]})");
  CHECK(describe_scope(table, SourceScope("c.h"), {})
            .starts_with(R"({"lines":1,"functions":1,"files":["/usr/include/c.h"],)"));
}

TEST_CASE("files are listed with the program's own first, then by their lines",
          "[linetable][queries]") {
  TableBuilder builder;
  const auto system = builder.add_file("/usr/include/c++/12/vector");
  const auto own = builder.add_file("/src/a.c");
  const auto longer = builder.add_file("/src/b.c");
  builder.add_range(0x10, 0x40, builder.add_function_scope(builder.add_function("f")));
  for (std::uint32_t line = 1; line < 9; ++line) {
    const auto file = line < 5 ? system : line < 6 ? own : longer;
    builder.add_row(0x10 + line, builder.add_line(file, line));
  }
  builder.add_row(0x40, kNoLine);
  const LineTable table = table_of(builder.finish(kSampleBase, kSampleBuildId));
  CHECK(describe_scope(table, SourceScope("%"), {})
            .find(R"("all_files":["/src/b.c","/src/a.c","/usr/include/c++/12/vector"])") !=
        std::string::npos);
}

TEST_CASE("a line is found, or its neighbours are", "[linetable][queries]") {
  const LineTable table = sample();
  const auto answer = [&](const char* line) {
    WantedTargets wanted_targets;
    wanted_targets.lines.push_back({line, parse_location(line).value()});
    const std::string text = describe_scope(table, SourceScope(), wanted_targets);
    return text.substr(text.find("\"found\":"));
  };
  CHECK(
      answer("a.c:10") ==
      R"("found":[{"location":"/src/a.c:10","function":"outer","in_scope":true}],"nearest":[]}]})");
  CHECK(answer("c.h:7").starts_with(
      R"("found":[{"location":"/usr/include/c.h:7","function":"other","in_scope":false}],)"));
  CHECK(answer("a.c:500") == R"("found":[],"nearest":["/src/a.c:12"]}]})");
  CHECK(answer("b.h:1") == R"("found":[],"nearest":["/src/b.h:5"]}]})");
  CHECK(answer("none.c:1") == R"("found":[],"nearest":[]}]})");
}

TEST_CASE("a line's name stands for those in scope that have it", "[linetable][queries]") {
  TableBuilder builder;
  builder.add_range(0x10, 0x40, builder.add_function_scope(builder.add_function("f")));
  std::uint32_t address = 0x10;
  for (const char* path : {"/rustc/lib/a.c", "/src/lib/a.c", "/src/a.c", "/usr/lib/b.c"}) {
    builder.add_row(address++, builder.add_line(builder.add_file(path), 7));
  }
  builder.add_row(0x40, kNoLine);
  const LineTable table = table_of(builder.finish(kSampleBase, kSampleBuildId));
  const auto found = [&](const char* line) {
    WantedTargets wanted_targets;
    wanted_targets.lines.push_back({line, parse_location(line).value()});
    const std::string text = describe_scope(table, SourceScope(), wanted_targets);
    std::string paths;
    constexpr std::string_view kBefore = R"({"location":")";
    for (auto at = text.find(kBefore); at != std::string::npos; at = text.find(kBefore, at + 1)) {
      const std::size_t begin = at + kBefore.size();
      paths += text.substr(begin, text.find('"', begin) - begin) + " ";
    }
    return paths;
  };
  CHECK(found("lib/a.c:7") == "/src/lib/a.c:7 ");
  CHECK(found("a.c:7") == "/src/a.c:7 /src/lib/a.c:7 ");
  CHECK(found("/src/a.c:7") == "/src/a.c:7 ");
  CHECK(found("/rustc/lib/a.c:7") == "/rustc/lib/a.c:7 ");
  CHECK(found("b.c:7") == "/usr/lib/b.c:7 ");
  // Where there is nobody to ask, the first of them.
  const auto in_scope = table.files_in_scope(SourceScope());
  CHECK(table.find_line("a.c", 7, in_scope) == table.find_line("/src/a.c", 7));
  CHECK(table.find_line("b.c", 7, in_scope) == table.find_line("/usr/lib/b.c", 7));
}

TEST_CASE("several lines and functions are looked for at once", "[linetable][queries]") {
  WantedTargets wanted_targets;
  wanted_targets.lines.push_back({"./a.c:12", parse_location("./a.c:12").value()});
  wanted_targets.functions = {"inner", "a.c:outer", "other", "Oter", "nothing_like_it"};
  const std::string text = describe_scope(sample(), SourceScope(), wanted_targets);
  CHECK(text.substr(text.find("\"chosen\":")) ==
        R"("chosen":[{"kind":"line","wanted":"./a.c:12","found":[{"location":"/src/a.c:12",)"
        R"("function":"outer","in_scope":true}],"nearest":[]},)"
        R"({"kind":"function","wanted":"inner","found":[{"location":"/src/b.h:inner",)"
        R"("function":"inner","in_scope":true}],"nearest":[]},)"
        R"({"kind":"function","wanted":"a.c:outer","found":[{"location":"/src/a.c:outer",)"
        R"("function":"outer","in_scope":true}],"nearest":[]},)"
        R"({"kind":"function","wanted":"other","found":[{"location":"/usr/include/c.h:other",)"
        R"("function":"other","in_scope":false}],"nearest":[]},)"
        R"({"kind":"function","wanted":"Oter","found":[],"nearest":["outer","other","inner"]},)"
        R"({"kind":"function","wanted":"nothing_like_it","found":[],"nearest":[]}]})");
}

TEST_CASE("the lines in scope are listed in order", "[linetable][queries]") {
  std::vector<std::string> printed;
  const auto print = [&](const std::string& line) { printed.push_back(line); };
  list_lines(sample(), SourceScope(), false, print);
  CHECK(printed == std::vector<std::string>{
                       R"({"location":"/src/a.c:10","function":"outer"})",
                       R"({"location":"/src/a.c:11","function":"outer"})",
                       R"({"location":"/src/a.c:12","function":"outer"})",
                       R"({"location":"/src/b.h:5","function":"inner"})",
                   });
  printed.clear();
  list_lines(sample(), SourceScope(), true, print);
  CHECK(printed == std::vector<std::string>{
                       R"({"location":"/src/a.c:outer","function":"outer"})",
                       R"({"location":"/src/b.h:inner","function":"inner"})",
                   });
}
