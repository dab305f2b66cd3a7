#include "target/region_registry.h"

#include <algorithm>

namespace coz {

std::optional<std::uint32_t> RegionRegistry::find(std::string_view name) const noexcept {
  name = name.substr(0, kMaxName - 1);
  const std::uint32_t size = this->size();
  for (std::uint32_t region = 0; region < size; ++region) {
    if (name == this->name(region)) return region;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> RegionRegistry::find_or_add(std::string_view name) noexcept {
  while (adding_.test_and_set(std::memory_order_acquire)) {
  }
  std::optional<std::uint32_t> region = find(name);
  const std::uint32_t size = size_.load(std::memory_order_relaxed);
  if (!region && size < kMaxRegions) {
    name = name.substr(0, kMaxName - 1);
    std::copy(name.begin(), name.end(), names_[size].begin());  // followed by zeros
    size_.store(size + 1, std::memory_order_release);
    region = size;
  }
  adding_.clear(std::memory_order_release);
  return region;
}

}  // namespace coz
