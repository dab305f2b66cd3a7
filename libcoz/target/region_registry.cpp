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
  adding_.lock();
  std::optional<std::uint32_t> region = find(name);
  const std::uint32_t size = size_.load(std::memory_order_relaxed);
  if (!region && size < kMaxRegions) {
    name = name.substr(0, kMaxName - 1);
    names_[size].fill('\0');  // a thread that was killed here may have left more
    std::copy(name.begin(), name.end(), names_[size].begin());
    size_.store(size + 1, std::memory_order_release);
    region = size;
  }
  adding_.unlock();
  return region;
}

}  // namespace coz
