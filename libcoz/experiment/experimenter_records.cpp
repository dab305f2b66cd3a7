// What the experimenter reads for its records: samples from the start of the run, queues.
#include "experiment/core_waits.h"
#include "experiment/experimenter.h"
#include "experiment/lock_counts.h"
#include "kernel/process_state.h"
#include "thread/departed_threads.h"
#include "thread/session.h"

namespace coz {
namespace {

// Threads count as short-lived once a run has had more than kMinShortThreads, and
// kMaxThreadsPerSecond or more for each second of it.
constexpr Nanoseconds kMinShortThreads = 100;
constexpr Nanoseconds kMaxThreadsPerSecond = 20;

// A thread that waits in the selected target is charged until it is found that it was killed.
constexpr Nanoseconds kBetweenLooks = 100 * kMillisecond;

}  // namespace

TargetDescription Experimenter::describe_target(std::uint32_t target) const {
  if (target == kNoTarget) return {"none", "none", {}};
  const bool sampled = counts_.histogram.of(target) > 0;
  return choice_.targets.describe(target,
                                  sampled ? counts_.histogram.function_of(target) : kNoFunction);
}

void Experimenter::observe_queues(std::uint32_t target, ExperimentRecord& record) {
  if (record.flows.empty()) return;
  // A wait that had begun before the speedup changed can look like steady state, but only once.
  record.transient = gave_up_settling_ || !settling_.is_steady(record.flows.front());
  for (const FlowResult& half : record.flows) settling_.observe(target, half);
}

// Threads that live short share buckets, which hold one target (delay/young_charges.h).
bool Experimenter::combines() const {
  const Nanoseconds elapsed = now() - start_;
  const auto threads = static_cast<Nanoseconds>(shared_.threads.threads_seen());
  return companions_.is_on() && elapsed + earlier_.run_time() >= kSecond &&
         (threads <= kMinShortThreads || threads < kMaxThreadsPerSecond * elapsed / kSecond);
}

std::vector<CompanionResult> Experimenter::companion_results() {
  return companions_.results([&](std::uint32_t number, std::uint32_t target) {
    TargetDescription described = describe_target(target);
    log_.append(TargetRecord{number, std::move(described.kind), std::move(described.location),
                             std::move(described.function)});
  });
}

std::vector<LineCount> Experimenter::line_counts() const {
  std::vector<LineCount> counts;
  const std::uint32_t seen = counts_.histogram.seen_count();
  for (std::uint32_t i = 0; i < seen; ++i) {
    const std::uint32_t target = counts_.histogram.seen(i);
    if (target == kNoTarget) continue;
    TargetDescription described = describe_target(target);
    counts.push_back({std::move(described.kind), std::move(described.location),
                      std::move(described.function), counts_.histogram.of(target)});
  }
  return counts;
}

std::vector<CallerCount> Experimenter::callers() const {
  std::vector<CallerCount> callers;
  for (std::uint32_t id = 0; id < CallPaths::kMaxPaths; ++id) {
    const auto path = choice_.paths.get(id);
    // All functions without lines have one common line id.
    if (!path || !choice_.modules.is_line(path->frame.line)) continue;
    CallerCount count;
    count.location = choice_.modules.location(path->frame.line);
    count.function = choice_.modules.function_name(path->frame.function);
    if (path->caller) {
      count.caller = choice_.modules.location(path->caller->line);
      if (choice_.modules.is_line(path->caller->line)) {
        count.caller_function = choice_.modules.function_name(path->caller->function);
      }
    }
    count.count = path->samples;
    callers.push_back(std::move(count));
  }
  return callers;
}

void Experimenter::release_departed() {
  if (!shared_.tree.is_on()) return;
  departed_released_ = now();
  coz::release_departed(shared_, [](int process, std::uintptr_t mark) {
    return holds_own_number(process, reinterpret_cast<const void*>(mark));
  });
}

void Experimenter::release_departed_if_due() {
  if (shared_.tree.is_on() && now() >= departed_released_ + kBetweenLooks) release_departed();
}

ProcessCounts Experimenter::count_processes() {
  release_departed();
  return {shared_.tree.joined(), other_processes(shared_).size()};
}

SamplesRecord Experimenter::samples_record(bool final) {
  claim_waits();
  counters_.refresh();
  const Nanoseconds time = now();
  SamplesRecord record;
  record.run_time = run_time(time, global_delay());
  record.duration = time - start_;
  record.total = counts_.histogram.total();
  record.in_scope = counts_.histogram.in_scope();
  record.in_kernel = counts_.histogram.in_kernel();
  record.lines = line_counts();
  record.callers = callers();
  record.locks = count_locks(shared_.lock_waits, choice_.targets, choice_.modules);
  for (std::uint32_t i = 0; i < shared_.regions.size(); ++i) {
    record.regions.emplace_back(shared_.regions.name(i));
  }
  for (std::uint32_t i = 0; i < shared_.points.size(); ++i) {
    Point& point = shared_.points[i];
    if (point.kind == PointKind::kEnd) continue;
    PointResult result;
    result.name = point.name;
    result.kind = point.kind;
    result.visits = result.arrivals = point.visits();
    if (point.kind == PointKind::kBegin) {
      const Point* end = shared_.points.find(PointKind::kEnd, point.name);
      result.departures = end == nullptr ? 0 : end->visits();
      const auto operation = shared_.operations.find(point.name);
      if (operation) result.lost = shared_.operations.lost(*operation);
    }
    record.points.push_back(std::move(result));
  }
  record.experiments = experiments_;
  record.discarded = discarded_;
  record.threads = shared_.threads.threads_seen();
  if (shared_.tree.is_on()) {
    record.processes = count_processes();
  } else {
    record.children_time = processor_time_of_children() - children_time_before_;
  }
  record.load = load_.since({});
  record.final = final;
  return record;
}

// Samples stand for processor time.
void Experimenter::look_for_idle_ends(bool last) {
  if (options_.end_to_end) return;  // there the whole run is measured
  counters_.refresh();
  IdleEnds::Totals totals;
  totals.run_time = now() - start_ - global_delay() - unsampled_ - stop_.standstill();
  totals.processor_time = static_cast<Nanoseconds>(counts_.histogram.total()) * options_.period;
  for (std::uint32_t i = 0; i < shared_.points.size(); ++i) {
    totals.visits += shared_.points[i].visits();
  }
  idle_ends_.look(totals, last);
}

void Experimenter::checkpoint_if_due() {
  const Nanoseconds time = now();
  release_departed_if_due();
  look_for_idle_ends(false);
  if (time < next_checkpoint_) return;
  log_.append(samples_record(false));
  // At growing intervals: a program that is killed loses at most half of its histogram, and the log
  // stays small.
  next_checkpoint_ = time + (time - start_);
}

}  // namespace coz
