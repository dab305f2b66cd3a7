#include "json.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "source_path.h"

using coz::linetable::JsonWriter;
using coz::linetable::normalise_source_path;

namespace {

std::string quoted(std::string_view text) { return JsonWriter().string(text).text(); }

}  // namespace

TEST_CASE("JSON values are separated and nested", "[linetable][json]") {
  JsonWriter json;
  json.begin_object().key("a").number(1).key("b").begin_array().string("x").null().boolean(true);
  json.end_array().key("c").begin_object().end_object().end_object();
  CHECK(json.text() == R"({"a": 1, "b": ["x", null, true], "c": {}})");
}

TEST_CASE("JSON strings are escaped", "[linetable][json]") {
  CHECK(quoted("a\"b\\c\n\t\x01") == R"("a\"b\\c\u000a\u0009\u0001")");
  CHECK(quoted("h\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80") ==
        "\"h\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
}

TEST_CASE("what is not UTF-8 becomes U+FFFD", "[linetable][json]") {
  const std::string bad = "\xef\xbf\xbd";
  CHECK(quoted("a\xff z") == "\"a" + bad + " z\"");
  CHECK(quoted("\xc3") == "\"" + bad + "\"");                      // cut short
  CHECK(quoted("\xc0\x80") == "\"" + bad + bad + "\"");            // too long
  CHECK(quoted("\xed\xa0\x80") == "\"" + bad + bad + bad + "\"");  // a surrogate
  CHECK(quoted("\xf4\x90\x80\x80") == "\"" + bad + bad + bad + bad + "\"");
}

TEST_CASE("source paths are normalised", "[linetable][path]") {
  CHECK(normalise_source_path("/build", "a.c") == "/build/a.c");
  CHECK(normalise_source_path("/build", "../src/./a.c") == "/src/a.c");
  CHECK(normalise_source_path("/build", "/x//y/../a.c") == "/x/a.c");
  CHECK(normalise_source_path("/", "../../a.c") == "/a.c");
  CHECK(normalise_source_path("", "./src/a.c") == "src/a.c");
  CHECK(normalise_source_path("", "../a.c") == "../a.c");
  CHECK(normalise_source_path("x", "../../a.c") == "../a.c");
  CHECK(normalise_source_path("/build", "<built-in>") == "<built-in>");
  CHECK(normalise_source_path("", "/build/<artificial>") == "<artificial>");
}
