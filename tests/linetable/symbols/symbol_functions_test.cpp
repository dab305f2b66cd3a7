// Functions without debug information, of real compilations.
#include "linetable/symbols/symbol_functions.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "common/line_table.h"
#include "linetable/cache/build_table.h"
#include "linetable/query/table_queries.h"
#include "tests/linetable/compiled_program.h"
#include "tests/linetable/innermost_in_scope.h"
#include "tests/linetable/temporary_folder.h"

using namespace coz::linetable;
using coz::Lineless;
using coz::LineLocation;
using coz::LineTable;

namespace {

constexpr const char* kSources = "functions.c assembler.s";

struct Built {
  BuildResult result;
  LineTable table;
};

Built table_of(const std::string& binary, const std::string& cache, bool functions = true) {
  BuildOptions options;
  options.binary = binary;
  options.cache_dir = cache;
  options.search.folders = {};
  options.functions = functions;
  Built built{build_table(options), {}};
  INFO(to_json(built.result));
  REQUIRE(built.result.error == BuildError::kNone);
  REQUIRE(LineTable::open(built.result.table.c_str(), built.table) == nullptr);
  return built;
}

struct NamedCode {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
};

// What nm says of the functions of a binary that is not stripped.
std::map<std::string, NamedCode> functions_by_nm(const std::string& binary) {
  std::istringstream output(output_of("nm -f posix --defined-only " + binary));
  std::map<std::string, NamedCode> functions;
  for (std::string line; std::getline(output, line);) {
    std::istringstream fields(line);
    std::string name;
    char type = 0;
    NamedCode code;
    fields >> name >> type >> std::hex >> code.begin >> code.size;
    if (std::string("TtWwi").find(type) != std::string::npos) functions[name] = code;
  }
  return functions;
}

// The outermost function at an address; empty where there is none.
std::string function_at(const LineTable& table, std::uint64_t address) {
  const auto chain = table.find_chain(address - table.base_address());
  if (chain.empty()) return "";
  const char* name = table.function_name(chain.back().function);
  return name == nullptr ? "?" : name;
}

std::string by_place(std::uint64_t address) {
  std::ostringstream name;
  name << "program+0x" << std::hex << address;
  return name.str();
}

}  // namespace

TEST_CASE("without debug information functions have their symbols' names",
          "[linetable][symbols][compile]") {
  const std::string position = GENERATE("-fPIE -pie", "-fno-pie -no-pie");
  const TemporaryFolder folder;
  const std::string binary = folder / "program";
  REQUIRE(compile_c("-g0 -O2 " + position, kSources, binary));
  const auto [result, table] = table_of(binary, folder / "cache");
  CHECK(result.debug_file.empty());
  const auto functions = functions_by_nm(binary);
  for (const char* name : {"main", "rare", "exported", "by_hand_sized", "one", "two", "choose"}) {
    INFO(name);
    const NamedCode code = functions.at(name);
    REQUIRE(code.size > 0);
    for (std::uint64_t a = code.begin; a < code.begin + code.size; ++a) {
      REQUIRE(function_at(table, a) == name);
    }
  }
  // Without size they end where the next begins; labels inside of functions are none.
  for (const char* name : {"by_hand_typed", "by_hand_bare", "by_hand_last"}) {
    INFO(name);
    CHECK(function_at(table, functions.at(name).begin) == name);
    CHECK(function_at(table, functions.at(name).begin + 5) == name);
  }
  CHECK(function_at(table, functions.at("by_hand_trampoline").begin).empty());
  // Each function has but the one, lineless, frame.
  CHECK(result.lines == 1);
  CHECK(table.line(0)->line == 0);
  CHECK(std::string(table.file_path(table.line(0)->file)) == result.binary);
}

TEST_CASE("stripped, functions are called after their places", "[linetable][symbols][compile]") {
  const TemporaryFolder folder;
  const std::string whole = folder / "whole";
  const std::string binary = folder / "program";
  const std::string base = GENERATE("-fPIE -pie", "-fno-pie -no-pie");
  REQUIRE(compile_c("-g0 -O2 " + base, kSources, whole));
  REQUIRE(shell("strip -o " + binary + " " + whole));
  const LineTable table = table_of(binary, folder / "cache").table;
  const auto functions = functions_by_nm(whole);
  for (const char* name : {"main", "rare", "exported", "by_hand_sized", "one", "two"}) {
    INFO(name);
    const NamedCode code = functions.at(name);
    for (std::uint64_t a = code.begin; a < code.begin + code.size; ++a) {
      REQUIRE(function_at(table, a) == by_place(code.begin - table.base_address()));
    }
  }
  CHECK(function_at(table, functions.at("by_hand_trampoline").begin).empty());
  CHECK(function_at(table, functions.at("by_hand_trampoline").begin - 1).empty());
  // Without symbol, size and unwind entry there is nothing to know them by.
  CHECK(function_at(table, functions.at("by_hand_bare").begin).empty());
}

