// The queues (outside_queue.h) in front of what the program's threads wait for, by the call that
// waits.
//
// Any thread, also in signal handlers. Nothing waits: a request that finds its queue in use is left
// out. Where a process is killed while it uses one, that queue is never used again. Most requests
// at calls that hardly ever wait, as reads of a cached file, are left out, too: counting them would
// cost as much as the call. Zeroed memory is empty.
#ifndef LIBCOZ_DELAY_OUTSIDE_QUEUES_H
#define LIBCOZ_DELAY_OUTSIDE_QUEUES_H

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "common/clock.h"
#include "delay/outside_queue.h"

namespace coz {

class OutsideQueues {
 public:
  struct Request {
    OutsideQueue::Request request;
    std::uint32_t place = 0;  // + 1; 0: there is none
  };

  // Whether requests at `site` are known to be served in turn; false while another thread uses what
  // is known.
  bool is_queue(std::uintptr_t site) noexcept {
    Place& place = places_[place_of(site)];
    if (place.site.load(std::memory_order_relaxed) != site) return false;
    if (!place.take(1)) return false;
    const bool is_one = place.queue.servers() != 0;
    place.give_back();
    return is_one;
  }

  // A thread that has served `local` begins to wait in the call at `site`.
  Request come(std::uintptr_t site, Nanoseconds now, Nanoseconds local) noexcept {
    const std::uint32_t index = place_of(site);
    Place& place = places_[index];
    std::uintptr_t nobody = 0;
    if (place.site.load(std::memory_order_relaxed) != site &&
        !place.site.compare_exchange_strong(nobody, site, std::memory_order_relaxed)) {
      return {};
    }
    if (place.hardly_waits() && !is_counted_all_the_same(now)) return {};
    if (!place.take(1)) return {};
    const Request request{place.queue.come(now, local), index + 1};
    place.give_back();
    return request;
  }

  // The wait has ended otherwise: by a thread of the program, a time-out, or an error.
  void give_up(const Request& request) noexcept {
    if (request.place != 0) places_[request.place - 1].missed.fetch_add(1);
  }

  // Something outside has. Returns when it is to end.
  Nanoseconds finish(const Request& request, Nanoseconds now) noexcept {
    if (request.place == 0) return now;
    Place& place = places_[request.place - 1];
    place.count_wait(now - request.request.came >= OutsideQueue::kMinWait);
    if (!place.take(kAttempts)) {
      give_up(request);
      return now;
    }
    const Nanoseconds end = place.queue.finish(request.request, now);
    place.give_back();
    return end;
  }

 private:
  static constexpr std::uint32_t kPlaces = 256;
  static constexpr std::uint64_t kHash = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio
  static constexpr int kHashShift = 56;

  static constexpr int kAttempts = 20;
  static constexpr std::uint32_t kManyShortCalls = 64;

  static std::uint32_t place_of(std::uintptr_t site) noexcept {
    return static_cast<std::uint32_t>(site * kHash >> kHashShift);
  }

  // One in sixteen, by the clock.
  static bool is_counted_all_the_same(Nanoseconds now) noexcept { return (now >> 10) % 16 == 0; }

  struct alignas(64) Place {
    std::atomic<std::uintptr_t> site{0};
    std::atomic<std::uint32_t> short_calls{0};  // that did not wait, in a row

    // Changes with each request, unlike what is above.
    alignas(64) std::atomic<bool> in_use{false};
    std::atomic<std::uint32_t> missed{0};  // requests given up since it was used
    OutsideQueue queue{};

    bool take(int attempts) noexcept {
      while (in_use.load(std::memory_order_relaxed) ||
             in_use.exchange(true, std::memory_order_acquire)) {
        if (--attempts == 0) return false;
      }
      if (missed.load(std::memory_order_relaxed) != 0) {
        queue.forget(missed.exchange(0, std::memory_order_relaxed));
      }
      return true;
    }
    void give_back() noexcept { in_use.store(false, std::memory_order_release); }

    bool hardly_waits() const noexcept {
      return short_calls.load(std::memory_order_relaxed) >= kManyShortCalls;
    }
    void count_wait(bool waited) noexcept {
      const std::uint32_t before = short_calls.load(std::memory_order_relaxed);
      const std::uint32_t after = waited ? 0 : std::min(before + 1, kManyShortCalls);
      if (after != before) short_calls.store(after, std::memory_order_relaxed);
    }
  };

  std::array<Place, kPlaces> places_{};
};

}  // namespace coz

#endif  // LIBCOZ_DELAY_OUTSIDE_QUEUES_H
