#include "experiment/flow_meter.h"

#include <utility>

#include "kernel/thread_time.h"

namespace coz {

namespace {

// Less than 0: the thread has ended.
Nanoseconds processor_time_of_thread(const ThreadState& thread) {
  const int tid = thread.tid.load(std::memory_order_acquire);
  const int process = thread.process.load(std::memory_order_relaxed);
  if (process == ThreadState::kFirstProcess) return thread_cpu_time(tid);
  const auto time = read_thread_time(tid, process);
  return time ? time->ran : -1;
}

}  // namespace

void FlowMeter::open() {
  results_.clear();
  before_.reset();
  last_ = has_queues() ? read() : FlowReading{};
  if (!last_.threads.empty()) before_ = flow_between(written_, last_);
}

void FlowMeter::mark() {
  if (last_.threads.empty()) return;
  FlowReading reading = read();
  results_.push_back(flow_between(last_, reading));
  last_ = std::move(reading);
}

void FlowMeter::start_lap() { lap_ = has_queues() ? read() : FlowReading{}; }

std::optional<FlowResult> FlowMeter::lap() {
  if (lap_.threads.empty()) return std::nullopt;
  FlowReading reading = read();
  FlowResult result = flow_between(lap_, reading);
  lap_ = std::move(reading);
  return result;
}

bool FlowMeter::has_queues() {
  bool any = false;
  shared_.threads.for_each(
      [&](const ThreadState& thread) { any = any || thread.delay.queue_waits.any(); });
  return any;
}

FlowReading FlowMeter::read() {
  FlowReading reading;
  reading.time = now();
  reading.delay = shared_.global_delay.get();
  const std::uint32_t points = shared_.points.size();
  for (std::uint32_t i = 0; i < points; ++i) {
    const Point& point = shared_.points[i];
    if (point.kind != PointKind::kThroughput) continue;
    reading.visits.push_back({point.name, point.visits()});
  }
  shared_.threads.for_each([&](const ThreadState& thread) {
    reading.is_whole = reading.threads.size() < kMaxThreads;
    if (!reading.is_whole) return;
    const Nanoseconds ran = processor_time_of_thread(thread);
    if (ran >= 0) reading.add(thread.number, thread.delay, ran);
  });
  return reading;
}

}  // namespace coz
