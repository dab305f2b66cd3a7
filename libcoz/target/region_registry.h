// Regions by name: parts of the program that it marks by COZ_REGION_BEGIN and COZ_REGION_END.
//
// Any thread may call find_or_add(), but not in a signal handler; it takes a lock for a few string
// comparisons. Regions are never removed. The rest is lock-free and signal-safe.
#ifndef LIBCOZ_TARGET_REGION_REGISTRY_H
#define LIBCOZ_TARGET_REGION_REGISTRY_H

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "kernel/shared_lock.h"

namespace coz {

class RegionRegistry {
 public:
  static constexpr std::uint32_t kMaxRegions = 256;
  static constexpr std::size_t kMaxName = 128;  // with the NUL; longer names are cut

  // nullopt when the registry is full.
  std::optional<std::uint32_t> find_or_add(std::string_view name) noexcept;
  std::optional<std::uint32_t> find(std::string_view name) const noexcept;

  // In a forked child, which has no other thread: a thread of the parent may have held the lock.
  void release_lock() noexcept { adding_.unlock(); }

  std::uint32_t size() const noexcept { return size_.load(std::memory_order_acquire); }
  // For an existing region.
  const char* name(std::uint32_t region) const noexcept { return names_[region].data(); }

 private:
  std::array<std::array<char, kMaxName>, kMaxRegions> names_{};
  std::atomic<std::uint32_t> size_{0};
  SharedLock adding_;
};

}  // namespace coz

#endif  // LIBCOZ_TARGET_REGION_REGISTRY_H
