#include "kernel/openmp_library.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "common/raw_syscall.h"
#include "kernel/message.h"

namespace coz {
namespace {

constexpr std::array<const char*, OpenMpLibrary::kFunctions> kNames = {
#define COZ_NAME_FUNCTION(name) #name,
    COZ_OPENMP_FUNCTIONS(COZ_NAME_FUNCTION)
#undef COZ_NAME_FUNCTION
};
constexpr const char* kOfOthers = "__kmpc_fork_call";

// Of objects that call one, in the order of their first calls. Two threads may enter the same one.
// The last place serves all that come later.
constexpr std::size_t kMaxLibraries = 32;
struct Place {
  std::atomic<bool> is_filled{false};
  OpenMpLibrary library;
};
std::array<Place, kMaxLibraries> places;
std::atomic<std::size_t> places_taken{0};

const void* object_of(const void* address) noexcept {
  Dl_info found{};
  return dladdr(address, &found) != 0 ? found.dli_fbase : nullptr;
}

// The path and addresses of the object that holds `address`, and the paths of all. The loader's
// lock is held meanwhile, so that nothing can be looked up in them yet.
struct Objects {
  std::uintptr_t address;
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::vector<std::string> paths;  // that of the object itself first
};

int take_object(dl_phdr_info* object, size_t /*size*/, void* passed) {
  auto& objects = *static_cast<Objects*>(passed);
  std::uintptr_t begin = UINTPTR_MAX, end = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    begin = std::min<std::uintptr_t>(begin, object->dlpi_addr + segment.p_vaddr);
    end = std::max<std::uintptr_t>(end, object->dlpi_addr + segment.p_vaddr + segment.p_memsz);
  }
  if (begin <= objects.address && objects.address < end) {
    objects.begin = begin;
    objects.end = end;
    objects.paths.emplace(objects.paths.begin(), object->dlpi_name);
  } else {
    objects.paths.emplace_back(object->dlpi_name);
  }
  return 0;
}

}  // namespace

const OpenMpLibrary& OpenMpLibrary::of(const void* caller, Function function) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(caller);
  if (const OpenMpLibrary* known = find(address, function)) return *known;
  OpenMpLibrary found;
  if (found.look_up_for(address, function)) {
    const OpenMpLibrary& added = add(found);
    if (added.addresses_[function] != nullptr) return added;
  }
  message(
      "no OpenMP library with %s was found, or more than 32 are in use: the program, which calls "
      "it, ends here. Name its library in LD_PRELOAD",
      kNames[function]);
  raw_syscall(SYS_exit_group, 127);
  __builtin_unreachable();
}

const OpenMpLibrary* OpenMpLibrary::find(std::uintptr_t caller, Function function) noexcept {
  for (const Place& place : places) {
    if (!place.is_filled.load(std::memory_order_acquire)) return nullptr;
    const OpenMpLibrary& library = place.library;
    const bool has_function = library.addresses_[function] != nullptr;
    if (has_function && library.begin_ <= caller && caller < library.end_) return &library;
  }
  const OpenMpLibrary& last = places.back().library;
  return last.addresses_[function] != nullptr ? &last : nullptr;
}

// No lock: a thread may get here with the loader's lock held, and another one wait for that.
const OpenMpLibrary& OpenMpLibrary::add(const OpenMpLibrary& found) noexcept {
  const std::size_t index = places_taken.fetch_add(1, std::memory_order_relaxed);
  if (index >= kMaxLibraries) {
    while (!places.back().is_filled.load(std::memory_order_acquire)) raw_syscall(SYS_sched_yield);
    return places.back().library;
  }
  places[index].library = found;
  places[index].is_filled.store(true, std::memory_order_release);
  return places[index].library;
}

bool OpenMpLibrary::look_up_for(std::uintptr_t caller, Function function) noexcept {
  if (look_up(RTLD_NEXT, function)) {
    end_ = UINTPTR_MAX;
    return true;
  }
  Objects objects{.address = caller, .begin = 0, .end = 0, .paths = {}};
  dl_iterate_phdr(take_object, &objects);
  begin_ = objects.begin;
  end_ = objects.end;
  for (const std::string& path : objects.paths) {
    // The main program has no name.
    void* handle = dlopen(path.empty() ? nullptr : path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    if (look_up(handle, function)) {
      leave_out_global();
      return true;
    }
    dlclose(handle);
  }
  return false;
}

// What all objects are bound to comes first.
void OpenMpLibrary::leave_out_global() noexcept {
  OpenMpLibrary global;
  global.take_addresses(RTLD_NEXT);
  for (std::size_t i = 0; i < kFunctions; ++i) {
    if (global.addresses_[i] != nullptr) addresses_[i] = nullptr;
  }
}

// Those of ours are left out.
void OpenMpLibrary::take_addresses(void* handle) noexcept {
  for (std::size_t i = 0; i < kFunctions; ++i) {
    void* found = dlsym(handle, kNames[i]);
    const bool is_ours =
        found != nullptr && object_of(found) == object_of(static_cast<const void*>(kNames.data()));
    addresses_[i] = is_ours ? nullptr : found;
  }
}

// False if it has no such function, or only ours.
bool OpenMpLibrary::look_up(void* handle, Function function) noexcept {
  take_addresses(handle);
  if (addresses_[function] == nullptr) return false;
  // Of several in one scope, the one that runs GCC's regions counts.
  void* runs_regions = addresses_[k_GOMP_barrier];
  Dl_info library{};
  if (runs_regions == nullptr || dladdr(runs_regions, &library) == 0) return true;
  // Never closed: the addresses stay good.
  void* kept = dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  has_other_callers_ = kept != nullptr && dlsym(kept, kOfOthers) != nullptr;
  return true;
}

void* next_openmp_tool() noexcept { return dlsym(RTLD_NEXT, "ompt_start_tool"); }

}  // namespace coz
