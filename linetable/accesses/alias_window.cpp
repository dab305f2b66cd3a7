#include "linetable/accesses/alias_window.h"

namespace coz::linetable {
namespace {

bool overlap(std::uint64_t first, std::uint32_t first_size, std::uint64_t second,
             std::uint32_t second_size) {
  return first < second + second_size && second < first + first_size;
}

}  // namespace

void AliasWindow::see(const Access& access) {
  if (access.is_store) {
    stores_[next_] = {access, now_};
    next_ = (next_ + 1) % kStores;
    return;
  }
  ++loads_;
  // The youngest store first: a load that one of the same address serves waits for none before it.
  for (std::size_t back = 1; back <= kStores; ++back) {
    const Held& held = stores_[(next_ + kStores - back) % kStores];
    if (held.access.size == 0 || now_ - held.when > kInstructions) return;
    const Access& store = held.access;
    if (overlap(access.address, access.size, store.address, store.size)) return;
    if (!overlap(access.address & kLowBits, access.size, store.address & kLowBits, store.size))
      continue;
    AliasPair& pair = pairs_[{access.pc, store.pc}];
    if (pair.count++ == 0) pair = {access, store, 1};
    return;
  }
}

}  // namespace coz::linetable
