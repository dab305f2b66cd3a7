#include "experiment/core_waits.h"

#include <algorithm>

#include "kernel/process_state.h"

namespace coz {

namespace {

// Of the first process's threads but the calling one, and of all other processes of a tree.
Nanoseconds processor_time_of_all(SharedState& shared) {
  Nanoseconds time = others_processor_time();
  if (!shared.tree.is_on()) return time;
  for (const int process : other_processes(shared)) time += processor_time_of(process);
  return time + shared.tree.processor_time_of_left();
}

}  // namespace

std::set<int> other_processes(SharedState& shared) {
  std::set<int> processes;
  shared.threads.for_each([&](const ThreadState& thread) {
    const int process = thread.process.load(std::memory_order_relaxed);
    if (process != ThreadState::kFirstProcess) processes.insert(process);
  });
  return processes;
}

CoreWaits read_core_waits(SharedState& shared) {
  CoreWaits waits;
  shared.threads.for_each([&](const ThreadState& thread) {
    if (waits.threads.size() == CoreWaits::kMaxThreads) return;
    const int tid = thread.tid.load(std::memory_order_acquire);
    if (tid <= 0) return;
    const auto time = read_thread_time(tid, thread.process.load(std::memory_order_relaxed));
    if (time) waits.threads.push_back({tid, *time});
  });
  waits.processor_time = processor_time_of_all(shared);
  return waits;
}

std::optional<Nanoseconds> core_wait_between(const CoreWaits& from, const CoreWaits& to) {
  constexpr Nanoseconds kMinPart = 10;
  const bool all_known = from.threads.size() < CoreWaits::kMaxThreads;
  Nanoseconds ran = 0, waited = 0;
  for (const CoreWaits::Thread& thread : to.threads) {
    const auto before =
        std::find_if(from.threads.begin(), from.threads.end(),
                     [&](const CoreWaits::Thread& other) { return other.tid == thread.tid; });
    const bool is_known = before != from.threads.end();
    if (!is_known && !all_known) continue;
    ThreadTime start = is_known ? before->time : ThreadTime{};
    // The tid was reused: count from zero.
    if (start.ran > thread.time.ran || start.waited > thread.time.waited) start = {};
    ran += thread.time.ran - start.ran;
    waited += thread.time.waited - start.waited;
  }
  const Nanoseconds processor_time = to.processor_time - from.processor_time;
  if (ran <= 0 || ran < processor_time / kMinPart) return std::nullopt;
  const double scale = static_cast<double>(processor_time) / static_cast<double>(ran);
  return static_cast<Nanoseconds>(static_cast<double>(waited) * std::max(scale, 1.0));
}

}  // namespace coz
