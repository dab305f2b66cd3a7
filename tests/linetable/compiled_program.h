// Compiling, at run time, the programs of tests/linetable/programs, and asking binutils about them.
#ifndef TESTS_LINETABLE_COMPILED_PROGRAM_H
#define TESTS_LINETABLE_COMPILED_PROGRAM_H

#include <cstdint>
#include <string>
#include <vector>

// The sources, wherever the tests were built from.
[[nodiscard]] std::string programs_folder();

// True when the command, run by the shell, succeeds.
[[nodiscard]] bool shell(const std::string& command);

[[nodiscard]] std::string output_of(const std::string& command);

[[nodiscard]] bool has_tool(const std::string& name);

// Compile `sources` (space-separated, of the programs folder or absolute) into `binary`.
[[nodiscard]] bool compile_c(const std::string& flags, const std::string& sources,
                             const std::string& binary);
[[nodiscard]] bool compile_cpp(const std::string& flags, const std::string& sources,
                               const std::string& binary);

struct ExpectedFrame {
  std::string function;
  std::string file;  // normalised
  std::uint32_t line;
};

// What `addr2line -i -f -C` says of each address; an empty chain where it knows no line.
[[nodiscard]] std::vector<std::vector<ExpectedFrame>> ask_addr2line(
    const std::string& binary, const std::vector<std::uint64_t>& addresses);

// Every address, in steps of one byte, of the functions that nm finds.
[[nodiscard]] std::vector<std::uint64_t> addresses_of_functions(const std::string& binary);

#endif  // TESTS_LINETABLE_COMPILED_PROGRAM_H
