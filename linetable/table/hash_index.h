// A hash index over the elements of a vector, for the millions of look-ups that building a line
// table takes. It holds nothing but positions in that vector, because most of the time of a larger
// table goes into clearing and missing its memory.
#ifndef LINETABLE_TABLE_HASH_INDEX_H
#define LINETABLE_TABLE_HASH_INDEX_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace coz::linetable {

class HashIndex {
 public:
  HashIndex() : slots_(1024, kEmpty) {}

  // The position of `element` in `elements`, to which it is appended if it is not among them yet.
  // The index must have been used with this vector only, and nothing else may add to it.
  // An Element has operator== and a member `std::uint64_t hash() const`.
  template <typename Element>
  std::uint32_t find_or_append(std::vector<Element>& elements, const Element& element) {
    if (2 * elements.size() >= slots_.size()) grow(elements);
    std::size_t i = first_slot(element);
    for (; slots_[i] != kEmpty; i = next_slot(i)) {
      if (elements[slots_[i]] == element) return slots_[i];
    }
    slots_[i] = static_cast<std::uint32_t>(elements.size());
    elements.push_back(element);
    return slots_[i];
  }

 private:
  static constexpr std::uint32_t kEmpty = 0xffffffffU;

  template <typename Element>
  [[nodiscard]] std::size_t first_slot(const Element& element) const {
    // Multiplying mixes towards the high bits only, hence the shift back down.
    const std::uint64_t hash = element.hash() * 0x9e3779b97f4a7c15ULL;
    return (hash ^ (hash >> 32)) & (slots_.size() - 1);
  }

  [[nodiscard]] std::size_t next_slot(std::size_t i) const { return (i + 1) & (slots_.size() - 1); }

  template <typename Element>
  void grow(const std::vector<Element>& elements) {
    slots_.assign(slots_.size() * 4, kEmpty);
    for (std::size_t position = 0; position < elements.size(); ++position) {
      std::size_t i = first_slot(elements[position]);
      while (slots_[i] != kEmpty) i = next_slot(i);
      slots_[i] = static_cast<std::uint32_t>(position);
    }
  }

  std::vector<std::uint32_t> slots_;  // a power of two of them
};

}  // namespace coz::linetable

#endif  // LINETABLE_TABLE_HASH_INDEX_H
