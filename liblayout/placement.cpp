#include "liblayout/placement.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace coz::layout {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kReach = std::uint64_t{1} << 31;  // of a 32-bit distance
constexpr std::uint64_t kSlack = std::uint64_t{16} << 20;
// Behind a program that lies low, its heap grows: so much is left to it, or half of what there is.
constexpr std::uint64_t kHeapRoom = std::uint64_t{1} << 30;
constexpr std::uint64_t kGap = 16;
constexpr std::uint32_t kGaps = 4;

// The next number from `at` on that is as `address` modulo `alignment`.
std::uint64_t like(std::uint64_t at, std::uint64_t address, std::uint64_t alignment) noexcept {
  return at + ((address - at) & (alignment - 1));
}

}  // namespace

std::uint64_t place_units(std::span<const LayoutUnit> units, std::uint32_t alignment, Order kind,
                          Random& random, std::span<std::uint32_t> order,
                          std::span<std::uint64_t> offsets) noexcept {
  for (std::uint32_t i = 0; i < units.size(); ++i) order[i] = i;
  if (units.empty()) return 0;
  if (kind == Order::kOriginal) {
    const std::uint64_t begin = units.front().begin / kPage * kPage;
    for (std::size_t i = 0; i < units.size(); ++i) offsets[i] = units[i].begin - begin;
    return offsets[units.size() - 1] + units.back().size;
  }
  for (auto left = static_cast<std::uint32_t>(units.size()); left > 1; --left) {
    std::swap(order[left - 1], order[random.below(left)]);
  }
  std::uint64_t at = 0;
  for (const std::uint32_t unit : order.first(units.size())) {
    at = like(at + kGap * random.below(kGaps), units[unit].begin, alignment);
    offsets[unit] = at;
    at += units[unit].size;
  }
  return at;
}

UnitRanges::UnitRanges(const char* text) noexcept {
  char* end = nullptr;
  for (const char* at = text; *at != '\0' && count_ < kMost; at = end == at ? at + 1 : end) {
    const std::uint64_t first = std::strtoull(at, &end, 10);
    if (end == at || *end != '-') continue;
    ranges_[count_++] = {first, std::strtoull(end + 1, &end, 10)};
  }
}

std::uint64_t keep_others(std::span<const LayoutUnit> units, const UnitRanges& moved,
                          std::uint64_t end, std::span<std::uint64_t> offsets) noexcept {
  if (units.empty()) return end;
  const std::uint64_t pages = (end + kPage - 1) / kPage * kPage;
  const std::uint64_t begin = units.front().begin / kPage * kPage;
  for (std::uint32_t i = 0; i < units.size(); ++i) {
    if (!moved.has(i)) offsets[i] = pages + units[i].begin - begin;
  }
  return pages + units.back().begin + units.back().size - begin;
}

std::uint64_t choose_base(std::uint64_t image, std::uint64_t image_size, std::uint64_t size,
                          Random& random) noexcept {
  const std::uint64_t end = image + image_size;
  if (image_size + size + 4 * kSlack > kReach) return 0;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  if (image > kReach) {  // below it: behind it the heap grows
    first = end - kReach + kSlack;
    last = image - kSlack - size;
  } else {
    last = image + kReach - kSlack - size;
    first = end + std::min(kHeapRoom, (last - end) / 2);
  }
  const auto pages = static_cast<std::uint32_t>((last - first) / kPage);
  return (first / kPage + 1 + (pages == 0 ? 0 : random.below(pages))) * kPage;
}

}  // namespace coz::layout
