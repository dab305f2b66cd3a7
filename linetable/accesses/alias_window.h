// A model of 4K aliasing: which loads follow, closely, a store to another address whose twelve
// lowest bits are the same.
//
// Processors let loads overtake stores whose data is not written yet. At first they compare the low
// bits of addresses alone, so such a load may wait for a store that it has nothing to do with
// (Intel 64 and IA-32 Architectures Optimization Reference Manual, "4-KByte aliasing"; other
// makers' processors behave alike). How long is not modelled: this finds candidates. Plain logic.
#ifndef LINETABLE_ACCESSES_ALIAS_WINDOW_H
#define LINETABLE_ACCESSES_ALIAS_WINDOW_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

namespace coz::linetable {

struct Access {
  std::uint64_t pc = 0;
  std::uint64_t address = 0;
  std::uint32_t size = 0;
  bool is_store = false;
};

// The accesses of one pair of instructions, and how often they met. `load`, `store`: the first
// time.
struct AliasPair {
  Access load;
  Access store;
  std::uint64_t count = 0;
};

class AliasWindow {
 public:
  // Stores that a processor holds back, and instructions that it has in flight: fewer than any
  // processor of the last ten years.
  static constexpr std::size_t kStores = 40;
  static constexpr std::uint64_t kInstructions = 150;
  static constexpr std::uint64_t kLowBits = 0xfff;

  using Pairs = std::map<std::pair<std::uint64_t, std::uint64_t>, AliasPair>;

  // In the order of execution. Call next_instruction() behind the accesses of each.
  void see(const Access& access);
  void next_instruction() { ++now_; }

  // Forgets the stores: what follows does not follow them closely.
  void interrupt() { stores_ = {}; }

  std::uint64_t loads() const { return loads_; }
  // By the addresses of the loading and the storing instruction.
  const Pairs& pairs() const { return pairs_; }
  void clear_pairs() { pairs_.clear(); }

 private:
  struct Held {
    Access access;
    std::uint64_t when = 0;
  };

  std::array<Held, kStores> stores_{};
  std::size_t next_ = 0;
  std::uint64_t now_ = kInstructions + 1;
  std::uint64_t loads_ = 0;
  Pairs pairs_;
};

}  // namespace coz::linetable

#endif  // LINETABLE_ACCESSES_ALIAS_WINDOW_H