TEST_CASE("stripped, exported functions keep their names", "[linetable][symbols][compile]") {
  const TemporaryFolder folder;
  const std::string whole = folder / "whole";
  const std::string binary = folder / "program";
  REQUIRE(compile_c("-g0 -O2 -rdynamic", kSources, whole));
  REQUIRE(shell("strip -o " + binary + " " + whole));
  const LineTable table = table_of(binary, folder / "cache").table;
  const auto functions = functions_by_nm(whole);
  CHECK(function_at(table, functions.at("exported").begin) == "exported");  // not its alias
  CHECK(function_at(table, functions.at("by_hand_bare").begin) == "by_hand_bare");
  CHECK(function_at(table, functions.at("rare").begin) ==
        by_place(functions.at("rare").begin - table.base_address()));
}

TEST_CASE("stubs of the procedure linkage table are no functions",
          "[linetable][symbols][compile]") {
  const TemporaryFolder folder;
  const std::string binary = folder / "program";
  REQUIRE(compile_c("-g0 -O2 -fplt -fcf-protection=full", "main.c second.c", binary));
  const LineTable table = table_of(binary, folder / "cache").table;
  std::istringstream sections(
      output_of("objdump -h " + binary + " | awk '$2 ~ /plt/ {print $3, $4}'"));
  std::uint64_t size = 0;
  std::uint64_t begin = 0;
  std::size_t stubs = 0;
  while (sections >> std::hex >> size >> begin) {
    for (std::uint64_t a = begin; a < begin + size; ++a, ++stubs) {
      REQUIRE(function_at(table, a).empty());
    }
  }
  CHECK(stubs > 16);
}

TEST_CASE("symbols name functions as debug information does", "[linetable][symbols][compile]") {
  const TemporaryFolder folder;
  const std::string with = folder / "with";
  const std::string without = folder / "program";
  const bool cpp = GENERATE(false, true);
  REQUIRE((cpp ? compile_cpp("-g -O2", "templates.cc", with)
               : compile_c("-g -O2 -fno-ipa-icf", "main.c second.c", with)));
  REQUIRE(shell("strip -g -o " + without + " " + with));
  const LineTable lines = table_of(with, folder / "cache", false).table;
  const LineTable symbols = table_of(without, folder / "cache").table;
  std::set<std::string> seen;
  for (const std::uint64_t address : addresses_of_functions(with)) {
    const std::string name = function_at(lines, address);
    if (name.empty()) continue;
    INFO(std::hex << address);
    REQUIRE(function_at(symbols, address) == name);
    seen.insert(name);
  }
  CHECK(seen.size() > (cpp ? 5 : 3));
}

TEST_CASE("code without debug information among code that has some",
          "[linetable][symbols][compile]") {
  const TemporaryFolder folder;
  const std::string binary = folder / "program";
  REQUIRE(compile_c("-g0 -O2 -c", "second.c", folder / "second.o"));
  REQUIRE(compile_c("-g -O2", "main.c " + (folder / "second.o"), binary));
  const LineTable table = table_of(binary, folder / "cache").table;
  const LineTable lines_only = table_of(binary, folder / "cache", false).table;
  const auto functions = functions_by_nm(binary);
  const std::uint64_t second = functions.at("second_file").begin;
  CHECK(function_at(table, second) == "second_file");
  CHECK(function_at(lines_only, second).empty());

  // A function, but no line, and in scope whatever the scope of files.
  const std::uint64_t at = second - table.base_address();
  const std::vector<std::uint8_t> none(table.file_count());
  const std::vector<std::uint8_t> all(table.file_count(), 1);
  CHECK_FALSE(innermost_in_scope(table, at, all));
  const auto found = innermost_in_scope(table, at, none, Lineless::kFind);
  REQUIRE(found);
  CHECK(table.function_location(found->function_id) == binary + ":second_file");
  CHECK_FALSE(table.find_line(binary, 0));
  const std::uint64_t busy = functions.at("main").begin - table.base_address();
  CHECK_FALSE(innermost_in_scope(table, busy, none, Lineless::kFind));
  CHECK(innermost_in_scope(table, busy, all, Lineless::kFind));

  // What has lines is as without.
  for (const std::uint64_t address : addresses_of_functions(binary)) {
    if (lines_only.find_chain(address - lines_only.base_address()).empty()) continue;
    REQUIRE(function_at(table, address) == function_at(lines_only, address));
  }
  std::size_t listed = 0;
  list_lines(table, coz::SourceScope("%"), false, [&](const std::string& line) {
    ++listed;
    CHECK(line.find("program:") == std::string::npos);
  });
  CHECK(listed > 10);
  CHECK(describe_scope(table, coz::SourceScope("%"), {}).find("program\"") == std::string::npos);
}

