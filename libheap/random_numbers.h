// Random numbers for layouts: small, fast, and the same for the same seed.
//
// Not for cryptography. No memory, no locks; each thread has a generator of its own.
#ifndef LIBHEAP_RANDOM_NUMBERS_H
#define LIBHEAP_RANDOM_NUMBERS_H

#include <cstdint>

namespace coz::heap {

// A number that looks random, of two others: SplitMix64's mixing (Steele, Lea, Flood 2014).
constexpr std::uint64_t mix(std::uint64_t seed, std::uint64_t stream) noexcept {
  std::uint64_t z = seed + 0x9E3779B97F4A7C15ULL * (stream + 1);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

// Marsaglia's xorshift with a multiplication at the end.
class RandomNumbers {
 public:
  constexpr RandomNumbers() noexcept = default;
  constexpr RandomNumbers(std::uint64_t seed, std::uint64_t stream) noexcept
      : state_(mix(seed, stream) | 1) {}

  constexpr std::uint32_t next() noexcept {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<std::uint32_t>((state_ * 0x2545F4914F6CDD1DULL) >> 32);
  }

  // From 0 to `end` − 1. Some are more likely than others by less than end / 2³².
  constexpr std::uint32_t below(std::uint32_t end) noexcept {
    return static_cast<std::uint32_t>((std::uint64_t{next()} * end) >> 32);
  }

 private:
  std::uint64_t state_ = 1;
};

}  // namespace coz::heap

#endif  // LIBHEAP_RANDOM_NUMBERS_H
