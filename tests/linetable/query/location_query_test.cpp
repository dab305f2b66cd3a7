#include "linetable/query/location_query.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <string>
#include <vector>

#include "linetable/machine/breakpoint_costs.h"
#include "linetable/query/bypassing_loops.h"
#include "linetable/query/location_functions.h"
#include "linetable/query/location_lines.h"
#include "tests/linetable/compiled_program.h"
#include "tests/linetable/query/asking.h"
#include "tests/linetable/temporary_folder.h"

using namespace coz::linetable;

namespace {

// "passes.cc:LINE" of the line that ends in `// mark`.
std::string line_with(const std::string& mark) {
  std::ifstream source(programs_folder() + "/passes.cc");
  int number = 0;
  for (std::string line; std::getline(source, line);) {
    ++number;
    if (line.ends_with("// " + mark)) return "passes.cc:" + std::to_string(number);
  }
  FAIL(mark);
  return {};
}

}  // namespace

TEST_CASE("lines and functions are found in a compiled program", "[linetable][locations]") {
  const TemporaryFolder folder;
  for (const char* flags : {"-g -O0", "-g -O1", "-g -O2", "-g -O2 -no-pie", "-g -O2 -gdwarf-4"}) {
    INFO(flags);
    REQUIRE(compile_cpp(flags, "passes.cc", folder / "program"));
    const auto answers =
        ask(folder / "program", {line_with("BODY"), line_with("RARE"), "once", "shop::once",
                                 "passes.cc:turn", "turn%", "inlined", line_with("INLINED")});
    for (std::size_t i = 0; i < 6; ++i) {
      INFO(answers[i].name);
      CHECK(addresses(answers[i]) == 1);
      CHECK(answers[i].nearest.empty());
    }
    CHECK(answers[0].is_line);
    CHECK(answers[0].found[0].location.ends_with("/programs/" + line_with("BODY")));
    CHECK(answers[0].found[0].function == "turn(int)");
    CHECK(answers[2].found[0].function == "shop::once(int)");
    CHECK(answers[2].found[0].addresses[0].address == answers[3].found[0].addresses[0].address);
    CHECK(answers[4].found[0].addresses[0].address == answers[5].found[0].addresses[0].address);
    // Where it is inlined, three times.
    CHECK(addresses(answers[6]) == 3);
    CHECK(addresses(answers[7]) == 3);
    for (const LocationAnswer& answer : answers) {
      for (const FoundLocation& location : answer.found) {
        for (const LocationAddress& address : location.addresses) {
          CHECK(address.no_instruction.empty());
          CHECK(address.no_breakpoint.empty());
        }
      }
    }
  }
}

TEST_CASE("a line that only makes inlined calls is reached where they begin",
          "[linetable][locations]") {
  const TemporaryFolder folder;
  for (const char* flags : {"-g -O0", "-g -O1", "-g -O2", "-g -O2 -gdwarf-4"}) {
    INFO(flags);
    REQUIRE(compile_cpp(flags, "passes.cc", folder / "program"));
    const auto answers = ask(folder / "program", {line_with("CALL")});
    CHECK(addresses(answers[0]) == 1);
    CHECK(answers[0].found[0].function == "rounds(int)");
  }
}

TEST_CASE("functions of split debug information are found", "[linetable][locations]") {
  const TemporaryFolder folder;
  for (const char* version : {"-gdwarf-4", "-gdwarf-5"}) {
    INFO(version);
    REQUIRE(shell("cd " + folder.path() + " && gcc -O1 -gsplit-dwarf " + version + " -c " +
                  programs_folder() + "/main.c -o main.o && gcc -O1 -c " + programs_folder() +
                  "/second.c -o second.o && gcc main.o second.o -o program"));
    CHECK(addresses(ask(folder / "program", {"main"})[0]) == 1);
  }
}

TEST_CASE("names that stand for no location, or several", "[linetable][locations]") {
  const TemporaryFolder folder;
  REQUIRE(compile_cpp("-g -O1", "passes.cc", folder / "program"));
  const auto answers = ask(folder / "program", {"pay", "shop::Till::pay(int)", "passes.cc:1",
                                                "none.cc:1", "turm", "other.cc:turn", "shop::%"});
  CHECK(answers[0].found.size() == 2);
  CHECK(addresses(answers[1]) == 1);
  CHECK(answers[2].found.empty());
  CHECK(answers[2].nearest.size() == 1);
  CHECK(answers[3].nearest.empty());
  CHECK(answers[4].nearest == std::vector<std::string>{"turn(int)"});
  CHECK(answers[5].found.empty());
  CHECK(answers[6].found.size() >= 3);
}

