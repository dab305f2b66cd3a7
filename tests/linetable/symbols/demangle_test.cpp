#include "linetable/symbols/demangle.h"

#include <catch2/catch.hpp>

using coz::linetable::demangled;

TEST_CASE("names of C++ are demangled") {
  CHECK(demangled("_ZN3foo3barEi") == "foo::bar(int)");
  CHECK(demangled("_Z4spinILi2EEvv") == "void spin<2>()");
}

TEST_CASE("names of Rust are demangled, without their hash") {
  CHECK(demangled("_ZN5rtest5heavy17h0123456789abcdefE") == "rtest::heavy");
  CHECK(demangled("_ZN5rtest4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE") ==
        "rtest::main::{{closure}}");
  CHECK(demangled("_RNvCs1234_7mycrate3foo") == "mycrate::foo");
  CHECK(demangled("_RNCNvCs1234_7mycrate4main0B3_") == "mycrate::main::{closure#0}");
}

TEST_CASE("other names stay as they are") {
  for (const char* name : {"main", "", "_Zx", "_R", "_ZN", "operator new"}) {
    CHECK(demangled(name) == name);
  }
}
