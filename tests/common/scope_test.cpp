#include "common/scope.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using coz::SourceScope;
using coz::wildcard_match;

TEST_CASE("% matches any run of characters", "[scope]") {
  CHECK(wildcard_match("%", ""));
  CHECK(wildcard_match("%", "/a/b.c"));
  CHECK(wildcard_match("/src/%", "/src/a/b.c"));
  CHECK(wildcard_match("/src/%.c", "/src/a.c/b.c"));
  CHECK(wildcard_match("%a%b%", "xxaxxbxx"));
  CHECK(wildcard_match("a%%b", "ab"));
  CHECK_FALSE(wildcard_match("/src/%.c", "/src/a.cpp"));
  CHECK_FALSE(wildcard_match("/src", "/src/a.c"));
  CHECK_FALSE(wildcard_match("%aab", "aaba"));
  CHECK_FALSE(wildcard_match("", "a"));
  CHECK(wildcard_match("", ""));
  // Exponential in a matcher that tries every wildcard again.
  CHECK_FALSE(wildcard_match("%a%a%a%a%a%a%a%a%a%a%b", std::string(2000, 'a')));
}

TEST_CASE("the default scope is the user's own code", "[scope]") {
  const SourceScope scope;
  for (const char* path :
       {"/home/me/a.c", "/usr/src/app/main.cpp", "/opt/include/mine.h", "/a.rs",
        "/home/me/registry/src/main.rs", "/home/me/registry/src/page-cafe/lib.rs",
        "/home/me/git/checkouts/app/main.rs", "src/a.c"}) {
    INFO(path);
    CHECK(scope.contains(path));
  }
  for (const char* path :
       {"/usr/include/stdio.h",
        "/usr/lib/gcc/x86_64-linux-gnu/12/include/immintrin.h",
        "/usr/lib64/x.h",
        "/usr/local/include/c++/13/vector",
        "/opt/gcc/include/c++/14/bits/x.h",
        "/rustc/0123/library/core/src/iter.rs",
        "/rust/deps/object-0.37.3/src/pod.rs",
        "/home/me/.cargo/registry/src/x/lib.rs",
        "/home/me/.rustup/toolchains/x/lib.rs",
        "/opt/rh/gcc-toolset-13/root/usr/lib/gcc/x86_64-redhat-linux/13/include/avx2intrin.h",
        "/usr/local/lib/clang/18/include/immintrin.h",
        "/usr/local/cargo/registry/src/index.crates.io-6f17d22bba15001f/rand-0.8.5/src/lib.rs",
        "/opt/c/registry/src/github.com-1ecc6299db9ec823/rand-0.8.5/src/lib.rs",
        "/opt/c/git/checkouts/rand-0123456789abcdef/937320c/src/lib.rs",
        "/opt/rust/lib/rustlib/src/rust/library/core/src/iter.rs",
        "../sysdeps/x86_64/start.S",
        "<built-in>",
        "/work/<artificial>",
        "",
        "/usr/include/coz.h",
        "/home/me/include/coz.h"}) {
    INFO(path);
    CHECK_FALSE(scope.contains(path));
  }
  CHECK_FALSE(scope.contains(nullptr));
}

TEST_CASE("patterns replace the default", "[scope]") {
  const SourceScope scope("/src/%.c\n\n/usr/include/mylib/%\n");
  CHECK(scope.contains("/src/deep/a.c"));
  CHECK(scope.contains("/usr/include/mylib/x.h"));
  CHECK_FALSE(scope.contains("/home/a.c"));
}

TEST_CASE("a pattern that is not anchored begins at any component", "[scope]") {
  const SourceScope scope(std::vector<std::string_view>{"src/%.c"});
  CHECK(scope.contains("/home/me/src/a.c"));
  CHECK(scope.contains("src/a.c"));
  CHECK_FALSE(scope.contains("/home/me/mysrc/a.c"));
  CHECK(SourceScope("main.c").contains("/x/main.c"));
  CHECK_FALSE(SourceScope("main.c").contains("/x/domain.c"));
}

TEST_CASE("the profiler's header is never in scope", "[scope]") {
  const SourceScope everything("%");
  CHECK(everything.contains("/usr/include/stdio.h"));
  CHECK_FALSE(everything.contains("/usr/include/coz.h"));
  CHECK_FALSE(everything.contains("coz.h"));
  CHECK(everything.contains("/src/mycoz.h"));
}

TEST_CASE("exclusions go before everything else", "[scope]") {
  const SourceScope scope("src/%\n!src/generated/%");
  CHECK(scope.contains("/home/me/src/a.c"));
  CHECK_FALSE(scope.contains("/home/me/src/generated/a.c"));
  CHECK_FALSE(SourceScope("!a.c\na.c").contains("/a.c"));

  const SourceScope only_exclusions("!%/third_party/%");
  CHECK(only_exclusions.contains("/home/me/a.c"));
  CHECK_FALSE(only_exclusions.contains("/home/me/third_party/a.c"));
  CHECK_FALSE(only_exclusions.contains("/usr/include/stdio.h"));
}

TEST_CASE("regular expressions are found anywhere in a path", "[scope]") {
  const SourceScope scope("re:/src/(a|b)[0-9]+\\.c$\n!re:b2");
  CHECK(scope.contains("/home/me/src/a12.c"));
  CHECK(scope.contains("/home/me/src/b1.c"));
  CHECK_FALSE(scope.contains("/home/me/src/b2.c"));
  CHECK_FALSE(scope.contains("/home/me/src/c1.c"));
  CHECK_FALSE(scope.contains("/home/me/src/a1.cpp"));
  // What is no expression matches nothing.
  CHECK_FALSE(SourceScope("re:(").contains("/a.c"));
  CHECK_FALSE(SourceScope("re:coz").contains("/usr/include/coz.h"));
}