TEST_CASE("a function that begins with its loop is not counted", "[linetable][locations]") {
  const TemporaryFolder folder;
  REQUIRE(compile_cpp("-g -O2", "passes.cc", folder / "program"));
  const auto answers = ask(folder / "program", {"wait_until"});
  REQUIRE(answers[0].found.size() == 1);
  bool some = false;
  for (const LocationAddress& address : answers[0].found[0].addresses) {
    some = some || !address.no_breakpoint.empty();
  }
  const std::string code = output_of("objdump -d --no-show-raw-insn " + (folder / "program"));
  const std::size_t begin = code.find("<_Z10wait_untili>:");
  const std::size_t end = code.find("\n\n", begin);
  // If the compiler has made it so: some jump goes to its very beginning.
  CHECK(some == (code.substr(begin, end - begin).find("<_Z10wait_untili>\n") != std::string::npos));
}

TEST_CASE("functions without debug information are known by their symbols",
          "[linetable][locations]") {
  const TemporaryFolder folder;
  REQUIRE(compile_cpp("-O1", "passes.cc", folder / "program"));
  const auto answers = ask(folder / "program", {"turn", "shop::Till::pay(double)", "pay"});
  CHECK(addresses(answers[0]) == 1);
  CHECK(answers[0].found[0].function == "turn(int)");
  CHECK(addresses(answers[1]) == 1);
  CHECK(answers[2].found.empty());  // a symbol has no class to be left out
}

TEST_CASE("names fit whole, bare or plain", "[linetable][locations]") {
  const FunctionName name{"ns::Queue<int>::push(int)", "push", "/src/q.h"};
  CHECK(fit_of("ns::Queue<int>::push(int)", name) == Fit::kWhole);
  CHECK(fit_of("%push(int)", name) == Fit::kWhole);
  CHECK(fit_of("ns::Queue<int>::push", name) == Fit::kBare);
  CHECK(fit_of("push", name) == Fit::kPlain);
  CHECK(fit_of("pus", name) == Fit::kNone);
  CHECK(fit_of("apply", {"void apply<long>(long)", "apply<long>", ""}) == Fit::kBare);
  CHECK(fit_of("operator<", {"ns::operator<(int)", "operator<", ""}) == Fit::kPlain);
}

TEST_CASE("of the rows of a line, one a pass is chosen", "[linetable][locations]") {
  ElfFile self;
  REQUIRE(self.open("/proc/self/exe") == nullptr);
  const CodeBytes code(self);
  using Rows = std::vector<LineRow>;
  using Addresses = std::vector<std::uint64_t>;
  const auto row = [](std::uint64_t address, int column, std::uint64_t scope = 1) {
    return LineRow{address, scope, false, false, true, column};
  };
  // Parts of a statement, after other lines: only its beginning.
  CHECK(choose_rows(Rows{row(1, 5), row(3, 9)}, code) == Addresses{1});
  // Copies of it (an unrolled loop): each.
  CHECK(choose_rows(Rows{row(1, 5), row(3, 9), row(7, 5), row(9, 9)}, code) == Addresses{1, 7});
  // Without columns they cannot be told apart.
  CHECK(choose_rows(Rows{row(1, 0), row(3, 0)}, code) == Addresses{1});
  // In two copies of the function: in each.
  CHECK(choose_rows(Rows{row(1, 5, 1), row(3, 9, 2)}, code) == Addresses{1, 3});
  // What follows directly is the same pass.
  Rows run = {row(1, 5), row(3, 5)};
  run[1].follows = true;
  CHECK(choose_rows(run, code) == Addresses{1});
  // Rows that begin no statement don't count where one does.
  Rows scheduled = {row(1, 5), row(3, 5), row(5, 5)};
  scheduled[0].is_statement = scheduled[2].is_statement = false;
  CHECK(choose_rows(scheduled, code) == Addresses{3});
  scheduled[1].is_statement = false;
  CHECK(choose_rows(scheduled, code) == Addresses{1});
  // The main part comes before the cold one, wherever they lie.
  Rows cold = {row(1, 9), row(3, 5)};
  cold[0].is_aside = true;
  CHECK(choose_rows(cold, code) == Addresses{3});
  cold[1].is_statement = false;
  CHECK(choose_rows(cold, code) == Addresses{3});
  cold[1].is_aside = true;
  CHECK(choose_rows(cold, code) == Addresses{1});
  CHECK(choose_rows({}, code).empty());
}

#if defined(__x86_64__)
// Offsets of the instructions of `code` within the program that it is made into.
class Assembled {
 public:
  explicit Assembled(const std::string& code) {
    std::ofstream(folder_ / "code.s") << "  .globl main\n  .type main, @function\nmain:\n"
                                      << code
                                      << "  .size main, .-main\n"
                                         "  .section .note.GNU-stack, \"\", @progbits\n";
    REQUIRE(shell("gcc -o " + (folder_ / "program") + " " + (folder_ / "code.s")));
    REQUIRE(file_.open(folder_ / "program") == nullptr);
    begin_ = ask(folder_ / "program", {"main"})[0].found.at(0).addresses.at(0).address;
  }

  // Whether counting at the offset `counted` misses visits of the code from `begin` to `end`.
  bool misses(std::uint64_t counted, std::uint64_t begin, std::uint64_t end, std::uint64_t size) {
    const std::vector<std::uint64_t> addresses = {begin_ + counted};
    const std::vector<CodeExtent> own = {{begin_ + begin, begin_ + end}};
    const std::vector<CodeExtent> function = {{begin_, begin_ + size}};
    return has_bypassing_loop(addresses, own, function, CodeBytes(file_));
  }

