// Where the copies of units lie: in random order, with random gaps, or as the linker left them.
//
// Plain logic without allocation. Offsets and sizes are in bytes.
#ifndef LIBLAYOUT_PLACEMENT_H
#define LIBLAYOUT_PLACEMENT_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "common/layout_plan_format.h"

namespace coz::layout {

// SplitMix64 (Steele, Lea, Flood 2014): any seed gives a good sequence.
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t next() noexcept {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
    return mixed ^ (mixed >> 31);
  }

  // From 0 to below `bound`, which is below 2^32 and above 0.
  std::uint32_t below(std::uint32_t bound) noexcept {
    return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
  }

 private:
  std::uint64_t state_;
};

// Some units of a plan, by their numbers: "3-7,12-12", with any number of commas behind it.
class UnitRanges {
 public:
  static constexpr std::size_t kMost = 16;  // further ranges are left out

  explicit UnitRanges(const char* text) noexcept;
  [[nodiscard]] bool has(std::uint32_t unit) const noexcept {
    for (std::size_t i = 0; i < count_; ++i) {
      if (ranges_[i].first <= unit && unit <= ranges_[i].last) return true;
    }
    return false;
  }

 private:
  struct Range {
    std::uint64_t first;
    std::uint64_t last;
  };
  std::array<Range, kMost> ranges_{};
  std::size_t count_ = 0;
};

enum class Order {
  kRandom,    // shuffled, with a gap of 0 to 3 times 16 bytes before each unit
  kOriginal,  // all distances as in the original: what moving alone costs
};

// Fills `offsets`, one for each unit, with its copy's place; each is as the original's address
// modulo `alignment`. `order` has room for as many numbers; afterwards, the units as they lie.
// Returns where the last copy ends.
std::uint64_t place_units(std::span<const LayoutUnit> units, std::uint32_t alignment, Order kind,
                          Random& random, std::span<std::uint32_t> order,
                          std::span<std::uint64_t> offsets) noexcept;

// Units that are not `moved` lie as the linker left them, on pages behind the others, which end at
// `end`. Returns where the last copy ends, whichever units are moved.
std::uint64_t keep_others(std::span<const LayoutUnit> units, const UnitRanges& moved,
                          std::uint64_t end, std::span<std::uint64_t> offsets) noexcept;

// Of the pages where the copies may begin so that every address of the image and of the copies is
// within 2 GB of each other: a random one. 0: there is none. `size`: of the copies.
std::uint64_t choose_base(std::uint64_t image, std::uint64_t image_size, std::uint64_t size,
                          Random& random) noexcept;

}  // namespace coz::layout

#endif  // LIBLAYOUT_PLACEMENT_H
