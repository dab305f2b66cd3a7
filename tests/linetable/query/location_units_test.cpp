// Locations where one function is described in several places, or inside another.
#include <catch2/catch.hpp>
#include <cstdint>
#include <fstream>
#include <set>
#include <sstream>
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

TEST_CASE("a function's file has the path that the line table has", "[linetable][locations]") {
  const std::string compiler = has_tool("clang++") ? GENERATE("g++", "clang++") : "g++";
  const std::string flags = GENERATE("-O2 -gdwarf-4", "-O2 -gdwarf-5",
                                     "-O2 -gdwarf-4 -gsplit-dwarf", "-O2 -gdwarf-5 -gsplit-dwarf");
  INFO(compiler << " " << flags);
  const TemporaryFolder folder;
  REQUIRE(shell("mkdir " + (folder / "src")));
  std::ofstream(folder / "src/shop.h") << "static volatile int sink;\n"
                                          "inline __attribute__((always_inline)) int pay(int n) {\n"
                                          "  sink = n;\n"
                                          "  return sink + n;\n"
                                          "}\n"
                                          "inline __attribute__((always_inline)) int buy(int n) {\n"
                                          "  return pay(n);\n"
                                          "}\n";
  std::ofstream(folder / "src/main.cc")
      << "#include \"shop.h\"\n"
         "__attribute__((noinline)) int turn(int n) { return buy(n) + buy(n + 1); }\n"
         "int main(int argc, char**) { return turn(argc); }\n";
  REQUIRE(compile_each(folder, flags, {"src/main"}, compiler));
  const std::string src = folder / "src/";
  const auto answers = ask(folder / "program", {src + "main.cc:turn", src + "shop.h:pay(int)",
                                                src + "shop.h:3", src + "shop.h:7"});
  for (const LocationAnswer& answer : answers) {
    INFO(answer.name);
    REQUIRE(answer.found.size() == 1);
    CHECK(answer.found[0].location.starts_with(src));
  }
  CHECK(addresses(answers[0]) == 1);
  CHECK(addresses(answers[1]) == 2);
}

TEST_CASE("a function's file is that of the unit that dwz moved it to", "[linetable][locations]") {
  if (!has_tool("dwz")) return;
  const TemporaryFolder folder;
  for (const std::string name : {"one", "two"}) {
    REQUIRE(compile_cpp("-std=c++20 -gdwarf-4 -O2", "templates.cc", folder / name));
  }
  const auto before = ask(folder / "one", {"%"});
  REQUIRE(shell("cd " + folder.path() + " && dwz -m shared.debug -M shared.debug one two"));
  const auto after = ask(folder / "one", {"%"});
  const auto locations = [](const LocationAnswer& answer) {
    std::vector<std::string> found;
    for (const FoundLocation& each : answer.found) found.push_back(each.location);
    return found;
  };
  CHECK(locations(after[0]) == locations(before[0]));
}

TEST_CASE("functions with internal linkage are told apart by what is around them",
          "[linetable][locations]") {
  const TemporaryFolder folder;
  for (const char* flags : {"-g -O0", "-g -O2", "-g -O2 -gdwarf-4 -fdebug-types-section"}) {
    INFO(flags);
    REQUIRE(compile_cpp(flags, "internal.cc", folder / "program"));
    const auto answers = ask(
        folder / "program", {"First::run", "(anonymous namespace)::Second::run", "Holder<int>::run",
                             "Local::run", "shop::work::{lambda#1}::operator()",
                             "shop::work::{lambda#2}::operator()", "shop::inlined"});
    for (const LocationAnswer& answer : answers) {
      INFO(answer.name);
      REQUIRE(addresses(answer) == 1);
    }
    CHECK(answers[0].found[0].location.ends_with("internal.cc:First::run"));
    CHECK(answers[4].found[0].addresses[0].address != answers[5].found[0].addresses[0].address);
    CHECK(ask(folder / "program", {"internal.cc:run"})[0].found.size() == 5);
  }
}

TEST_CASE("lambdas and types without a name are numbered by unit", "[linetable][locations]") {
  const TemporaryFolder folder;
  for (const char* name : {"one", "two"}) {
    std::ofstream(folder / (std::string(name) + ".cc"))
        << "#include <cstdlib>\n#include <cwchar>\n"  // which declare types without a name
        << "static long total;\nextern int argument;\n"
        << "static auto add = [](int n) __attribute__((noinline)) { total += n * 3; };\n"
        << "static auto cut = [](int n) __attribute__((noinline)) { total -= n * 5; };\n"
        << "namespace {\nauto mix = [](auto n) __attribute__((noinline)) { total ^= n * 7; };\n"
        << "typedef struct { [[gnu::noinline]] void run(int n) { total ^= n; } } Tool;\n"
        << "typedef struct { [[gnu::noinline]] void run(int n) { total += n; } } Other;\n}\n"
        << "long use_" << name << "() { add(argument); cut(argument); mix(argument);"
        << " Tool().run(argument); Other().run(argument); return total; }\n";
  }
  std::ofstream(folder / "main.cc") << "int argument = 3;\nlong use_one(), use_two();\n"
                                    << "int main() { return use_one() + use_two() > 7; }\n";
  REQUIRE(compile_each(folder, "-g -O1", {"one", "two", "main"}));
  const auto answers =
      ask(folder / "program", {"one.cc:{lambda#1}::operator()", "two.cc:{lambda#2}::operator()",
                               "one.cc:{lambda#3}::operator()<int>", "one.cc:{unnamed type#1}::run",
                               "one.cc:{unnamed type#2}::run"});
  for (const LocationAnswer& answer : answers) {
    INFO(answer.name);
    CHECK(addresses(answer) == 1);
  }
}

// A function that the linker removed seems to begin at 0, and may reach into the code that is left.
TEST_CASE("lines of removed code are found only where instructions begin",
          "[linetable][locations]") {
  constexpr int kLines = 500;
  const TemporaryFolder folder;
  {
    std::ofstream source(folder / "main.c");
    source << "__attribute__((noinline)) int step(int v) { return v * 7; }\nint removed(int v) {\n";
    for (int i = 0; i < kLines; ++i)
      source << "  v += step(v ^ " << i << "); asm volatile(\"\");\n";
    source << "  return v;\n}\nint main(int n, char** v) { return step(n * 3) + step(v[0][0]); }\n";
  }
  REQUIRE(
      shell("cd " + folder.path() +
            " && gcc -g -O2 -ffunction-sections -pie -fPIE -Wl,--gc-sections -o program main.c"));
  std::istringstream listing(output_of("objdump -d --no-show-raw-insn " + (folder / "program") +
                                       " | sed -n 's/^ *\\([0-9a-f]*\\):.*/\\1/p'"));
  std::set<std::uint64_t> instructions;
  for (std::string address; listing >> address;)
    instructions.insert(std::stoull(address, nullptr, 16));
  REQUIRE(*instructions.begin() < kLines * 10);  // what was removed reaches so far
  std::vector<std::string> names;
  for (int i = 0; i < kLines; ++i) names.push_back("main.c:" + std::to_string(3 + i));
  for (const LocationAnswer& answer : ask(folder / "program", names)) {
    for (const FoundLocation& location : answer.found) {
      for (const LocationAddress& address : location.addresses) {
        INFO(answer.name << " at " << address.address);
        CHECK(instructions.contains(address.address));
      }
    }
  }
  CHECK(addresses(ask(folder / "program", {"main.c:1"})[0]) == 1);
}
