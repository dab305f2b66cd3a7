#include "experiment/flow_reading.h"

#include <algorithm>

namespace coz {
namespace {

std::uint64_t number_of(std::uint32_t slot, const FlowReading& reading) {
  const auto found =
      std::find_if(reading.threads.begin(), reading.threads.end(),
                   [slot](const FlowReading::Thread& thread) { return thread.slot == slot; });
  return found == reading.threads.end() ? 0 : found->number;
}

Nanoseconds sum_of(const std::vector<QueueWaits::Wait>& waits) {
  Nanoseconds sum = 0;
  for (const QueueWaits::Wait& wait : waits) sum += wait.waited;
  return sum;
}

// A wait that ended in between is all in its sum, also the part from before.
ThreadFlow flow_of(const FlowReading::Thread& from, const FlowReading::Thread& to,
                   const FlowReading& end) {
  ThreadFlow flow;
  flow.thread = to.number;
  flow.ran = std::max<Nanoseconds>(0, to.ran - from.ran);
  flow.releases = to.releases - from.releases;
  flow.target_samples = to.target_samples - from.target_samples;
  const Nanoseconds ended = sum_of(to.waits) - sum_of(from.waits);
  const Nanoseconds waited = ended + to.ongoing - from.ongoing;
  const Nanoseconds ended_within = std::max<Nanoseconds>(0, std::min(waited, ended));
  for (const QueueWaits::Wait& wait : to.waits) {
    const auto before =
        std::find_if(from.waits.begin(), from.waits.end(), [&](const QueueWaits::Wait& other) {
          return other.object == wait.object && other.waker == wait.waker;
        });
    const Nanoseconds grown = wait.waited - (before == from.waits.end() ? 0 : before->waited);
    if (grown <= 0) continue;
    // Less what was before, which may have been of any of these.
    const double part = static_cast<double>(grown) / static_cast<double>(ended);
    flow.waits.push_back({wait.object, number_of(wait.waker, end),
                          static_cast<Nanoseconds>(part * static_cast<double>(ended_within)),
                          wait.role});
  }
  if (waited > ended_within) flow.waits.push_back({0, 0, waited - ended_within});
  return flow;
}

}  // namespace

void FlowReading::add(std::uint64_t number, const DelayState& state, Nanoseconds ran) {
  const Nanoseconds since = state.queue_waits.since();
  Thread& thread = threads.emplace_back();
  thread.number = number;
  thread.slot = state.slot;
  thread.ran = ran - state.pause_cost.load(std::memory_order_relaxed);
  thread.releases = state.releases.load(std::memory_order_relaxed);
  thread.target_samples = state.target_samples.load(std::memory_order_relaxed);
  thread.ongoing = since == 0 ? 0 : std::max<Nanoseconds>(0, time - since);
  state.queue_waits.for_each([&](const QueueWaits::Wait& wait) { thread.waits.push_back(wait); });
}

FlowResult flow_between(const FlowReading& from, const FlowReading& to) {
  FlowResult result;
  result.duration = to.time - from.time;
  result.delay = to.delay - from.delay;
  for (std::size_t i = 0; i < to.visits.size(); ++i) {
    const std::uint64_t before = i < from.visits.size() ? from.visits[i].count : 0;
    result.visits.push_back({to.visits[i].point, to.visits[i].count - before});
  }
  for (const FlowReading::Thread& thread : to.threads) {
    const auto before = std::find_if(
        from.threads.begin(), from.threads.end(),
        [&](const FlowReading::Thread& other) { return other.number == thread.number; });
    const bool is_new = before == from.threads.end();
    if (is_new && !from.is_whole) continue;
    result.threads.push_back(flow_of(is_new ? FlowReading::Thread{} : *before, thread, to));
  }
  return result;
}

}  // namespace coz
