#include "linetable/elf/debug_file.h"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "linetable/machine/process_limits.h"

namespace coz::linetable {
namespace {

namespace fs = std::filesystem;

constexpr const char* kServers = "DEBUGINFOD_URLS";

struct DwflEnd {
  void operator()(Dwfl* dwfl) const noexcept { dwfl_end(dwfl); }
};

// The path of the file that libdwfl finds; empty for none.
std::string search_by_libdwfl(const ElfFile& binary, const std::vector<std::string>& folders) {
  std::string path = "+:.debug";  // "+": the checksum has to match
  for (const std::string& folder : folders) path += ":" + folder;
  char* path_data = path.data();
  Dwfl_Callbacks callbacks{};
  callbacks.section_address = dwfl_offline_section_address;
  callbacks.debuginfo_path = &path_data;
  const std::unique_ptr<Dwfl, DwflEnd> dwfl(dwfl_begin(&callbacks));
  const char* name = binary.path().c_str();
  Dwfl_Module* module = dwfl_report_offline(dwfl.get(), name, name, -1);
  if (module == nullptr) return {};
  dwfl_report_end(dwfl.get(), nullptr, nullptr);

  GElf_Word checksum = 0;
  const char* link = dwelf_elf_gnu_debuglink(binary.elf(), &checksum);
  void** user_data = nullptr;
  GElf_Addr base = 0;
  dwfl_module_info(module, &user_data, &base, nullptr, nullptr, nullptr, nullptr, nullptr);
  char* found_name = nullptr;
  const int file = dwfl_standard_find_debuginfo(module, user_data, name, base, name, link, checksum,
                                                &found_name);
  std::free(found_name);
  if (file < 0) return {};
  std::error_code error;
  const fs::path found = fs::read_symlink("/proc/self/fd/" + std::to_string(file), error);
  close(file);
  return found.string();
}

// A file that has the right name but belongs to another build.
void warn_of_other_build(const ElfFile& binary, const std::vector<std::string>& folders,
                         std::vector<std::string>& warnings) {
  GElf_Word checksum = 0;
  const char* link = dwelf_elf_gnu_debuglink(binary.elf(), &checksum);
  if (link == nullptr) return;
  const fs::path folder = fs::path(binary.path()).parent_path();
  std::vector<fs::path> searched{folder, folder / ".debug"};
  for (const std::string& debug : folders) searched.push_back(debug / folder.relative_path());
  for (const fs::path& each : searched) {
    std::error_code error;
    if (!fs::is_regular_file(each / link, error)) continue;
    warnings.push_back("the debug file " + (each / link).string() +
                       " belongs to another build of " + binary.path());
  }
}

std::string server_problem(const ElfFile& binary) {
  const char* servers = std::getenv(kServers);
  if (binary.build_id().empty()) return "it has no build id";
  if (servers == nullptr || *servers == '\0') return std::string(kServers) + " names no server";
  return "no server has it or answers, or libdebuginfod.so.1 is not installed";
}

}  // namespace

std::optional<ElfFile> find_separate_debug_file(const ElfFile& binary,
                                                const DebugFileSearch& search,
                                                std::vector<std::string>& warnings) {
  // Some distributions set it for everybody; libdwfl would then ask.
  if (!search.debuginfod) unsetenv(kServers);
  const std::string path = search_by_libdwfl(binary, search.folders);
  allow_to_read(path);
  ElfFile file;
  const bool is_good = !path.empty() && file.open(path) == nullptr && file.has_debug_info();
  // libdwfl takes a server's word for it.
  const bool is_same_build = binary.build_id().empty() || file.build_id() == binary.build_id();
  if (is_good && is_same_build) return file;
  warn_of_other_build(binary, search.folders, warnings);
  if (search.debuginfod) {
    warnings.push_back("no debug information of " + binary.path() +
                       " from debuginfod: " + server_problem(binary));
  }
  return std::nullopt;
}

}  // namespace coz::linetable
