#include "common/json.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

using coz::JsonWriter;

namespace {

std::string json_of(std::string_view text) {
  JsonWriter json;
  json.value(text);
  return json.text();
}

template <typename Value>
std::string written(Value value) {
  JsonWriter json;
  json.value(value);
  return json.text();
}

const std::string kReplaced = "\xef\xbf\xbd";

}  // namespace

TEST_CASE("an empty object and an empty array") {
  JsonWriter object;
  object.begin_object();
  object.end_object();
  CHECK(object.text() == "{}");
  JsonWriter array;
  array.begin_array();
  array.end_array();
  CHECK(array.text() == "[]");
}

TEST_CASE("fields are separated by commas, and nothing else stands between them") {
  JsonWriter json;
  json.begin_object();
  json.field("a", 1);
  json.field("b", "two");
  json.field("c", true);
  json.end_object();
  CHECK(json.text() == R"({"a":1,"b":"two","c":true})");
}

TEST_CASE("arrays and objects nest, with commas after what has closed") {
  JsonWriter json;
  json.begin_object();
  json.key("list").begin_array();
  json.value(1);
  json.begin_object();
  json.field("x", 2);
  json.end_object();
  json.begin_object();
  json.end_object();
  json.begin_array();
  json.end_array();
  json.value(3);
  json.end_array();
  json.key("object").begin_object();
  json.end_object();
  json.field("after", 4);
  json.end_object();
  CHECK(json.text() == R"({"list":[1,{"x":2},{},[],3],"object":{},"after":4})");
}

TEST_CASE("truth values are not numbers, and texts are not truth values") {
  CHECK(written(true) == "true");
  CHECK(written(false) == "false");
  CHECK(written("text") == R"("text")");
  CHECK(written(std::string("text")) == R"("text")");
}

TEST_CASE("integers are written whole") {
  CHECK(written(0) == "0");
  CHECK(written(-1) == "-1");
  CHECK(written(std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808");
  CHECK(written(std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615");
}

TEST_CASE("fractions are written with a point, and as short as they can be read") {
  CHECK(written(0.25) == "0.25");
  CHECK(written(0.0) == "0");
  CHECK(written(1.0) == "1");
  CHECK(written(3.5) == "3.5");
  CHECK(written(1.0 / 3) == "0.333333333");
  CHECK(written(1e20) == "1e+20");
}

TEST_CASE("quotes, backslashes and control characters are escaped") {
  CHECK(json_of(R"(say "hi")") == R"("say \"hi\"")");
  CHECK(json_of(R"(C:\path)") == R"("C:\\path")");
  CHECK(json_of("a\nb\tc") == R"("a\u000ab\u0009c")");
  CHECK(json_of(std::string_view("\0\x1f", 2)) == R"("\u0000\u001f")");
  CHECK(json_of("\x7f/") == "\"\x7f/\"");
}

TEST_CASE("keys are escaped as values are") {
  JsonWriter json;
  json.begin_object();
  json.field("a\"b", 1);
  json.end_object();
  CHECK(json.text() == R"({"a\"b":1})");
}

TEST_CASE("valid UTF-8 stays as it is, to the ends of each length") {
  const std::string text =
      GENERATE("é", "€", "😀", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
               "\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf");
  CHECK(json_of("a" + text + "b") == "\"a" + text + "b\"");
}

TEST_CASE("each byte that is not valid UTF-8 is replaced, and its neighbours are kept") {
  struct Case {
    std::string what;
    std::string bytes;
  };
  const auto invalid = GENERATE(values<Case>({
      {"a continuation alone", "\x80"},
      {"a lead byte alone", "\xc3"},
      {"overlong, two bytes", "\xc0\xaf"},
      {"overlong, two bytes", "\xc1\xbf"},
      {"overlong, three bytes", "\xe0\x9f\xbf"},
      {"overlong, four bytes", "\xf0\x8f\xbf\xbf"},
      {"a surrogate", "\xed\xa0\x80"},
      {"above U+10FFFF", "\xf4\x90\x80\x80"},
      {"no such lead byte", "\xf5\x80\x80\x80"},
      {"no such byte", "\xff"},
      {"cut short", "\xe2\x82"},
      {"cut short", "\xf0\x9f\x98"},
  }));
  CAPTURE(invalid.what);
  std::string replaced;
  for (std::size_t i = 0; i < invalid.bytes.size(); ++i) replaced += kReplaced;
  CHECK(json_of("a" + invalid.bytes + "b") == "\"a" + replaced + "b\"");
  CHECK(json_of("é" + invalid.bytes) == "\"é" + replaced + "\"");
}
