// An open-addressing hash index from small keys to 32-bit values, for the millions of look-ups that
// building a line table takes. std::unordered_map allocates a node for each entry and is three to
// five times slower here.
#ifndef LINETABLE_HASH_INDEX_H
#define LINETABLE_HASH_INDEX_H

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace coz::linetable {

struct KeyPair {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  bool operator==(const KeyPair&) const = default;
};

class HashIndex {
 public:
  HashIndex() : slots_(1024) {}

  // The value stored for `key`; if there is none yet, `value` is stored and returned.
  std::uint32_t find_or_insert(KeyPair key, std::uint32_t value) {
    if (2 * used_ >= slots_.size()) grow();
    Slot& slot = slot_for(key);
    if (!slot.used) {
      slot = {key, value, true};
      ++used_;
    }
    return slot.value;
  }

 private:
  struct Slot {
    KeyPair key;
    std::uint32_t value = 0;
    bool used = false;
  };

  Slot& slot_for(KeyPair key) {
    // Multiplying mixes towards the high bits only, hence the shift back down.
    std::uint64_t hash = (key.high * 0x9e3779b97f4a7c15ULL) ^ (key.low * 0xc2b2ae3d27d4eb4fULL);
    hash ^= hash >> 32;
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = hash & mask;
    while (slots_[i].used && slots_[i].key != key) i = (i + 1) & mask;
    return slots_[i];
  }

  void grow() {
    std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.size() * 2));
    for (const Slot& slot : old) {
      if (slot.used) slot_for(slot.key) = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two of them
  std::size_t used_ = 0;
};

}  // namespace coz::linetable

#endif  // LINETABLE_HASH_INDEX_H