TEST_CASE("assembler code with line information has its symbols' functions",
          "[linetable][symbols][compile]") {
  const TemporaryFolder folder;
  const std::string binary = folder / "program";
  REQUIRE(compile_c("-g -O2", kSources, binary));
  const LineTable table = table_of(binary, folder / "cache").table;
  const std::uint64_t begin = functions_by_nm(binary).at("by_hand_sized").begin;
  const auto chain = table.find_chain(begin - table.base_address());
  REQUIRE(chain.size() == 1);
  CHECK(table.line(chain[0].line)->line > 0);
  CHECK(function_at(table, begin) == "by_hand_sized");
}

TEST_CASE("a separate debug file says more than symbols", "[linetable][symbols][compile]") {
  const TemporaryFolder folder;
  const std::string whole = folder / "whole";
  const std::string binary = folder / "program";
  REQUIRE(compile_c("-g -O2", "main.c second.c", whole));
  REQUIRE(shell("objcopy --only-keep-debug " + whole + " " + (folder / "program.debug")));
  REQUIRE(shell("strip -o " + binary + " " + whole));
  REQUIRE(shell("objcopy --add-gnu-debuglink=" + (folder / "program.debug") + " " + binary));
  const auto [result, table] = table_of(binary, folder / "cache");
  CHECK(result.debug_file == (folder / "program.debug"));
  const auto functions = functions_by_nm(whole);
  const std::uint64_t main_begin = functions.at("main").begin - table.base_address();
  CHECK(table.line(table.find_chain(main_begin).back().line)->line > 0);
  // Code without debug information has the names of the debug file's symbols.
  CHECK(function_at(table, functions.at("_start").begin) == "_start");
}

TEST_CASE("a stripped copy has a table of its own", "[linetable][symbols][compile]") {
  const TemporaryFolder folder;
  const std::string whole = folder / "whole";
  const std::string binary = folder / "program";
  REQUIRE(compile_c("-g0 -O2", kSources, whole));
  REQUIRE(shell("strip -o " + binary + " " + whole));
  usleep(20000);  // files are stamped by the tick of the kernel's clock
  const Built first = table_of(whole, folder / "cache");
  const Built second = table_of(binary, folder / "cache");
  CHECK(first.result.build_id == second.result.build_id);
  CHECK_FALSE(second.result.cached);
  CHECK(table_of(binary, folder / "cache").result.cached);
  const std::uint64_t main_begin = functions_by_nm(whole).at("main").begin;
  CHECK(function_at(first.table, main_begin) == "main");
  CHECK(function_at(second.table, main_begin) == by_place(main_begin));
}

TEST_CASE("without --functions, or without functions, a binary is refused as before",
          "[linetable][symbols][compile]") {
  const TemporaryFolder folder;
  BuildOptions options;
  options.cache_dir = folder / "cache";
  options.binary = folder / "program";
  REQUIRE(compile_c("-g0 -O2", kSources, options.binary));
  CHECK(build_table(options).error == BuildError::kNoDebugInfo);
  options.functions = true;
  CHECK(build_table(options).error == BuildError::kNone);
  options.functions = false;
  CHECK(build_table(options).error == BuildError::kNoDebugInfo);
  // A library of data.
  options.functions = true;
  options.binary = folder / "data.so";
  REQUIRE(shell("echo 'int data = 1;' > " + (folder / "data.c") +
                " && gcc -g0 -shared -nostdlib -o " + options.binary + " " + (folder / "data.c")));
  const BuildResult result = build_table(options);
  CHECK(result.error == BuildError::kNoDebugInfo);
  CHECK(result.message.find("neither debug information, nor symbols") != std::string::npos);
}

TEST_CASE("a damaged unwind table leads nowhere", "[linetable][symbols][compile]") {
  const TemporaryFolder folder;
  const std::string whole = folder / "whole";
  const std::string binary = folder / "program";
  REQUIRE(compile_c("-g0 -O2 -s", kSources, whole));
  std::istringstream place(
      output_of("objdump -h " + whole + " | awk '$2 == \".eh_frame\" {print $3, $6}'"));
  std::size_t size = 0;
  std::size_t offset = 0;
  REQUIRE((place >> std::hex >> size >> offset));
  const std::string intact = read_whole(whole);
  std::srand(7);
  for (int round = 0; round < 200; ++round) {
    std::string bytes = intact;
    for (int i = 0; i < 4; ++i) {
      bytes[offset + static_cast<std::size_t>(std::rand()) % size] = static_cast<char>(std::rand());
    }
    write_whole(binary, bytes);
    BuildOptions options;
    options.binary = binary;
    options.cache_dir = folder / "cache";
    options.reuse_cached = false;
    options.functions = true;
    const BuildResult result = build_table(options);
    if (result.error != BuildError::kNone) {
      CHECK(result.error == BuildError::kNoDebugInfo);
      continue;
    }
    LineTable table;
    REQUIRE(LineTable::open(result.table.c_str(), table) == nullptr);
  }
}
