// Real compilations: what the table says of every address must be what addr2line says.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/line_table.h"
#include "linetable/cache/build_table.h"
#include "tests/linetable/compiled_program.h"
#include "tests/linetable/temporary_folder.h"

using namespace coz::linetable;
using coz::LineTable;

namespace {

// Under DWARF 5, addr2line 2.40 names the wrong file where a sequence begins without setting one.
// The code is the same whatever the version, so a program with DWARF 4 answers for it.
constexpr const char* kOracleVersion = "-gdwarf-4";

BuildResult build_result_of(const std::string& binary, const std::string& cache,
                            const std::vector<std::string>& debug_dirs = {}) {
  BuildOptions options;
  options.binary = binary;
  options.cache_dir = cache;
  options.search.folders = debug_dirs;
  return build_table(options);
}

// Where a section begins in the file.
std::size_t offset_of(const std::string& section, const std::string& binary) {
  const std::string offset =
      output_of("readelf -SW " + binary + " | awk '{for (i = 1; i < NF; ++i) if ($i == \"" +
                section + "\") print $(i+3)}'");
  return std::stoul(offset, nullptr, 16);
}

std::uint64_t address_of(const std::string& function, const std::string& binary) {
  return std::stoull(output_of("nm " + binary + " | sed -n 's/ T " + function + "$//p'"), nullptr,
                     16);
}

LineTable table_of(const std::string& binary, const std::string& cache,
                   const std::vector<std::string>& debug_dirs = {}) {
  const BuildResult result = build_result_of(binary, cache, debug_dirs);
  INFO(to_json(result));
  REQUIRE(result.error == BuildError::kNone);
  CHECK(result.warnings.empty());
  LineTable table;
  REQUIRE(LineTable::open(result.table.c_str(), table) == nullptr);
  return table;
}

std::string describe(const LineTable& table, std::uint64_t address) {
  std::string text;
  for (const auto& frame : table.find_chain(address - table.base_address())) {
    const auto line = table.line(frame.line).value();
    const char* function = table.function_name(frame.function);
    text += std::string(function == nullptr ? "??" : function) + " " + table.file_path(line.file) +
            ":" + std::to_string(line.line) + "\n";
  }
  return text;
}

std::string describe(const std::vector<ExpectedFrame>& chain) {
  std::string text;
  for (const auto& frame : chain) {
    text += frame.function + " " + frame.file + ":" + std::to_string(frame.line) + "\n";
  }
  return text;
}

// Compares the table with what addr2line reads from `oracle`, a program of the same code. Returns
// at how many addresses there is inlined code.
std::size_t check_against_addr2line(const LineTable& table, const std::string& oracle) {
  const std::vector<std::uint64_t> addresses = addresses_of_functions(oracle);
  const auto expected = ask_addr2line(oracle, addresses);
  REQUIRE(expected.size() == addresses.size());
  std::size_t with_lines = 0;
  std::size_t inlined = 0;
  std::size_t different = 0;
  std::string first_difference;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const std::string ours = describe(table, addresses[i]);
    const std::string theirs = describe(expected[i]);
    with_lines += theirs.empty() ? 0 : 1;
    inlined += expected[i].size() > 1 ? 1 : 0;
    if (ours == theirs) continue;
    if (different++ == 0) {
      first_difference = std::to_string(addresses[i]) + "\nours:\n" + ours + "theirs:\n" + theirs;
    }
  }
  INFO(addresses.size() << " addresses, " << different
                        << " differ, the first: " << first_difference);
  CHECK(different == 0);
  CHECK(with_lines > 100);
  return inlined;
}

}  // namespace

TEST_CASE("every address of a compiled program has addr2line's lines", "[linetable][compile]") {
  const std::string version = GENERATE("-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5");
  const std::string flags =
      GENERATE("-O2 -pie -fPIE", "-O2 -no-pie", "-O0 -pie -fPIE",
               "-O2 -ffunction-sections -Wl,--gc-sections",
               "-O2 -Wl,--gc-sections -ffunction-sections -Wl,-z,noseparate-code", "-O3 -gz=zlib",
               "-O2 -flto", "-O2 -gstrict-dwarf");
  INFO(version << " " << flags);
  const TemporaryFolder folder;
  const std::string binary = folder / "program";
  REQUIRE(compile_c(version + " " + flags, "main.c second.c", binary));
  std::string oracle = binary;
  if (version == "-gdwarf-5") {
    oracle = folder / "oracle";
    REQUIRE(compile_c(std::string(kOracleVersion) + " " + flags, "main.c second.c", oracle));
  }
  const std::size_t inlined = check_against_addr2line(table_of(binary, folder / "cache"), oracle);
  // DWARF 2 has no way to say where a call was inlined.
  const bool can_tell_inlines = version != "-gdwarf-2" || flags != "-O2 -gstrict-dwarf";
  CHECK((inlined > 50) == can_tell_inlines);
}

