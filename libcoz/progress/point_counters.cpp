#include "progress/point_counters.h"

#include <algorithm>
#include <optional>

#include "common/perf_event.h"
#include "common/raw_syscall.h"

namespace coz {
namespace {

void close_all(const std::vector<int>& events) noexcept {
  for (const int event : events) raw_syscall(SYS_close, event);
}

// nullopt when one of them cannot be read.
std::optional<std::size_t> sum_of(const std::vector<int>& events) noexcept {
  std::size_t sum = 0;
  for (const int event : events) {
    std::uint64_t count = 0;
    if (raw_syscall(SYS_read, event, reinterpret_cast<long>(&count), sizeof count) !=
        static_cast<long>(sizeof count)) {
      return std::nullopt;
    }
    sum += count;
  }
  return sum;
}

}  // namespace

PointCounters::~PointCounters() {
  for (const Counter& counter : counters_) close_all(counter.events);
}

long PointCounters::add(Point& point, std::span<const std::uintptr_t> addresses) {
  Counter counter{&point, {}};
  for (const std::uintptr_t address : addresses) {
    const long event = open_breakpoint_event(address, in_children_);
    if (event < 0) {
      close_all(counter.events);
      return event;
    }
    counter.events.push_back(static_cast<int>(event));
  }
  counters_.push_back(std::move(counter));
  return 0;
}

void PointCounters::refresh() noexcept {
  for (const Counter& counter : counters_) {
    const auto sum = sum_of(counter.events);
    // Never less than before: what has been counted stays counted.
    std::atomic<std::size_t>& count = counter.point->counter.count;
    if (sum && *sum > count.load(std::memory_order_relaxed)) {
      count.store(*sum, std::memory_order_relaxed);
    }
  }
}

void PointCounters::stop() noexcept {
  for (const Counter& counter : counters_) {
    for (const int event : counter.events) set_event_counting(event, false);
  }
}

std::vector<int> PointCounters::descriptors() const {
  std::vector<int> all;
  for (const Counter& counter : counters_) {
    all.insert(all.end(), counter.events.begin(), counter.events.end());
  }
  return all;
}

}  // namespace coz
