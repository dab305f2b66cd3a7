// Pauses in sampling, for windows in which the program runs as it does without samples
// (docs/decisions/reference_windows.md): whether there is one now, and how many there were.
//
// begin() and end() are for one thread; any thread may call the rest, also in signal handlers.
#ifndef LIBCOZ_SAMPLING_SAMPLING_PAUSES_H
#define LIBCOZ_SAMPLING_SAMPLING_PAUSES_H

#include <atomic>
#include <cstdint>

namespace coz {

class SamplingPauses {
 public:
  void begin() noexcept { changes_.fetch_add(1, std::memory_order_relaxed); }
  void end() noexcept { changes_.fetch_add(1, std::memory_order_relaxed); }

  bool is_paused() const noexcept { return count() % 2 != 0; }

  // Beginnings and ends so far; the number changes with every pause.
  std::uint32_t count() const noexcept { return changes_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint32_t> changes_{0};
};

}  // namespace coz

#endif  // LIBCOZ_SAMPLING_SAMPLING_PAUSES_H
