// Locations where one function is described in several places, or inside another.
#include <catch2/catch.hpp>
#include <fstream>
#include <string>
#include <vector>

#include "linetable/query/location_query.h"
#include "tests/linetable/compiled_program.h"
#include "tests/linetable/query/asking.h"
#include "tests/linetable/temporary_folder.h"

using namespace coz::linetable;

namespace {

// Compiles each of the `sources`, NAME.cc, on its own in `folder`, and links them as `program`.
bool compile_each(const TemporaryFolder& folder, const std::string& flags,
                  const std::vector<std::string>& sources, const std::string& compiler = "g++") {
  std::string compile = "cd " + folder.path();
  std::string link = " && g++ -o program";
  for (const std::string& name : sources) {
    compile += " && " + compiler + " " + flags + " -c " + name + ".cc -o " + name + ".o";
    link += " " + name + ".o";
  }
  return shell(compile + link);
}

constexpr const char* kQueue = R"(inline volatile int sink;
inline __attribute__((always_inline)) int step(int n) {
  sink = n;
  return sink + n;
}
struct Queue {
  __attribute__((noinline, noclone)) int push(int n) {
    sink = 7 * n;
    return step(n + 1) + step(n);
  }
};
)";

}  // namespace

TEST_CASE("an inline function that several units have is visited once", "[linetable][locations]") {
  const std::string flags = GENERATE("-g -O0", "-g -O2", "-g -O2 -gdwarf-4", "-g -O2 -gsplit-dwarf",
                                     "-g -O2 -gdwarf-4 -gsplit-dwarf");
  INFO(flags);
  const TemporaryFolder folder;
  std::ofstream(folder / "queue.h") << kQueue;
  for (const std::string name : {"one", "two"}) {
    std::ofstream(folder / (name + ".cc"))
        << "#include \"queue.h\"\nint " << name << "(int n) { return Queue().push(n); }\n";
  }
  std::ofstream(folder / "main.cc")
      << "#include \"queue.h\"\nint one(int);\nint two(int);\n"
         "int main(int n, char**) { return one(n) + two(n) + Queue().push(n); }\n";
  REQUIRE(compile_each(folder, flags, {"one", "two", "main"}));
  const auto answers = ask(folder / "program", {"queue.h:8", "push", "step", "queue.h:3"});
  CHECK(addresses(answers[0]) == 1);
  CHECK(addresses(answers[1]) == 1);
  // Two calls, in the one push().
  CHECK(addresses(answers[2]) == 2);
  CHECK(addresses(answers[3]) == 2);
}

// The bodies of a lambda and of a local class stand inside the function around them, also where, as
// of inlined(), only the description of what is inlined is left.
TEST_CASE("what is defined inside a function is found", "[linetable][locations]") {
  const std::string flags = GENERATE("-g -O0", "-g -O2", "-g -O2 -gdwarf-4");
  INFO(flags);
  const TemporaryFolder folder;
  std::ofstream(folder / "main.cc") << R"(static volatile int sink;
inline __attribute__((always_inline)) int inlined(int n) {
  struct Local {
    static __attribute__((noinline, noclone)) int twice(int k) {
      sink = k;
      return 2 * k;
    }
  };
  const auto lambda = [](int k) __attribute__((noinline, noclone)) {
    sink = k + 1;
    return k + sink;
  };
  return Local::twice(n) + lambda(n);
}
inline __attribute__((noinline, noclone)) int outside(int n) {
  const auto count = [](int k) __attribute__((noinline, noclone)) {
    sink = k + 2;
    return k - sink;
  };
  return count(n);
}
int main(int argc, char**) { return inlined(argc) + outside(argc); }
)";
  REQUIRE(compile_each(folder, flags, {"main"}));
  const auto answers =
      ask(folder / "program", {"main.cc:5", "twice", "main.cc:10", "main.cc:17", "%lambda%"});
  for (std::size_t i = 0; i < 4; ++i) {
    INFO(answers[i].name);
    REQUIRE(addresses(answers[i]) == 1);
  }
  CHECK(answers[0].found[0].function == "inlined(int)::Local::twice(int)");
  CHECK(answers[1].found[0].location == folder / "main.cc:inlined(int)::Local::twice(int)");
  CHECK(answers[2].found[0].function.starts_with("inlined(int)::{lambda(int)#1}::operator()"));
  CHECK(answers[3].found[0].function.starts_with("outside(int)::{lambda(int)#1}::operator()"));
  REQUIRE(answers[4].found.size() == 2);
  for (const FoundLocation& lambda : answers[4].found) CHECK(lambda.addresses.size() == 1);
}
