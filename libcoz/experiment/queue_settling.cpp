#include "experiment/queue_settling.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace coz {
namespace {

// Threads that ran for less than this share of all processor time are left out.
constexpr double kMinRan = 0.01;
// Waits for less than this share of the time tie nobody.
constexpr double kMinWait = 0.03;

class Groups {
 public:
  explicit Groups(std::size_t threads) : parent_(threads) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  std::size_t root(std::size_t thread) const {
    while (parent_[thread] != thread) thread = parent_[thread];
    return thread;
  }
  void join(std::size_t one, std::size_t other) { parent_[root(one)] = root(other); }

 private:
  std::vector<std::size_t> parent_;
};

bool contains(const std::vector<std::uint64_t>& threads, std::uint64_t thread) {
  return std::find(threads.begin(), threads.end(), thread) != threads.end();
}

std::uint64_t place_of(const ThreadFlow::Wait& wait) {
  return wait.role != 0 ? wait.role : wait.object;
}

Nanoseconds sum_of(const ThreadFlow& thread) {
  Nanoseconds sum = 0;
  for (const ThreadFlow::Wait& wait : thread.waits) sum += wait.waited;
  return sum;
}

}  // namespace

Nanoseconds QueueSettling::rest(Nanoseconds length, Nanoseconds real, Nanoseconds delay) const {
  if (groups_.empty()) return std::max<Nanoseconds>(length - real, 0);
  const Nanoseconds wanted = length - (real - delay);
  const Nanoseconds left = std::min(kMaxStretch * length - real, wanted);
  return left < length / 16 ? 0 : left;
}

Nanoseconds QueueSettling::rest_of_window(Nanoseconds length, Nanoseconds real,
                                          Nanoseconds delay) const {
  const Nanoseconds added = groups_.empty() ? 0 : std::min(delay / 2, length);
  return std::max<Nanoseconds>(length + added - real, 0);
}

// A thread that pauses for all of the time is there, although it does not run; so what it ran
// before tells whether it counts.
std::size_t QueueSettling::count_groups(const FlowResult& flow) const {
  const auto min_ran = static_cast<Nanoseconds>(kMinRan * static_cast<double>(all_ran_));
  const auto min_wait = static_cast<Nanoseconds>(kMinWait * static_cast<double>(flow.duration));
  std::vector<bool> runs, counts;
  for (const ThreadFlow& thread : flow.threads) {
    const auto found = ran_.find(thread.thread);
    runs.push_back(found != ran_.end() && found->second > min_ran);
    counts.push_back(runs.back() || is_waited_for(thread.thread));
  }
  Groups groups(flow.threads.size());
  for (std::size_t i = 0; i < flow.threads.size(); ++i) {
    const ThreadFlow& waiter = flow.threads[i];
    if (!counts[i] || sum_of(waiter) < min_wait) continue;
    for (const ThreadFlow::Wait& wait : waiter.waits) {
      if (!runs[i] && wait.waker == 0) continue;
      const std::vector<std::uint64_t> tied =
          runs[i] ? tied_by(waiter.thread, wait) : std::vector{wait.waker};
      for (std::size_t j = 0; j < flow.threads.size(); ++j) {
        if (tied.empty() || contains(tied, flow.threads[j].thread)) groups.join(i, j);
      }
    }
  }
  std::vector<bool> is_counted(flow.threads.size());
  for (std::size_t i = 0; i < flow.threads.size(); ++i) {
    if (counts[i]) is_counted[groups.root(i)] = true;
  }
  return static_cast<std::size_t>(std::count(is_counted.begin(), is_counted.end(), true));
}

std::vector<std::uint64_t> QueueSettling::tied_by(std::uint64_t waiter,
                                                  const ThreadFlow::Wait& wait) const {
  std::uint64_t place = place_of(wait);
  std::uint64_t waker = wait.waker;
  const auto found = places_.find(waiter);
  if (found == places_.end()) return waker == 0 ? std::vector<std::uint64_t>() : std::vector{waker};
  if (waker == 0) {
    Nanoseconds longest = 0;
    for (const auto& [usual_place, wakers] : found->second) {
      for (const auto& [usual, waited] : wakers) {
        if (waited <= longest) continue;
        longest = waited;
        place = usual_place;
        waker = usual;
      }
    }
  }
  std::vector<std::uint64_t> tied = {waker};
  const auto at_place = found->second.find(place);
  if (at_place == found->second.end()) return tied;
  for (const auto& [other, waited] : at_place->second) {
    if (is_mutual(place, waiter, other)) return {waker};
    tied.push_back(other);
  }
  return tied;
}

bool QueueSettling::is_waited_for(std::uint64_t thread) const {
  const auto found = waited_for_.find(thread);
  return found != waited_for_.end() &&
         static_cast<double>(found->second) > kMinWait * static_cast<double>(observed_);
}

bool QueueSettling::is_mutual(std::uint64_t place, std::uint64_t one, std::uint64_t other) const {
  const auto waits_of_other = places_.find(other);
  if (waits_of_other == places_.end()) return false;
  const auto found = waits_of_other->second.find(place);
  return found != waits_of_other->second.end() && found->second.contains(one);
}

void QueueSettling::observe(std::uint32_t target, const FlowResult& half) {
  if (ran_.size() > kMaxThreads) {  // most of them have ended
    ran_.clear();
    all_ran_ = 0;
    observed_ = 0;
    places_.clear();
    waited_for_.clear();
  }
  observed_ += half.duration;
  for (const ThreadFlow& thread : half.threads) {
    ran_[thread.thread] += thread.ran;
    all_ran_ += thread.ran;
    for (const ThreadFlow::Wait& wait : thread.waits) {
      if (wait.waker == 0) continue;
      places_[thread.thread][place_of(wait)][wait.waker] += wait.waited;
      waited_for_[wait.waker] += wait.waited;
    }
  }
  const std::size_t groups = count_groups(half);
  groups_.push_back(groups);
  if (groups_.size() > kHistory) groups_.pop_front();
  std::deque<std::size_t>& own = by_target_[target];
  own.push_back(groups);
  if (own.size() > kTargetHistory) own.pop_front();
}

bool QueueSettling::is_usual(std::size_t groups) const {
  if (groups_.size() < kMinHistory) return true;
  std::vector<std::size_t> sorted(groups_.begin(), groups_.end());
  std::sort(sorted.begin(), sorted.end());
  return groups <= sorted[static_cast<std::size_t>(kMinUsual * static_cast<double>(sorted.size()))];
}

bool QueueSettling::is_slow(std::uint32_t target) const {
  const auto found = by_target_.find(target);
  if (found == by_target_.end()) return false;
  const std::deque<std::size_t>& own = found->second;
  const auto unsteady =
      std::count_if(own.begin(), own.end(), [&](std::size_t groups) { return !is_usual(groups); });
  return static_cast<double>(unsteady) > kMinUnsteady * static_cast<double>(own.size());
}

Nanoseconds QueueSettling::limit(std::uint32_t target, Nanoseconds elapsed) const {
  if (!is_slow(target)) return 0;
  const auto left = static_cast<Nanoseconds>(kMaxShare * static_cast<double>(elapsed)) - waited_;
  // To wait for less would be in vain.
  return left < kLimit ? 0 : kLimit;
}

}  // namespace coz
