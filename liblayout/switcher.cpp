#include "liblayout/switcher.h"

#include <cstddef>
#include <new>

#include "liblayout/process.h"

namespace coz::layout {
namespace {

constexpr std::size_t kStackSize = std::size_t{32} << 10;

// At the low end of the thread's stack.
struct Work {
  Layouts layouts;
  Random random;
  std::uint64_t interval;
};

int switch_for_ever(void* data) noexcept {
  Work& work = *static_cast<Work*>(data);
  const auto count = static_cast<std::uint32_t>(work.layouts.count());
  std::size_t selected = 0;
  while (sleep_for(work.interval)) {
    const std::size_t next = work.random.below(count);
    select_layout(work.layouts, selected, next);
    selected = next;
  }
  end_thread();
}

}  // namespace

bool start_switcher(const Layouts& layouts, Random random, std::uint64_t interval) noexcept {
  auto* const stack = static_cast<std::byte*>(map_memory(0, kStackSize));
  if (stack == nullptr) return false;
  Work* const work = new (stack) Work{layouts, random, interval};
  return start_thread(switch_for_ever, work, stack + kStackSize);
}

}  // namespace coz::layout
