#include "progress/operations.h"

namespace coz {

// One to one for each name, but for one identity that meets kFree and shares the key of another.
// Identities are often counters or addresses, so that all bits of the key must depend on all of
// theirs: the upper ones choose the bucket.
std::uint64_t Operations::key_of(std::uint32_t name, std::uint64_t identity) noexcept {
  std::uint64_t key = identity + (name + 1) * 0x9e3779b97f4a7c15U;
  for (int round = 0; round < 2; ++round) {
    key ^= key >> 32;
    key *= 0xd6e8feb86659fd93U;
  }
  key ^= key >> 32;
  return key == kFree ? 1 : key;
}

Operations::Place* Operations::find_place(Bucket& bucket, std::uint64_t key) noexcept {
  for (Place& place : bucket.places) {
    if (place.key.load(std::memory_order_relaxed) == key) return &place;
  }
  return nullptr;
}

void Operations::begin(std::uint32_t name, std::uint64_t identity, Nanoseconds time) noexcept {
  const std::uint64_t key = key_of(name, identity);
  Bucket& bucket = bucket_of(key);
  if (Place* open = find_place(bucket, key)) {
    open->begun.store(time, std::memory_order_relaxed);
    lose_begin(name);
    return;
  }
  for (Place& place : bucket.places) {
    std::uint64_t free = kFree;
    // Acquire: the thread that freed the place has read its time.
    if (!place.key.compare_exchange_strong(free, key, std::memory_order_acquire,
                                           std::memory_order_relaxed)) {
      continue;
    }
    place.begun.store(time, std::memory_order_relaxed);
    return;
  }
  lose_begin(name);
}

void Operations::end(std::uint32_t name, std::uint64_t identity, Nanoseconds time) noexcept {
  const std::uint64_t key = key_of(name, identity);
  Place* const open = find_place(bucket_of(key), key);
  if (open == nullptr) {
    kinds_[name].kind.lost_ends.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const Nanoseconds begun = open->begun.load(std::memory_order_relaxed);
  open->key.store(kFree, std::memory_order_release);
  kinds_[name].kind.durations.count(time - begun);
}

void Operations::forget() noexcept {
  for (Bucket& bucket : buckets_) {
    for (Place& place : bucket.places) place.key.store(kFree, std::memory_order_relaxed);
  }
  for (std::uint32_t name = 0; name < names_.size(); ++name) {
    Kind& kind = kinds_[name].kind;
    kind.lost_begins.store(0, std::memory_order_relaxed);
    kind.lost_ends.store(0, std::memory_order_relaxed);
    kind.durations.forget();
  }
}

}  // namespace coz
