// What the user chose, as the environment of the program has it.
//
//   COZ_HEAP        shuffle, shuffle:N, offset, zero, with commas; absent: the heap stays as it is
//   COZ_HEAP_SEED   for shuffle and offset; absent: another in every process
//   COZ_STACK_SEED  absent: stacks stay where they are
//
// Plain logic: no memory, no kernel.
#ifndef LIBHEAP_SETTINGS_H
#define LIBHEAP_SETTINGS_H

#include <cstdint>
#include <string_view>

namespace coz::heap {

struct Settings {
  // Blocks of each size that wait in a shuffling array; 0: none.
  std::uint32_t shuffle = 0;
  bool offset = false;
  bool zero = false;

  bool is_on() const noexcept { return shuffle > 0 || offset || zero; }
};

// STABILIZER's number: with it, addresses pass tests of randomness (section 3.2 of the paper).
inline constexpr std::uint32_t kShuffle = 256;
inline constexpr std::uint32_t kMaxShuffle = 4096;

// False if the text is none of the above; `settings` is then of no use.
bool parse_heap(std::string_view text, Settings& settings) noexcept;

// A whole number in decimal digits, of 64 bits.
bool parse_seed(std::string_view text, std::uint64_t& seed) noexcept;

}  // namespace coz::heap

#endif  // LIBHEAP_SETTINGS_H
