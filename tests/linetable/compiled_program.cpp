#include "tests/linetable/compiled_program.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "linetable/dwarf/source_path.h"
#include "tests/linetable/temporary_folder.h"

namespace {

std::string compiler(const char* variable, const char* otherwise) {
  const char* value = std::getenv(variable);
  return value == nullptr || *value == '\0' ? otherwise : value;
}

bool compile(const std::string& compiler_name, const std::string& flags, const std::string& sources,
             const std::string& binary) {
  // Some distributions' compilers turn it on; addr2line then names inlined calls wrongly.
  std::string command = compiler_name + " -U_FORTIFY_SOURCE " + flags + " -o " + binary;
  std::istringstream names(sources);
  for (std::string name; names >> name;) {
    command += " " + (name.starts_with('/') ? "" : programs_folder() + "/") + name;
  }
  return shell(command);
}

}  // namespace

std::string programs_folder() {
  const auto beside = std::filesystem::path(__FILE__).parent_path() / "programs";
  return std::filesystem::absolute(beside).lexically_normal().string();
}

bool shell(const std::string& command) { return std::system(command.c_str()) == 0; }

std::string output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error(command);
  std::string output;
  char buffer[65536];
  for (std::size_t n = 0; (n = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
    output.append(buffer, n);
  }
  if (pclose(pipe) != 0) throw std::runtime_error(command);
  return output;
}

bool has_tool(const std::string& name) { return shell("command -v " + name + " >/dev/null 2>&1"); }

bool compile_c(const std::string& flags, const std::string& sources, const std::string& binary) {
  return compile(compiler("CC", "gcc"), flags, sources, binary);
}

bool compile_cpp(const std::string& flags, const std::string& sources, const std::string& binary) {
  return compile(compiler("CXX", "g++"), flags, sources, binary);
}

std::vector<std::vector<ExpectedFrame>> ask_addr2line(const std::string& binary,
                                                      const std::vector<std::uint64_t>& addresses) {
  const TemporaryFolder folder;
  {
    std::ofstream list(folder / "addresses");
    for (const std::uint64_t address : addresses) list << std::hex << "0x" << address << '\n';
  }
  std::istringstream output(
      output_of("addr2line -a -i -f -C -e " + binary + " < " + (folder / "addresses")));
  std::vector<std::vector<ExpectedFrame>> chains;
  std::string function;
  while (std::getline(output, function)) {
    if (function.starts_with("0x")) {  // -a: a new address
      chains.emplace_back();
      continue;
    }
    std::string location;
    std::getline(output, location);
    location = location.substr(0, location.find(" (discriminator"));
    const std::size_t colon = location.rfind(':');
    const auto line =
        static_cast<std::uint32_t>(std::strtoul(location.c_str() + colon + 1, nullptr, 10));
    if (line == 0) continue;
    chains.back().push_back(
        {function, coz::linetable::normalise_source_path({}, location.substr(0, colon)), line});
  }
  return chains;
}

std::vector<std::uint64_t> addresses_of_functions(const std::string& binary) {
  std::istringstream output(output_of("nm -S --defined-only " + binary));
  std::vector<std::uint64_t> addresses;
  for (std::string text; std::getline(output, text);) {
    std::istringstream fields(text);
    std::uint64_t start = 0;
    std::uint64_t size = 0;
    char type = 0;
    if (!(fields >> std::hex >> start >> size >> type)) continue;
    if (std::string("TtWw").find(type) == std::string::npos) continue;
    for (std::uint64_t offset = 0; offset < size; ++offset) addresses.push_back(start + offset);
  }
  return addresses;
}
