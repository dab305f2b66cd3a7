#include "target/call_paths.h"

#include "kernel/zeroed_memory.h"

namespace coz {
namespace {

constexpr std::uint32_t kMaxProbes = 128;

// Never 0, which marks a free entry.
std::uint64_t key_of(const SourceFrame& frame, const SourceFrame* caller) noexcept {
  const std::uint64_t outer = caller == nullptr ? 0 : std::uint64_t{caller->line} + 1;
  return ((std::uint64_t{frame.line} + 1) << 32) | outer;
}

}  // namespace

CallPaths::~CallPaths() { unmap(entries_, sizeof(Entry) * kMaxPaths); }

bool CallPaths::reserve(Sharing sharing) noexcept {
  entries_ = static_cast<Entry*>(map_zeroed(sizeof(Entry) * kMaxPaths, sharing));
  return entries_ != nullptr;
}

std::optional<std::uint32_t> CallPaths::count(const SourceFrame& frame,
                                              const SourceFrame* caller) noexcept {
  if (entries_ == nullptr) return std::nullopt;
  const std::uint64_t key = key_of(frame, caller);
  auto index = static_cast<std::uint32_t>((key * 0x9e3779b97f4a7c15U) >> 49);
  static_assert(kMaxPaths == 1U << (64 - 49));
  for (std::uint32_t probe = 0; probe < kMaxProbes; ++probe, index = (index + 1) % kMaxPaths) {
    Entry& entry = entries_[index];
    std::uint64_t seen = entry.key.load(std::memory_order_acquire);
    // The loser of a race finds the winner's key in `seen`.
    if (seen == 0 && entry.key.compare_exchange_strong(seen, key, std::memory_order_acq_rel)) {
      seen = key;
    }
    if (seen != key) continue;
    // A function that another thread is just entering counts as a different one: then the path has
    // two numbers, which readers add up.
    const std::uint64_t function = std::uint64_t{frame.function} + 1;
    std::uint64_t entered = 0;
    if (!entry.function.compare_exchange_strong(entered, function, std::memory_order_acq_rel) &&
        entered != function) {
      continue;
    }
    entry.caller_function.store(caller == nullptr ? kNoFunction : caller->function,
                                std::memory_order_relaxed);
    entry.samples.fetch_add(1, std::memory_order_release);
    return index;
  }
  return std::nullopt;
}

std::optional<CallPath> CallPaths::get(std::uint32_t path) const noexcept {
  if (entries_ == nullptr || path >= kMaxPaths) return std::nullopt;
  const Entry& entry = entries_[path];
  const std::uint64_t samples = entry.samples.load(std::memory_order_acquire);
  if (samples == 0) return std::nullopt;
  const std::uint64_t key = entry.key.load(std::memory_order_relaxed);
  CallPath found;
  found.frame = {static_cast<std::uint32_t>(key >> 32) - 1,
                 static_cast<std::uint32_t>(entry.function.load(std::memory_order_relaxed) - 1)};
  found.samples = samples;
  if (const auto outer = static_cast<std::uint32_t>(key); outer != 0) {
    found.caller = {outer - 1, entry.caller_function.load(std::memory_order_relaxed)};
  }
  return found;
}

}  // namespace coz
