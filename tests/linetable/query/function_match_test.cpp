#include "linetable/query/function_match.h"

#include <catch2/catch.hpp>

using namespace coz::linetable;

TEST_CASE("a function's bare name", "[linetable][queries]") {
  CHECK(bare_function_name("main") == "main");
  CHECK(bare_function_name("ns::f(int, char*)") == "ns::f");
  CHECK(bare_function_name("(anonymous namespace)::f(int)") == "(anonymous namespace)::f");
  CHECK(bare_function_name("ns::(anonymous namespace)::f(int) const") ==
        "ns::(anonymous namespace)::f");
  CHECK(bare_function_name("std::vector<int> ns::f<int, (A)0>(void (*)(int))") == "ns::f");
  CHECK(bare_function_name("C::operator()(int) const") == "C::operator()");
  CHECK(bare_function_name("bool operator< <int>(A<int> const&)") == "bool operator< <int>");
  CHECK(bare_function_name("void ns::operators<int>(int)") == "ns::operators");
  CHECK(bare_function_name("ns::cooperator(int)") == "ns::cooperator");
  CHECK(bare_function_name("int cooperator::run<char>(char)") == "cooperator::run");
  CHECK(bare_function_name("f(int) [clone .cold]") == "f");
  CHECK(bare_function_name("C::f() const &") == "C::f");
  CHECK(bare_function_name("f(int)::{lambda(int)#1}::operator()(int) const") ==
        "f(int)::{lambda(int)#1}::operator()");
  CHECK(bare_function_name("core::str::parse") == "core::str::parse");
  for (const char* odd : {"", "(", ")", "<", ">", "()", "a)", "a>", " "}) {
    INFO(odd);
    CHECK(bare_function_name(odd).size() <= std::string_view(odd).size());
  }
}

TEST_CASE("what names a function", "[linetable][queries]") {
  const char* name = "int ns::C::f<int>(int)";
  for (const char* wanted :
       {"int ns::C::f<int>(int)", "ns::C::f", "C::f", "f", "a.cc:ns::C::f", "src/a.cc:ns::C::f",
        "a.cc:f", "a.cc:C::f", "/src/a.cc:int ns::C::f<int>(int)"}) {
    INFO(wanted);
    CHECK(matches_function(wanted, name, "/src/a.cc"));
  }
  CHECK(matches_function("c:d/a.cc:C::f", name, "/src/c:d/a.cc"));
  for (const char* wanted :
       {"", "g", "s::C::f", ":f", "C", "b.cc:ns::C::f", "ns::C", "a.cc:", "b.cc:f", "a.cc:::f"}) {
    INFO(wanted);
    CHECK_FALSE(matches_function(wanted, name, "/src/a.cc"));
  }
}

TEST_CASE("how much names resemble each other", "[linetable][queries]") {
  CHECK(name_distance("Parse", "parse_line") == 0);
  CHECK(name_distance("parse_lines", "parse_line") == 0);
  CHECK(name_distance("prase", "parse") == 2);
  CHECK(name_distance("prse", "parse") == 1);
  CHECK(name_distance("abc", "xyz") == 3);
}