TEST_CASE("templates and constructors have addr2line's names", "[linetable][compile]") {
  const std::string flags =
      GENERATE("-gdwarf-4 -O2", "-gdwarf-5 -O2", "-gdwarf-5 -O1 -no-pie", "-gdwarf-5 -gdwarf64 -O3",
               "-gdwarf-5 -O2 -flto", "-gdwarf-5 -O2 -fstack-protector-strong");
  INFO(flags);
  const TemporaryFolder folder;
  const std::string binary = folder / "program";
  const std::string oracle = folder / "oracle";
  REQUIRE(compile_cpp("-std=c++20 " + flags, "templates.cc", binary));
  REQUIRE(compile_cpp("-std=c++20 " + flags + " " + kOracleVersion, "templates.cc", oracle));
  CHECK(check_against_addr2line(table_of(binary, folder / "cache"), oracle) > 50);
}

TEST_CASE("static functions of one name in two files are two", "[linetable][compile]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "shared.h") << "static inline int shared(int v) { return v + 1; }\n";
  for (const std::string name : {"first", "second"}) {
    std::ofstream(folder / (name + ".c"))
        << "#include \"shared.h\"\nstatic int init(int v) { return shared(v) * 3; }\nint " << name
        << "(int v) { return init(v); }\n";
  }
  std::ofstream(folder / "main.c") << "int first(int); int second(int);\n"
                                      "int main(void) { return first(second(1)); }\n";
  REQUIRE(shell("cd " + folder.path() + " && gcc -g -O0 -o program main.c first.c second.c"));
  const LineTable table = table_of(folder / "program", folder / "cache");
  std::multiset<std::string> found;
  for (std::uint32_t id = 0; id < table.function_count(); ++id) {
    const std::string location = table.function_location(id);
    found.insert(location.substr(location.rfind('/') + 1));
  }
  CHECK(found.count("first.c:init") == 1);
  CHECK(found.count("second.c:init") == 1);
  CHECK(found.count("shared.h:shared") == 1);
}

TEST_CASE("a row behind the code of a unit says nothing of what follows", "[linetable][compile]") {
  const TemporaryFolder folder;
  // As gcc has where the last instruction is a call that does not return. Linkers put code of the
  // start-up first: that of the second file stands between two sequences of the first.
  std::ofstream(folder / "first.c")
      << "__attribute__((section(\".text.startup\"))) int twice(int value) { return 2 * value; }\n"
         "__asm__(\".section .text.startup\\n.loc 1 99 0 view .LVbehind\\n.text\");\n"
         "int main(void) { return twice(0); }\n";
  std::ofstream(folder / "second.c") << "__attribute__((section(\".text.startup\"))) int "
                                        "thrice(int value) { return 3 * value; }\n";
  REQUIRE(shell("cd " + folder.path() + " && gcc -g -O2 -fno-toplevel-reorder -c first.c && " +
                "gcc -g0 -O2 -c second.c && gcc -o program first.o second.o"));
  const LineTable table = table_of(folder / "program", folder / "cache");
  std::size_t with_lines = 0;
  for (const std::uint64_t address : addresses_of_functions(folder / "program")) {
    const std::string chain = describe(table, address);
    if (chain.empty()) continue;
    const std::string function = chain.substr(0, chain.find(' '));
    CHECK((function == "twice" || function == "main"));
    ++with_lines;
  }
  CHECK(with_lines > 0);
}

TEST_CASE("separate debug files are found", "[linetable][compile]") {
  const TemporaryFolder folder;
  const std::string program = folder / "program";
  const std::string full = folder / "full";
  REQUIRE(compile_c("-g -O2 -Wl,--build-id=" + std::string(GENERATE("sha1", "none")),
                    "main.c second.c", full));
  REQUIRE(shell("objcopy --only-keep-debug " + full + " " + (folder / "program.debug")));
  REQUIRE(shell("strip -o " + program + " " + full));

  SECTION("beside the binary") {
    REQUIRE(shell("cd " + folder.path() + " && objcopy --add-gnu-debuglink=program.debug program"));
    CHECK(check_against_addr2line(table_of(program, folder / "cache"), full) > 50);
  }
  SECTION("in its .debug folder") {
    REQUIRE(shell("cd " + folder.path() +
                  " && objcopy --add-gnu-debuglink=program.debug program && mkdir .debug && "
                  "mv program.debug .debug/"));
    CHECK(check_against_addr2line(table_of(program, folder / "cache"), full) > 50);
  }
  SECTION("below a debug folder, by the binary's own path") {
    REQUIRE(shell("cd " + folder.path() +
                  " && objcopy --add-gnu-debuglink=program.debug program && mkdir -p debug/" +
                  folder.path() + " && mv program.debug debug/" + folder.path()));
    CHECK(check_against_addr2line(table_of(program, folder / "cache", {folder / "debug"}), full) >
          50);
  }
  SECTION("but not one of another build") {
    REQUIRE(shell("cd " + folder.path() + " && objcopy --add-gnu-debuglink=program.debug program"));
    REQUIRE(compile_c("-g -O1", "main.c second.c", folder / "program.debug"));
    BuildOptions options;
    options.binary = program;
    options.cache_dir = folder / "cache";
    const BuildResult result = build_table(options);
    CHECK(result.error == BuildError::kNoDebugInfo);
    CHECK(result.warnings.size() == 1);
  }
}

