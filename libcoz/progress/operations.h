// Operations that can be told apart: COZ_BEGIN_ID and COZ_END_ID give each an identity, so that its
// duration is known, wherever it ends.
//
// Open operations are in one table of fixed size, by name and identity. An operation has a place
// among the few to which its key is hashed. If other operations take all of them, it is not
// followed: it is lost. So is an end without a begin, and an operation whose identity begins
// again before it has ended.
//
// Between the begin and the end of an operation the program hands it over, so that the end sees
// what the begin wrote. Two threads that use one identity at once get wrong durations, no more.
//
// Any thread may call find_or_add(), but not in a signal handler; it takes a spin lock for a few
// string comparisons. begin() and end() are signal-safe: they neither allocate nor lock.
#ifndef LIBCOZ_PROGRESS_OPERATIONS_H
#define LIBCOZ_PROGRESS_OPERATIONS_H

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "kernel/name_table.h"
#include "progress/duration_histogram.h"
#include "progress/point_registry.h"

namespace coz {

class Operations {
 public:
  // Each name is that of a point, so that there is room for all.
  static constexpr std::uint32_t kMaxNames = PointRegistry::kMaxPoints;
  static constexpr std::uint32_t kPlaces = 8192;
  static constexpr std::uint32_t kNear = 8;  // places for one key

  // nullopt when there is no room for another name.
  std::optional<std::uint32_t> find_or_add(std::string_view name) noexcept {
    return names_.find_or_add(
        name, [this](std::uint32_t number) { std::construct_at(&kinds_[number].kind); });
  }
  std::optional<std::uint32_t> find(std::string_view name) const noexcept {
    return names_.find(name);
  }

  // For an existing name. Times are effective.
  void begin(std::uint32_t name, std::uint64_t identity, Nanoseconds time) noexcept;
  void end(std::uint32_t name, std::uint64_t identity, Nanoseconds time) noexcept;

  const DurationHistogram& durations(std::uint32_t name) const noexcept {
    return kinds_[name].kind.durations;
  }
  // How many operations have no duration, for one of the reasons above. One that was not followed
  // from its begin has an end that is not followed either, so that the larger number has them all.
  std::uint64_t lost(std::uint32_t name) const noexcept {
    const Kind& kind = kinds_[name].kind;
    return std::max(kind.lost_begins.load(std::memory_order_relaxed),
                    kind.lost_ends.load(std::memory_order_relaxed));
  }

  // In a forked child, which has no other thread: a thread of the parent may have held the lock.
  void release_lock() noexcept { names_.release_lock(); }
  // Forgets all operations, open or ended. While no thread visits a point.
  void forget() noexcept;

 private:
  struct Place {
    std::atomic<std::uint64_t> key{kFree};
    std::atomic<Nanoseconds> begun{0};
  };
  // The places of one key: two cache lines.
  struct alignas(64) Bucket {
    std::array<Place, kNear> places{};
  };
  struct Kind {
    std::atomic<std::uint64_t> lost_begins{0};
    std::atomic<std::uint64_t> lost_ends{0};
    DurationHistogram durations;
  };

  // Takes memory from the time when its name is added.
  union Slot {
    Slot() noexcept {}
    Kind kind;
  };

  static constexpr std::uint64_t kFree = 0;

  static std::uint64_t key_of(std::uint32_t name, std::uint64_t identity) noexcept;
  Bucket& bucket_of(std::uint64_t key) noexcept {
    return buckets_[static_cast<std::uint32_t>(key >> 32) % buckets_.size()];
  }
  static Place* find_place(Bucket& bucket, std::uint64_t key) noexcept;
  void lose_begin(std::uint32_t name) noexcept {
    kinds_[name].kind.lost_begins.fetch_add(1, std::memory_order_relaxed);
  }

  std::array<Bucket, kPlaces / kNear> buckets_{};
  std::array<Slot, kMaxNames> kinds_;
  NameTable<kMaxNames, 256> names_;
};

}  // namespace coz

#endif  // LIBCOZ_PROGRESS_OPERATIONS_H
