#include "queries.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/linetable/sample_table.h"
#include "tests/linetable/temporary_folder.h"

using namespace coz::linetable;
using coz::LineTable;
using coz::SourceScope;

namespace {

LineTable sample() {
  const TemporaryFolder folder;
  write_whole(folder / "table", sample_table());
  LineTable table;
  REQUIRE(LineTable::open((folder / "table").c_str(), table) == nullptr);
  return table;
}

}  // namespace

TEST_CASE("FILE:LINE is told from what it is not", "[linetable][queries]") {
  const auto location = parse_location("./src/a.c:10");
  REQUIRE(location);
  CHECK(location->path == "src/a.c");
  CHECK(location->line == 10);
  CHECK(parse_location("/a:b.c:3")->path == "/a:b.c");
  for (const char* bad : {"a.c", "a.c:", ":3", "a.c:0", "a.c:-1", "a.c:3x", "a.c:99999999999"}) {
    INFO(bad);
    CHECK_FALSE(parse_location(bad));
  }
}

TEST_CASE("the scope of a table is described", "[linetable][queries]") {
  const LineTable table = sample();
  CHECK(describe_scope(table, SourceScope(), {}) ==
        R"({"lines":4,"files":["/src/a.c","/src/b.h"],)"
        R"("all_files":["/src/a.c","/src/b.h","/usr/include/c.h"],"line":null,"nearest":[]})");
  CHECK(describe_scope(table, SourceScope("c.h"), {})
            .starts_with(R"({"lines":1,"files":["/usr/include/c.h"],)"));
}

TEST_CASE("a line is found, or its neighbours are", "[linetable][queries]") {
  const LineTable table = sample();
  const auto answer = [&](const char* line) {
    const std::string text = describe_scope(table, SourceScope(), parse_location(line));
    return text.substr(text.find("\"line\":"));
  };
  CHECK(answer("a.c:10") ==
        R"("line":{"location":"/src/a.c:10","function":"outer"},"nearest":[]})");
  CHECK(answer("a.c:500") == R"("line":null,"nearest":["/src/a.c:12"]})");
  CHECK(answer("b.h:1") == R"("line":null,"nearest":["/src/b.h:5"]})");
  CHECK(answer("none.c:1") == R"("line":null,"nearest":[]})");
}

TEST_CASE("the lines in scope are listed in order", "[linetable][queries]") {
  std::vector<std::string> printed;
  list_lines(sample(), SourceScope(), [&](const std::string& line) { printed.push_back(line); });
  CHECK(printed == std::vector<std::string>{
                       R"({"location":"/src/a.c:10","function":"outer"})",
                       R"({"location":"/src/a.c:11","function":"outer"})",
                       R"({"location":"/src/a.c:12","function":"outer"})",
                       R"({"location":"/src/b.h:5","function":"inner"})",
                   });
}
