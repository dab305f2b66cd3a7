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

// What each thread of `to` did since `from`. One that is not there began in between, unless there
// were too many to be read.
std::vector<CoreWaits::Thread> threads_between(const CoreWaits& from, const CoreWaits& to) {
  const bool all_known = from.threads.size() < CoreWaits::kMaxThreads;
  std::vector<CoreWaits::Thread> found;
  for (CoreWaits::Thread thread : to.threads) {
    const auto before =
        std::find_if(from.threads.begin(), from.threads.end(),
                     [&](const CoreWaits::Thread& other) { return other.tid == thread.tid; });
    const bool is_known = before != from.threads.end();
    if (!is_known && !all_known) continue;
    // A tid that was reused counts from zero.
    if (is_known && before->time.ran <= thread.time.ran &&
        before->time.waited <= thread.time.waited && before->time.slices <= thread.time.slices) {
      thread.time.ran -= before->time.ran;
      thread.time.waited -= before->time.waited;
      thread.time.slices -= before->time.slices;
      thread.thread_wait = std::max<Nanoseconds>(thread.thread_wait - before->thread_wait, 0);
      thread.target_samples -= std::min(thread.target_samples, before->target_samples);
    }
    found.push_back(thread);
  }
  return found;
}

// Without what idle processors needed to wake up.
Nanoseconds core_wait_of(const CoreWaits::Thread& thread, double idle) {
  const double wake_ups = idle * static_cast<double>(thread.time.slices * kMaxIdleWakeUp);
  return std::max<Nanoseconds>(thread.time.waited - static_cast<Nanoseconds>(wake_ups), 0);
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
    if (!time) return;
    const DelayState& state = thread.delay;
    waits.threads.push_back({tid, *time, state.thread_wait.load(std::memory_order_relaxed),
                             state.target_samples.load(std::memory_order_relaxed), thread.number});
  });
  waits.processor_time = processor_time_of_all(shared);
  return waits;
}

double idle_part(Nanoseconds processor_time, std::size_t cores, Nanoseconds machine_busy,
                 std::size_t machine_cores, Nanoseconds duration) {
  const auto filled = [=](Nanoseconds busy, std::size_t of) {
    return static_cast<double>(busy) / (static_cast<double>(of) * static_cast<double>(duration));
  };
  const double most = std::max(filled(processor_time, cores), filled(machine_busy, machine_cores));
  return std::max(1 - most, 0.0);
}

std::optional<Nanoseconds> core_wait_between(const CoreWaits& from, const CoreWaits& to,
                                             double idle) {
  constexpr Nanoseconds kMinPart = 10;
  Nanoseconds ran = 0, waited = 0;
  for (const CoreWaits::Thread& thread : threads_between(from, to)) {
    ran += thread.time.ran;
    waited += core_wait_of(thread, idle);
  }
  const Nanoseconds processor_time = to.processor_time - from.processor_time;
  if (ran <= 0 || ran < processor_time / kMinPart) return std::nullopt;
  const double scale = static_cast<double>(processor_time) / static_cast<double>(ran);
  return static_cast<Nanoseconds>(static_cast<double>(waited) * std::max(scale, 1.0));
}

std::optional<ThreadUse> thread_use_between(const CoreWaits& from, const CoreWaits& to,
                                            double idle) {
  std::vector<CoreWaits::Thread> threads = threads_between(from, to);
  const auto time_of = [](const CoreWaits::Thread& thread) {
    return static_cast<double>(thread.time.ran + thread.time.waited);
  };
  double ran = 0, time = 0;
  for (const CoreWaits::Thread& thread : threads) {
    ran += static_cast<double>(thread.time.ran);
    time += time_of(thread);
  }
  constexpr double kNearlyAll = 0.9;
  const auto all = static_cast<double>(to.processor_time - from.processor_time);
  const bool all_read = std::max(from.threads.size(), to.threads.size()) < CoreWaits::kMaxThreads;
  if (ran <= 0 || ran < kNearlyAll * all || !all_read) return std::nullopt;

  constexpr double kWorks = 0.01;
  std::erase_if(threads, [&](const auto& thread) { return time_of(thread) < kWorks * time; });
  ThreadUse use;
  for (const CoreWaits::Thread& thread : threads) {
    use.waited += thread.thread_wait;
    use.each.push_back(
        {thread.number, thread.time.ran, core_wait_of(thread, idle), thread.target_samples});
  }
  // Elsewhere one by one they tell no more than in sum, and profiles would grow.
  constexpr double kMaxThreadWait = 0.02;
  if (to.threads.size() < 2 || static_cast<double>(use.waited) > kMaxThreadWait * time) {
    use.each.clear();
  }
  return use;
}

}  // namespace coz
