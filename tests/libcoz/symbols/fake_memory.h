// Objects in memory as the loader would show them, for tests of the list of modules.
//
// An object is two pages of real memory, with a build id in the first: sample_table() fits it, with
// the addresses of the file beginning at kSampleBase.
#ifndef TESTS_LIBCOZ_MODULES_FAKE_MEMORY_H
#define TESTS_LIBCOZ_MODULES_FAKE_MEMORY_H

#include <atomic>
#include <cstring>
#include <string>

#include "symbols/modules.h"
#include "tests/linetable/sample_table.h"
#include "tests/linetable/temporary_folder.h"

class FakeMemory {
 public:
  static constexpr std::size_t kPlaces = 4;
  static constexpr std::size_t kSize = 8192;

  FakeMemory() {
    for (auto& present : present_) present.store(false);
    current_ = this;
  }
  ~FakeMemory() { current_ = nullptr; }
  FakeMemory(const FakeMemory&) = delete;
  FakeMemory& operator=(const FakeMemory&) = delete;

  // Loads something at a place: with this first byte of the build id, or without any.
  coz::ListedObject put(std::size_t place, std::uint8_t build_id) {
    std::memcpy(&bytes_[place][kIdOffset], kSampleBuildId.data(), kSampleBuildId.size());
    bytes_[place][kIdOffset] = build_id;
    present_[place].store(true);
    coz::ListedObject listed = put_without_id(place);
    listed.build_id.size = kSampleBuildId.size();
    std::memcpy(listed.build_id.bytes.data(), &bytes_[place][kIdOffset], kSampleBuildId.size());
    listed.build_id_at = address(place) + kIdOffset;
    return listed;
  }
  coz::ListedObject put_without_id(std::size_t place) {
    present_[place].store(true);
    coz::ListedObject listed;
    listed.object = object(place);
    listed.load_bias = address(place) - kSampleBase;
    return listed;
  }
  void remove(std::size_t place) { present_[place].store(false); }

  std::uintptr_t address(std::size_t place) const {
    return reinterpret_cast<std::uintptr_t>(&bytes_[place][0]);
  }

  static bool find(std::uintptr_t address, coz::LoadedObject& out) noexcept {
    for (std::size_t place = 0; place < kPlaces; ++place) {
      const coz::LoadedObject object = current_->object(place);
      if (address < object.begin || address >= object.end) continue;
      out = object;
      return current_->present_[place].load();
    }
    return false;
  }

 private:
  static constexpr std::size_t kIdOffset = 0x200;

  coz::LoadedObject object(std::size_t place) const {
    return {address(place), address(place) + kSize, address(place) + 0x1000};
  }

  static inline FakeMemory* current_ = nullptr;
  alignas(4096) unsigned char bytes_[kPlaces][kSize] = {};
  std::atomic<bool> present_[kPlaces];
};

// The table's file, as long as the program runs.
inline coz::LineTable open_sample_table() {
  const TemporaryFolder folder;
  write_whole(folder / "table", sample_table());
  coz::LineTable table;
  if (coz::LineTable::open((folder / "table").c_str(), table) != nullptr) std::abort();
  return table;
}

#endif  // TESTS_LIBCOZ_MODULES_FAKE_MEMORY_H
