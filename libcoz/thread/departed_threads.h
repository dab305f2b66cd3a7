// Releases what processes of the tree held that are gone: killed, or become another program.
//
// What their threads have counted stays. What they were about to be charged, and what they owe,
// ends with them.
#ifndef LIBCOZ_THREAD_DEPARTED_THREADS_H
#define LIBCOZ_THREAD_DEPARTED_THREADS_H

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "thread/shared_state.h"

namespace coz {

// `is_there(process, mark)`: whether it still takes part; asked once for each, as far as there are
// not too many. `mark`: ThreadState::process_mark.
template <typename IsThere>
void release_departed(SharedState& shared, IsThere is_there) {
  constexpr std::size_t kMaxKnown = 64;
  struct Answer {
    int process;
    std::uintptr_t mark;
    bool is_there;
  };
  std::array<Answer, kMaxKnown> known;
  std::size_t count = 0;
  const auto ask = [&](int process, std::uintptr_t mark) {
    const auto end = known.begin() + static_cast<std::ptrdiff_t>(count);
    const auto found = std::find_if(known.begin(), end, [=](const Answer& answer) {
      return answer.process == process && answer.mark == mark;
    });
    if (found != end) return found->is_there;
    const Answer answer{process, mark, is_there(process, mark)};
    if (count < kMaxKnown) known[count++] = answer;
    return answer.is_there;
  };
  shared.threads.for_each([&](ThreadState& thread) {
    const int process = thread.process.load(std::memory_order_relaxed);
    const std::uintptr_t mark = thread.process_mark.load(std::memory_order_relaxed);
    if (process == ThreadState::kFirstProcess || ask(process, mark)) return;
    shared.threads.release_if(thread, process, mark, [&] {
      shared.pending.give_up(thread.delay.slot);
      shared.waits.forget(thread.delay.slot);
      shared.outside.give_up(thread.delay.outside);
    });
  });
}

}  // namespace coz

#endif  // LIBCOZ_THREAD_DEPARTED_THREADS_H
