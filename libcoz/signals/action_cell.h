// What the program has set for a signal (struct sigaction): handlers read it while another thread,
// or the code that they have interrupted, sets it, and get the one or the other as a whole.
//
// Any thread, also in signal handlers. Setting blocks all signals for a moment.
#ifndef LIBCOZ_SIGNALS_ACTION_CELL_H
#define LIBCOZ_SIGNALS_ACTION_CELL_H

#include <signal.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "signals/signal_bits.h"

namespace coz {

class ActionCell {
 public:
  struct sigaction get() const noexcept {
    Words words;
    for (std::uint32_t before = 1, after = 0; before != after;) {
      do {
        before = changes_.load(std::memory_order_acquire);
      } while (before % 2 != 0);
      for (std::size_t i = 0; i < words.size(); ++i) {
        words[i] = words_[i].load(std::memory_order_relaxed);
      }
      std::atomic_thread_fence(std::memory_order_acquire);
      after = changes_.load(std::memory_order_relaxed);
    }
    struct sigaction action;
    std::memcpy(&action, words.data(), sizeof action);
    return action;
  }

  void set(const struct sigaction& action) noexcept {
    Words words{};
    std::memcpy(words.data(), &action, sizeof action);
    const SignalBits mask = change_kernel_mask(SIG_SETMASK, ~SignalBits{0});
    std::uint32_t before = changes_.load(std::memory_order_relaxed) & ~1U;
    while (!changes_.compare_exchange_weak(before, before + 1, std::memory_order_acquire)) {
      before &= ~1U;
    }
    std::atomic_thread_fence(std::memory_order_release);
    for (std::size_t i = 0; i < words.size(); ++i) {
      words_[i].store(words[i], std::memory_order_relaxed);
    }
    changes_.store(before + 2, std::memory_order_release);
    change_kernel_mask(SIG_SETMASK, mask);
  }

 private:
  using Words = std::array<std::uint64_t, (sizeof(struct sigaction) + 7) / 8>;

  std::atomic<std::uint32_t> changes_{0};  // odd: one is being made
  std::array<std::atomic<std::uint64_t>, std::tuple_size_v<Words>> words_{};
};

}  // namespace coz

#endif  // LIBCOZ_SIGNALS_ACTION_CELL_H
