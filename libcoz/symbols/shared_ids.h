// Lines and functions that an earlier module has, too, for example those of a header that several
// binaries include: each has one id, that of the first module.
//
// Filled before any thread looks; after that, signal-safe.
#ifndef LIBCOZ_SYMBOLS_SHARED_IDS_H
#define LIBCOZ_SYMBOLS_SHARED_IDS_H

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace coz {

class SharedIds {
 public:
  // `id` in this module's table is the global `first`. The first call for an id counts. Then
  // sort(), before it is asked.
  void add(std::uint32_t id, std::uint32_t first) { ids_.emplace_back(id, first); }
  void sort() {
    std::stable_sort(ids_.begin(), ids_.end(),
                     [](const Pair& a, const Pair& b) { return a.first < b.first; });
    const auto is_same = [](const Pair& a, const Pair& b) { return a.first == b.first; };
    ids_.erase(std::unique(ids_.begin(), ids_.end(), is_same), ids_.end());
  }

  // The global id, or `own` if no earlier module has it.
  std::uint32_t of(std::uint32_t id, std::uint32_t own) const noexcept {
    const auto found = std::lower_bound(ids_.begin(), ids_.end(), id, is_before);
    return found != ids_.end() && found->first == id ? found->second : own;
  }

 private:
  using Pair = std::pair<std::uint32_t, std::uint32_t>;
  static bool is_before(const Pair& pair, std::uint32_t id) noexcept { return pair.first < id; }

  std::vector<Pair> ids_;
};

struct Module;

// Looks for what `module`, which is not in use yet, has in common with `first` and those that
// follow it. `with_functions`: functions, too; not while another thread may ask for their
// locations.
void share_ids(Module& module, const Module* first, bool with_functions);

}  // namespace coz

#endif  // LIBCOZ_SYMBOLS_SHARED_IDS_H
