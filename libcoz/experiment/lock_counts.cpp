#include "experiment/lock_counts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace coz {
namespace {

constexpr std::size_t kMaxCounts = 512;

// The line that took the lock; its location is empty where that is out of scope or not known.
void name_holder(std::uintptr_t taken_at, const Modules& modules, LockCount& out) {
  std::array<SourceFrame, 1> frames;
  if (taken_at == 0 || modules.find(taken_at - 1, frames) == 0) return;
  out.holder = modules.location(frames.front().line);
  out.holder_function = modules.function_name(frames.front().function);
}

}  // namespace

std::vector<LockCount> count_locks(const LockWaits& waits, const Targets& targets,
                                   const Modules& modules) {
  std::map<std::tuple<std::uint32_t, std::string, std::uint32_t, std::string>, LockCount> counted;
  std::map<std::uintptr_t, std::uint32_t> numbers;  // of locks without a name
  waits.for_each([&](const LockWait& wait, std::uint64_t number, Nanoseconds waited) {
    LockCount named;
    named.lock = modules.object_name(wait.lock);
    if (named.lock.empty() && wait.lock != 0) {
      const auto next = static_cast<std::uint32_t>(numbers.size() + 1);
      named.unnamed = numbers.try_emplace(wait.lock, next).first->second;
    }
    name_holder(wait.taken_at, modules, named);
    LockCount& found = counted[{wait.target, named.lock, named.unnamed, named.holder}];
    if (found.location.empty()) {
      named.location = targets.describe(wait.target, kNoFunction).location;
      found = std::move(named);
    }
    found.waits += number;
    found.waited += waited;
  });
  std::vector<LockCount> counts;
  for (auto& [key, found] : counted) counts.push_back(std::move(found));
  std::ranges::stable_sort(counts, std::ranges::greater(), &LockCount::waited);
  counts.resize(std::min(counts.size(), kMaxCounts));
  return counts;
}

}  // namespace coz