 private:
  TemporaryFolder folder_;
  ElfFile file_;
  std::uint64_t begin_ = 0;
};

TEST_CASE("a loop that does not pass where visits are counted is found", "[linetable][locations]") {
  // 0 nop, 1 nop, 2 nop, 3 dec (2 bytes), 5 jne to 2, 7 ret
  Assembled loop("  nop\n  nop\n1: nop\n  dec %eax\n  jne 1b\n  ret\n");
  CHECK(loop.misses(1, 1, 3, 8));        // moved before the loop, which is the caller's
  CHECK_FALSE(loop.misses(2, 1, 3, 8));  // counted in the loop
  CHECK_FALSE(loop.misses(1, 1, 7, 8));  // the loop is its own
  CHECK_FALSE(loop.misses(0, 0, 2, 8));  // nothing of it is in a loop
  // 0 nop, 1 dec, 3 je to 8, 5 nop, 6 jmp to 1, 8 ret: the beginning is passed on every way round.
  Assembled around("  nop\n1: dec %eax\n  je 2f\n  nop\n  jmp 1b\n2: ret\n");
  CHECK_FALSE(around.misses(1, 1, 6, 9));
  CHECK_FALSE(around.misses(5, 5, 6, 9));
  CHECK(around.misses(0, 0, 6, 9));
  // 0 dec, 2 jne to 6, 4 jmp to 0, 6 nop, 7 jmp to 0: one of two ways round passes the 6.
  Assembled branch("1: dec %eax\n  jne 2f\n  jmp 1b\n2: nop\n  jmp 1b\n");
  CHECK(branch.misses(6, 0, 2, 9));
  CHECK_FALSE(branch.misses(6, 6, 7, 9));
}

TEST_CASE("a function known by its symbol is not counted where its loop begins",
          "[linetable][locations]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "loops.s") << "  .globl main\n  .type main, @function\n"
                                       "main:\n  call begins\n  call has\n  ret\n"
                                       "  .size main, .-main\n"
                                       "  .type begins, @function\n"
                                       "begins:\n  dec %eax\n  jne begins\n  ret\n"
                                       "  .size begins, .-begins\n"
                                       "  .type has, @function\n"
                                       "has:\n  nop\n1: dec %eax\n  jne 1b\n  ret\n"
                                       "  .size has, .-has\n"
                                       "  .section .note.GNU-stack, \"\", @progbits\n";
  REQUIRE(shell("gcc -o " + (folder / "program") + " " + (folder / "loops.s")));
  const auto answers = ask(folder / "program", {"begins", "has"});
  REQUIRE(addresses(answers[0]) == 1);
  REQUIRE(addresses(answers[1]) == 1);
  CHECK_FALSE(answers[0].found[0].addresses[0].no_breakpoint.empty());
  CHECK(answers[1].found[0].addresses[0].no_breakpoint.empty());
}

TEST_CASE("each address has a plan for a breakpoint instruction, or a reason why not",
          "[linetable][locations]") {
  const TemporaryFolder folder;
  const std::string source = folder / "two.s";
  std::ofstream(source) << R"(
  .globl main
  .type main, @function
main:
  call traps
  ret
  .size main, .-main
  .type traps, @function
traps:
  int3
  ret
  .size traps, .-traps
  .section .note.GNU-stack, "", @progbits
)";
  REQUIRE(shell("gcc -o " + (folder / "program") + " " + source));
  const auto answers = ask(folder / "program", {"main", "traps"});
  REQUIRE(addresses(answers[0]) == 1);
  REQUIRE(addresses(answers[1]) == 1);
  const LocationAddress& begins = answers[0].found[0].addresses[0];
  const LocationAddress& traps = answers[1].found[0].addresses[0];
  CHECK(begins.no_instruction.empty());
  const auto plan = coz::parse_patch_plan(begins.patch);
  REQUIRE(plan);
  // The call: main is six bytes long.
  const std::vector<std::uint8_t> call = {0xe8, 1, 0, 0, 0};
  CHECK(plan->original == call);
  CHECK(plan->addresses_at.size() == 2);
  CHECK(traps.patch.empty());
  CHECK(traps.no_instruction == "the instruction there cannot be executed elsewhere");
  const std::string text = to_json(answers);
  CHECK(text.find("\"patch\":\"e801000000/") != std::string::npos);
}
#endif

TEST_CASE("the machine's breakpoints are measured", "[linetable][locations]") {
  const BreakpointCosts costs = measure_breakpoints();
  CHECK((costs.hardware_free > 0) == costs.hardware_error.empty());
  if (costs.hardware_free > 0) CHECK(costs.hardware_visit > 0);
#if defined(__x86_64__)
  CHECK(costs.has_instruction);
  CHECK(costs.instruction_visit > 0);
#endif
}
