// What the dynamic loader has loaded, listed for a thread of ours. (A signal handler asks about one
// address: unwind/loaded_object.h.)
#ifndef LIBCOZ_SYMBOLS_LOADER_LISTING_H
#define LIBCOZ_SYMBOLS_LOADER_LISTING_H

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "unwind/loaded_object.h"

namespace coz {

struct BuildId {
  static constexpr std::size_t kMaxBytes = 32;

  std::array<std::uint8_t, kMaxBytes> bytes{};
  std::uint32_t size = 0;

  std::span<const std::uint8_t> get() const noexcept { return std::span(bytes).first(size); }
  bool operator==(const BuildId& other) const noexcept {
    return std::equal(get().begin(), get().end(), other.get().begin(), other.get().end());
  }
};

// An object as the loader lists it.
struct ListedObject {
  LoadedObject object;
  std::uintptr_t load_bias = 0;  // address in memory less address in the file
  BuildId build_id;
  // Where the build id is in memory; 0 unless that is in the object's first page, which stays as
  // long as the object does.
  std::uintptr_t build_id_at = 0;
  // The loader's name for it, in LoaderListing::names: as the program gave it, perhaps relative to
  // the current folder of that time. Empty for the program itself.
  std::uint32_t name_begin = 0;
  std::uint32_t name_size = 0;
};

// How often the loader has loaded and unloaded something.
struct LoaderCounts {
  std::uint64_t loaded = 0;
  std::uint64_t unloaded = 0;

  bool operator==(const LoaderCounts&) const = default;
};

struct LoaderListing {
  std::vector<ListedObject> objects;
  std::string names;
  LoaderCounts counts;
  bool complete = true;  // false while something is being loaded

  std::string_view name_of(const ListedObject& object) const noexcept {
    return std::string_view(names).substr(object.name_begin, object.name_size);
  }
};

// Both take the loader's lock, which a thread of the program may hold for any time in
// dl_iterate_phdr: call them in a thread that nobody waits for. (A fork of --tree takes the risk:
// ModuleThread::wait_for_lines.) Neither may
// run while the program forks (kernel/fork_gate.h), or the child would inherit a lock that nobody
// releases. They do not allocate while they hold it.
LoaderCounts read_loader_counts() noexcept;
void list_loaded_objects(LoaderListing& out);

// Is a library loaded whose path has `part` in it?
bool is_loaded(const char* part) noexcept;

}  // namespace coz

#endif  // LIBCOZ_SYMBOLS_LOADER_LISTING_H
