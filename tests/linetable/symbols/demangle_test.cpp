#include "linetable/symbols/demangle.h"

#include <catch2/catch.hpp>

using coz::linetable::Demangler;

TEST_CASE("names of C++ are demangled") {
  Demangler demangle;
  CHECK(demangle("_ZN3foo3barEi") == "foo::bar(int)");
  CHECK(demangle("_Z4spinILi2EEvv") == "void spin<2>()");
}

TEST_CASE("names of Rust are demangled, without their hash") {
  Demangler demangle;
  CHECK(demangle("_ZN5rtest5heavy17h0123456789abcdefE") == "rtest::heavy");
  CHECK(demangle("_ZN5rtest4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE") ==
        "rtest::main::{{closure}}");
  CHECK(demangle("_RNvCs1234_7mycrate3foo") == "mycrate::foo");
  CHECK(demangle("_RNCNvCs1234_7mycrate4main0B3_") == "mycrate::main::{closure#0}");
}

TEST_CASE("other names stay as they are") {
  Demangler demangle;
  for (const char* name : {"main", "", "_Zx", "_R", "_ZN", "operator new"}) {
    CHECK(demangle(name) == name);
  }
}
