#include "kernel/loaded_function.h"

#include <dlfcn.h>
#include <link.h>

#include <string>
#include <vector>

#include "common/raw_syscall.h"
#include "kernel/message.h"

namespace coz {
namespace {

constexpr char kOwn = 0;  // lies in our library

// The loader's lock is held meanwhile, so that nothing can be looked up in the objects yet.
int keep_path(dl_phdr_info* object, size_t /*size*/, void* paths) {
  static_cast<std::vector<std::string>*>(paths)->emplace_back(object->dlpi_name);
  return 0;
}

const void* library_of(const void* address) noexcept {
  Dl_info found{};
  return dladdr(address, &found) != 0 ? found.dli_fbase : nullptr;
}

// Not our own.
void* find_in(const char* path, const char* name) noexcept {
  void* library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  void* address = dlsym(library, name);
  if (address != nullptr && library_of(address) != library_of(&kOwn)) return address;
  dlclose(library);
  return nullptr;
}

}  // namespace

void* LoadedFunction::look_up() noexcept {
  void* address = dlsym(RTLD_NEXT, name_);
  Dl_info found{};
  if (address != nullptr && dladdr(address, &found) != 0) find_in(found.dli_fname, name_);
  if (address == nullptr) {
    std::vector<std::string> paths;
    dl_iterate_phdr(keep_path, &paths);
    for (const std::string& path : paths) {
      if (path.empty() || address != nullptr) continue;
      address = find_in(path.c_str(), name_);
    }
  }
  if (address == nullptr) {
    message("no library has %s, though the program calls it; it cannot go on", name_);
    raw_syscall(SYS_exit_group, 127);
  }
  address_.store(address, std::memory_order_relaxed);
  return address;
}

}  // namespace coz