TEST_CASE("a debug file is found by its build-id", "[linetable][compile]") {
  const TemporaryFolder folder;
  const std::string program = folder / "program";
  const std::string full = folder / "full";
  REQUIRE(compile_c("-g -O2 -Wl,--build-id=0xab12cd34", "main.c second.c", full));
  REQUIRE(shell("strip -o " + program + " " + full));
  REQUIRE(shell("mkdir -p " + (folder / "debug/.build-id/ab")));
  REQUIRE(shell("objcopy --only-keep-debug " + full + " " +
                (folder / "debug/.build-id/ab/12cd34.debug")));
  CHECK(check_against_addr2line(table_of(program, folder / "cache", {folder / "debug"}), full) >
        50);
}

TEST_CASE("names that dwz moved to a shared file are found", "[linetable][compile]") {
  if (!has_tool("dwz")) return;
  const TemporaryFolder folder;
  const std::string one = folder / "one";
  const std::string two = folder / "two";
  REQUIRE(compile_cpp("-std=c++20 -gdwarf-4 -O2", "templates.cc", one));
  REQUIRE(compile_cpp("-std=c++20 -gdwarf-4 -O1", "templates.cc", two));
  REQUIRE(shell("cp " + one + " " + (folder / "full")));
  REQUIRE(shell("cd " + folder.path() + " && dwz -m shared.debug -M shared.debug one two"));
  CHECK(check_against_addr2line(table_of(one, folder / "cache"), folder / "full") > 50);
}

TEST_CASE("split debug information is read from its .dwo files", "[linetable][compile]") {
  const std::string version = GENERATE("-gdwarf-4", "-gdwarf-5");
  const TemporaryFolder folder;
  const std::string binary = folder / "program";
  const std::string flags = "-U_FORTIFY_SOURCE " + version + " -O2 -gsplit-dwarf";
  REQUIRE(shell("cd " + folder.path() + " && for f in main second; do gcc " + flags + " -c " +
                programs_folder() + "/$f.c -o $f.o || exit 1; done && gcc main.o second.o -o " +
                binary));
  REQUIRE(compile_c(version + " -O2", "main.c second.c", folder / "full"));
  CHECK(check_against_addr2line(table_of(binary, folder / "cache"), folder / "full") > 50);
}

TEST_CASE("code that the linker removed leaves no lines", "[linetable][compile]") {
  const std::string version = GENERATE("-gdwarf-4", "-gdwarf-5");
  const TemporaryFolder folder;
  const std::string binary = folder / "program";
  REQUIRE(compile_c(version + " -O2 -ffunction-sections -Wl,--gc-sections,-z,noseparate-code",
                    "main.c second.c", binary));
  const LineTable table = table_of(binary, folder / "cache");
  CHECK_FALSE(table.find_line("main.c", 19).has_value());  // the loop of never_called()
  CHECK(table.find_line("main.c", 10).has_value());
  CHECK(table.find_chain(0).empty());
}

TEST_CASE("functions folded into one hide no lines of the next", "[linetable][compile]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "main.c") << "int first(int v) { return v * 3; }\n"
                                      "int second(int v) { return v * 3; }\n"
                                      "int third(int v) { return v * 5; }\n"
                                      "int main(int n, char** v) { return third(n) + !v; }\n";
  const auto link = [&](const std::string& linker) {
    return shell("cd " + folder.path() +
                 " && gcc -g -O2 -fno-inline -fno-ipa-icf -falign-functions=1 -ffunction-sections"
                 " -Wl,--icf=all,--keep-unique=main -o program main.c 2> log -fuse-ld=" +
                 linker);
  };
  if (!link("gold") && !link("lld")) {
    WARN("no linker here folds functions: " << read_whole(folder / "log"));
    return;
  }
  const LineTable table = table_of(folder / "program", folder / "cache");
  CHECK(table.find_line("main.c", 3).has_value());
  CHECK(describe(table, address_of("third", folder / "program")).find("main.c:3") !=
        std::string::npos);
}

