#include "linetable/elf/debuginfod.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>

namespace coz::linetable {
namespace {

// Of the library's interface, which its header would give (elfutils, debuginfod.h).
using Begin = void* (*)();
using Find = int (*)(void* client, const unsigned char* build_id, int size, char** path);
using End = void (*)(void* client);

template <typename Function>
Function symbol(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

// The file's path; or empty, with the reason.
std::string fetch(const std::vector<std::uint8_t>& build_id, std::string& reason) {
  void* library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
  const auto begin = library == nullptr ? nullptr : symbol<Begin>(library, "debuginfod_begin");
  const auto find =
      library == nullptr ? nullptr : symbol<Find>(library, "debuginfod_find_debuginfo");
  const auto end = library == nullptr ? nullptr : symbol<End>(library, "debuginfod_end");
  if (begin == nullptr || find == nullptr || end == nullptr) {
    reason = "libdebuginfod.so.1 is not installed";
    return {};
  }
  const std::unique_ptr<void, End> client(begin(), end);
  if (client == nullptr) {
    reason = "libdebuginfod does not start";
    return {};
  }
  char* found = nullptr;
  const int descriptor =
      find(client.get(), build_id.data(), static_cast<int>(build_id.size()), &found);
  const std::unique_ptr<char, decltype(&std::free)> path(found, std::free);
  if (descriptor < 0) {
    reason = std::strerror(-descriptor);
    return {};
  }
  close(descriptor);
  return path == nullptr ? "" : path.get();
}

}  // namespace

std::optional<ElfFile> fetch_debug_file(const ElfFile& binary, std::vector<std::string>& warnings) {
  const char* servers = std::getenv("DEBUGINFOD_URLS");
  std::string reason;
  if (binary.build_id().empty()) {
    reason = "it has no build id";
  } else if (servers == nullptr || *servers == '\0') {
    reason = "DEBUGINFOD_URLS names no server";
  } else {
    const std::string path = fetch(binary.build_id(), reason);
    ElfFile file;
    const char* error = path.empty() ? nullptr : file.open(path);
    if (error != nullptr) reason = path + " " + error;
    if (reason.empty() && file.has_debug_info() && file.build_id() == binary.build_id()) {
      return file;
    }
    if (reason.empty()) reason = "what was sent is not its debug file";
  }
  warnings.push_back("no debug information of " + binary.path() + " from debuginfod: " + reason);
  return std::nullopt;
}

}  // namespace coz::linetable
