// Random choices of the experimenter, reproducible from one seed (--seed).
//
// SplitMix64 (Steele, Lea, Flood 2014): small, and the same on every machine and with every
// library, unlike the distributions of <random>. Not for signal handlers; one thread.
#ifndef LIBCOZ_EXPERIMENT_RANDOM_H
#define LIBCOZ_EXPERIMENT_RANDOM_H

#include <cstdint>
#include <utility>

namespace coz {

class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t next() noexcept {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }

  // Uniform in [0, bound), bound > 0. The bias of the remainder is below bound / 2^64.
  std::uint64_t below(std::uint64_t bound) noexcept { return next() % bound; }

  // Uniform in [0, 1).
  double fraction() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }

  template <typename Sequence>
  void shuffle(Sequence& sequence) noexcept {
    for (std::size_t i = sequence.size(); i > 1; --i) {
      std::swap(sequence[i - 1], sequence[below(i)]);
    }
  }

 private:
  std::uint64_t state_;
};

}  // namespace coz

#endif  // LIBCOZ_EXPERIMENT_RANDOM_H
