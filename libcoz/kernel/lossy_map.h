// A map from numbers to numbers of fixed size: a newer entry may replace an older one, whose key is
// then unknown. For what is known of files, by their inodes, and of locks, by their addresses.
//
// Direct-mapped. Any thread; lock-free and signal-safe. Zeroed memory is an empty map.
#ifndef LIBCOZ_KERNEL_LOSSY_MAP_H
#define LIBCOZ_KERNEL_LOSSY_MAP_H

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace coz {

// `kBits`: of the number of entries.
template <unsigned kBits>
class LossyMap {
 public:
  void set(std::uint64_t key, std::uint64_t value) noexcept {
    Entry& entry = entries_[place_of(key)];
    entry.value.store(value, std::memory_order_relaxed);
    entry.check.store(mix(key, value), std::memory_order_release);
  }

  std::optional<std::uint64_t> get(std::uint64_t key) const noexcept {
    const Entry& entry = entries_[place_of(key)];
    const std::uint64_t check = entry.check.load(std::memory_order_acquire);
    const std::uint64_t value = entry.value.load(std::memory_order_relaxed);
    if (check != mix(key, value)) return std::nullopt;
    return value;
  }

  void remove(std::uint64_t key) noexcept {
    if (get(key)) entries_[place_of(key)].check.store(0, std::memory_order_release);
  }

 private:
  static constexpr std::size_t kEntries = std::size_t{1} << kBits;
  static constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;  // its fraction, times 2^64
  struct Entry {
    std::atomic<std::uint64_t> value{0};
    std::atomic<std::uint64_t> check{0};  // so that a torn entry has no key
  };

  static std::size_t place_of(std::uint64_t key) noexcept {
    return key * kGoldenRatio >> (64 - kBits);
  }
  static std::uint64_t mix(std::uint64_t key, std::uint64_t value) noexcept {
    return (key * kGoldenRatio) ^ (value * 0xc2b2ae3d27d4eb4fU) ^ 0x27d4eb2f165667c5U;
  }

  std::array<Entry, kEntries> entries_{};
};

}  // namespace coz

#endif  // LIBCOZ_KERNEL_LOSSY_MAP_H