TEST_CASE("a function without code hides no lines of the next", "[linetable][compile]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "main.c") << "void never(void) { __builtin_unreachable(); }\n"
                                      "int main(int n, char** v) { return n * (v != 0); }\n";
  REQUIRE(shell("cd " + folder.path() + " && gcc -g -O1 -ffunction-sections -o program main.c"));
  const LineTable table = table_of(folder / "program", folder / "cache");
  CHECK(describe(table, address_of("main", folder / "program")).find("main.c:2") !=
        std::string::npos);
}

TEST_CASE("compression that libelf does not know is named", "[linetable][compile]") {
  const TemporaryFolder folder;
  const std::string binary = folder / "program";
  REQUIRE(compile_c("-g -O2 -gz=zlib", "main.c second.c", binary));
  // The compressed .debug_info gets a type that no one knows.
  std::string bytes = read_whole(binary);
  bytes[offset_of(".debug_info", binary)] = 77;
  write_whole(binary, bytes);
  const BuildResult result = build_result_of(binary, folder / "cache");
  CHECK(result.error == BuildError::kNoDebugInfo);
  REQUIRE(result.warnings.size() == 1);
  CHECK(result.warnings[0].find("objcopy --decompress-debug-sections") != std::string::npos);
}

TEST_CASE("damaged debug information costs no more than itself", "[linetable][compile]") {
  const TemporaryFolder folder;
  const std::string binary = folder / "program";
  REQUIRE(compile_c("-g -O2", "main.c second.c", binary));
  // The second unit's line program gets a version that no one knows.
  std::string bytes = read_whole(binary);
  const std::size_t section = offset_of(".debug_line", binary);
  std::uint32_t first_length = 0;
  std::copy_n(bytes.data() + section, 4, reinterpret_cast<char*>(&first_length));
  bytes[section + 4 + first_length + 4] = 99;
  write_whole(binary, bytes);

  const BuildResult result = build_result_of(binary, folder / "cache");
  REQUIRE(result.error == BuildError::kNone);
  REQUIRE(result.warnings.size() >= 1);
  CHECK(result.warnings[0].find("second.c") != std::string::npos);
  LineTable table;
  REQUIRE(LineTable::open(result.table.c_str(), table) == nullptr);
  CHECK(table.find_line("main.c", 10).has_value());
}

TEST_CASE("what has no lines is refused with a reason", "[linetable][compile]") {
  const TemporaryFolder folder;
  BuildOptions options;
  options.cache_dir = folder / "cache";
  SECTION("no debug information") {
    options.binary = folder / "program";
    REQUIRE(compile_c("-g0", "main.c second.c", options.binary));
    CHECK(build_table(options).error == BuildError::kNoDebugInfo);
  }
  SECTION("no ELF file") {
    options.binary = folder / "script";
    write_whole(options.binary, "#!/bin/sh\n");
    CHECK(build_table(options).error == BuildError::kNotElf);
  }
  SECTION("no file") {
    options.binary = folder / "missing";
    CHECK(build_table(options).error == BuildError::kNotElf);
  }
  SECTION("no place for the table") {
    options.binary = folder / "program";
    REQUIRE(compile_c("-g", "main.c second.c", options.binary));
    write_whole(options.cache_dir, "a file, not a folder");
    CHECK(build_table(options).error == BuildError::kCache);
  }
}

TEST_CASE("a relative compilation directory stands in front of a file once",
          "[linetable][compile]") {
  const std::string version = GENERATE("-gdwarf-4", "-gdwarf-5");
  const TemporaryFolder folder;
  REQUIRE(shell("mkdir " + (folder / "inner")));
  REQUIRE(shell("echo 'int main(void) { return 0; }' > " + (folder / "a.c")));
  REQUIRE(shell("echo 'int b(void) { return 0; }' > " + (folder / "inner/b.c")));
  // As distributions build their libraries.
  REQUIRE(shell("cd " + (folder / "") + " && gcc -fdebug-prefix-map=\"$PWD\"=./base " + version +
                " -o prog a.c inner/b.c"));
  const LineTable table = table_of(folder / "prog", folder / "cache");
  std::vector<std::string> files;
  for (std::uint32_t file = 0; file < table.file_count(); ++file) {
    files.emplace_back(table.file_path(file));
  }
  std::sort(files.begin(), files.end());
  CHECK(files == std::vector<std::string>{"base/a.c", "base/inner/b.c"});
}
