#include "experiment/flow_meter.h"

#include <algorithm>

namespace coz {
namespace {

std::uint64_t number_of(std::uint32_t slot, const auto& threads) {
  const auto found = std::find_if(threads.begin(), threads.end(),
                                  [slot](const auto& thread) { return thread.slot == slot; });
  return found == threads.end() ? 0 : found->number;
}

Nanoseconds sum_of(const std::vector<QueueWaits::Wait>& waits) {
  Nanoseconds sum = 0;
  for (const QueueWaits::Wait& wait : waits) sum += wait.waited;
  return sum;
}

}  // namespace

void FlowMeter::open() {
  results_.clear();
  last_ = has_queues() ? read() : Reading{};
}

void FlowMeter::mark() {
  if (auto result = lap()) results_.push_back(std::move(*result));
}

std::optional<FlowResult> FlowMeter::lap() {
  if (last_.threads.empty()) return std::nullopt;
  Reading reading = read();
  FlowResult result;
  result.duration = reading.time - last_.time;
  result.delay = reading.delay - last_.delay;
  for (std::uint32_t i = 0; i < last_.visits.size(); ++i) {
    const Point& point = shared_.points[i];
    if (point.kind != PointKind::kThroughput) continue;
    result.visits.push_back({point.name, reading.visits[i] - last_.visits[i]});
  }
  for (const Thread& thread : reading.threads) {
    const auto before =
        std::find_if(last_.threads.begin(), last_.threads.end(),
                     [&](const Thread& other) { return other.number == thread.number; });
    if (before != last_.threads.end()) {
      result.threads.push_back(between(*before, thread, reading));
    }
  }
  last_ = std::move(reading);
  return result;
}

bool FlowMeter::has_queues() {
  bool any = false;
  shared_.threads.for_each(
      [&](const ThreadState& thread) { any = any || thread.delay.queue_waits.any(); });
  return any;
}

FlowMeter::Reading FlowMeter::read() {
  Reading reading;
  reading.time = now();
  reading.delay = shared_.global_delay.get();
  const std::uint32_t points = shared_.points.size();
  for (std::uint32_t i = 0; i < points; ++i) reading.visits.push_back(shared_.points[i].visits());
  shared_.threads.for_each([&](const ThreadState& thread) {
    if (reading.threads.size() == kMaxThreads) return;
    const Nanoseconds ran = thread_cpu_time(thread.tid.load(std::memory_order_acquire));
    if (ran < 0) return;
    const QueueWaits& waits = thread.delay.queue_waits;
    const Nanoseconds since = waits.since();
    Thread& read = reading.threads.emplace_back();
    read.number = thread.number;
    read.slot = thread.delay.slot;
    read.ran = ran - thread.delay.pause_cost.load(std::memory_order_relaxed);
    read.releases = thread.delay.releases.load(std::memory_order_relaxed);
    read.ongoing = since == 0 ? 0 : std::max<Nanoseconds>(0, reading.time - since);
    waits.for_each([&](const QueueWaits::Wait& wait) { read.waits.push_back(wait); });
  });
  return reading;
}

// A wait that ended in between is all in its sum, also the part from before.
ThreadFlow FlowMeter::between(const Thread& from, const Thread& to, const Reading& end) {
  ThreadFlow flow;
  flow.thread = to.number;
  flow.ran = std::max<Nanoseconds>(0, to.ran - from.ran);
  flow.releases = to.releases - from.releases;
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
    flow.waits.push_back({wait.object, number_of(wait.waker, end.threads),
                          static_cast<Nanoseconds>(part * static_cast<double>(ended_within))});
  }
  if (waited > ended_within) flow.waits.push_back({0, 0, waited - ended_within});
  return flow;
}

}  // namespace coz
