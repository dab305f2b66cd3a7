#include "experiment/experimenter.h"

#include <unistd.h>

#include <algorithm>

#include "kernel/available_cores.h"

namespace coz {
namespace {

constexpr Nanoseconds kFirstCheckpoint = 2 * kSecond;

}  // namespace

Experimenter::Experimenter(const ExperimentOptions& options, SharedState& shared, Choice choice,
                           SampleSource& source, const SampleCounts& counts,
                           PointCounters& counters, ProfileWriter& log)
    : options_(options),
      shared_(shared),
      choice_(choice),
      source_(source),
      counts_(counts),
      counters_(counters),
      log_(log),
      random_(options.seed),
      fixed_(options.fixed_targets, choice.targets, counts.histogram),
      plan_(options.fixed_speedup, options.speedups),
      earlier_(options.earlier),
      companions_(options.companion_dose, counts.histogram, earlier_, options.period),
      meter_(shared.points, shared.operations),
      cores_(available_cores()),
      machine_cores_(online_cores()),
      start_(now()),
      flows_(shared, start_),
      // Who follows must not begin anew what may have been given up.
      load_(options.follows ? std::nullopt : options.load, shared.amplification),
      next_checkpoint_(start_ + kFirstCheckpoint) {
  if (options.stop_after > 0) stop_.stop_at(start_ + options.stop_after);
}

void Experimenter::run() {
  if (options_.sampling == Sampling::kOff) return;  // without samples nothing is sped up
  if (options_.follows) return;
  if (!options_.end_to_end && !wait_for_start()) return;
  if (!measure_load()) return;
  if (options_.end_to_end) {
    run_whole();
  } else {
    run_blocks();
  }
}

void Experimenter::take_descriptors() noexcept {
  while (handed_over_.sleep_for(kSecond) && !stop_.is_stopped()) {
  }
  reads_threads_ = hide_descriptors();
  taken_.stop();
}

bool Experimenter::wait_for_start() {
  while (!source_.is_started()) {
    if (!stop_.sleep_for(kMillisecond)) return false;
  }
  const Nanoseconds end = now() + options_.warmup;
  for (Nanoseconds left = options_.warmup; left > 0; left = end - now()) {
    if (!stop_.sleep_for(std::min(left, kNap)) || load_.gives_up()) return false;
    release_departed_if_due();
  }
  return true;
}

bool Experimenter::measure_load() {
  while (load_.is_measuring()) {
    if (!stop_.sleep_for(kNap)) return false;
    const Nanoseconds time = now() - start_;
    const auto record = load_.watch(time, time - global_delay());
    if (record) log_.append(*record);
    checkpoint_if_due();
  }
  return true;
}

bool Experimenter::has_no_target() const {
  return load_.is_on() && options_.fixed_speedup == 0 && options_.fixed_targets.empty();
}

bool Experimenter::hide_descriptors() const {
  std::vector<int> kept = counters_.descriptors();
  if (source_.descriptor() >= 0) kept.push_back(source_.descriptor());
  kept.push_back(log_.descriptor());
  kept.push_back(STDERR_FILENO);
  return coz::hide_descriptors(kept);
}

void Experimenter::run_blocks() {
  planner_.continue_series(options_.earlier.experiments);
  while (!stop_.is_stopped()) {
    earlier_.find_missing(choice_.targets);
    const auto planned = next_block();
    if (!planned) {
      if (load_.gives_up()) return;
      checkpoint_if_due();
      stop_.sleep_for(kNap);
      continue;
    }
    ++block_;
    const std::vector<BlockWindow> windows = windows_of(*planned);
    const std::uint64_t reference = random_.below(windows.size());
    for (std::size_t i = 0; i < windows.size(); ++i) {
      if (i == reference && !has_no_target() && !run_reference()) return;
      if (!run_window(planned->target, windows[i]) || load_.gives_up()) return;
      checkpoint_if_due();
    }
  }
}

bool Experimenter::run_window(std::uint32_t target, BlockWindow window) {
  select(target, window);
  const bool is_sped_up = window.speedup > 0 || window.partner.speedup > 0;
  if (is_sped_up) at_zero_.begin_speedup(counts_.histogram, run_time());
  const Nanoseconds selected = now();
  if (!settle() || !settle_queues(target)) return false;
  claim_waits();
  Opening opening = open_window(target);
  if (reads_threads_) {
    opening.waits = read_core_waits(shared_);
    opening.machine = read_machine_time();
  }
  companions_.open();
  meter_.open(look_at_points());
  if (!measure(window_.get(), gave_up_settling_ ? 0 : settle_limit_)) {
    deselect();
    ++discarded_.shutdown;
    return false;
  }
  claim_waits();
  ExperimentRecord record = describe(target, window.speedup, opening);
  if (reads_threads_) add_processor_times(record, opening);
  if (companions_.is_on()) record.companions = companion_results();
  record.unsettled = owes_delays();
  deselect();
  if (!is_sped_up) record.at_zero = at_zero_.of(counts_.histogram, target, record.run_time);
  record.settling = opening.time - selected;
  if (record.standstill == 0) {
    observe_queues(target, record);
    const auto sped_up = companions_.sped_up(target, window.speedup, run_time());
    if (!record.transient) planner_.observe(record.points, block_, sped_up);
  }
  // An idle program is not sped up, and its time may turn out not to count.
  const bool counts = log_or_discard(record) || record.delay > 0;
  if (is_sped_up && counts) at_zero_.end_speedup(counts_.histogram, run_time());
  return true;
}

bool Experimenter::settle() {
  const Nanoseconds begin = now();
  const Nanoseconds delay = global_delay();
  while (const Nanoseconds rest =
             settling_.rest(window_.queue_settling(), now() - begin, global_delay() - delay)) {
    if (!stop_.sleep_for(rest)) return false;
  }
  return true;
}

bool Experimenter::settle_queues(std::uint32_t target) {
  const Nanoseconds begin = now();
  settle_limit_ = settling_.limit(target, begin - start_);
  gave_up_settling_ = false;
  if (settle_limit_ == 0) return true;
  flows_.start_lap();
  bool is_steady = false;
  while (!is_steady && now() - begin < settle_limit_) {
    if (!stop_.sleep_for(window_.queue_settling())) return false;
    const auto lap = flows_.lap();
    if (!lap) return true;  // there are no queues
    is_steady = settling_.is_steady(*lap);
    checkpoint_if_due();
  }
  settling_.waited(now() - begin);
  gave_up_settling_ = !is_steady;
  return true;
}

bool Experimenter::measure(Nanoseconds length, Nanoseconds closing_limit) {
  const Nanoseconds interval = poll_interval(length);
  const Span window{now(), global_delay()};
  flows_.open();
  if (!poll_for(length / 2, window, interval)) return false;
  flows_.mark();
  meter_.halve(look_at_points());
  if (!wait_to_close(length, window, closing_limit, interval)) return false;
  flows_.mark();
  meter_.request_last_visits(look_at_points());
  // A point that was visited in this window should be visited again within another.
  const Nanoseconds give_up = now() + length;
  while (!meter_.has_last_visits() && now() < give_up) {
    if (!stop_.sleep_for(interval)) return false;
    meter_.poll(look_at_points());
  }
  return true;
}

bool Experimenter::wait_to_close(Nanoseconds length, const Span& window, Nanoseconds limit,
                                 Nanoseconds interval) {
  is_cut_ = false;
  if (limit == 0) return poll_for(length, window, interval);
  const Nanoseconds step = window_.queue_settling();
  if (!poll_for(length - step, window, interval)) return false;
  flows_.start_lap();
  if (!poll_for(length, window, interval)) return false;
  const Nanoseconds give_up = now() + limit;
  while (true) {
    const auto lap = flows_.lap();
    if (!lap || settling_.is_steady(*lap)) return true;
    if (now() >= give_up) break;
    if (!poll_until(now() + step, interval)) return false;
  }
  is_cut_ = true;
  return true;
}

bool Experimenter::poll_for(Nanoseconds length, const Span& window, Nanoseconds interval) {
  while (const Nanoseconds rest = settling_.rest_of_window(length, now() - window.opened,
                                                           global_delay() - window.delay)) {
    if (!poll_until(now() + rest, interval)) return false;
  }
  return true;
}

bool Experimenter::poll_until(Nanoseconds deadline, Nanoseconds interval) {
  for (Nanoseconds time = now(); time < deadline; time = now()) {
    if (!stop_.sleep_until(std::min(time + interval, deadline))) return false;
    meter_.poll(look_at_points());
  }
  return true;
}

Nanoseconds Experimenter::poll_interval(Nanoseconds length) const {
  // If the program only counts, an edge is as exact as polls are frequent: 0.2 % of the window.
  if (meter_.needs_fine_polls()) {
    return std::clamp(length / 500, 300 * kMicrosecond, 5 * kMillisecond);
  }
  return std::clamp(length / 50, 3 * kMillisecond, 50 * kMillisecond);
}

Experimenter::Opening Experimenter::open_window(std::uint32_t target) const {
  return {now(),
          global_delay(),
          counts_.histogram.total(),
          counts_.histogram.spun(),
          counts_.histogram.own_spun(),
          target == kNoTarget ? 0 : counts_.histogram.of(target),
          counts_.speed_probe->get(),
          {},
          {},
          load_.counts(),
          stop_.standstill()};
}

void Experimenter::add_processor_times(ExperimentRecord& record, const Opening& opening) {
  const CoreWaits waits = read_core_waits(shared_);
  // To spin in a marked wait is no work.
  const auto spun =
      options_.period * static_cast<Nanoseconds>(counts_.histogram.own_spun() - opening.own_spun);
  const auto without_spun = [=](Nanoseconds used) { return std::max<Nanoseconds>(used - spun, 0); };
  record.processor_time = without_spun(waits.processor_time - opening.waits.processor_time);
  record.machine = machine_time_since(opening.machine);
  if (record.machine) record.machine->busy = without_spun(record.machine->busy);
  const double idle =
      idle_part(*record.processor_time, cores_, record.machine ? record.machine->busy : 0,
                machine_cores_, record.duration);
  record.core_wait = core_wait_between(opening.waits, waits, idle);
  record.threads = thread_use_between(opening.waits, waits, idle);
}

ExperimentRecord Experimenter::describe(std::uint32_t target, int speedup,
                                        const Opening& opening) const {
  const Nanoseconds time = now();
  const Nanoseconds delay = global_delay();
  ExperimentRecord record;
  record.block = block_;
  TargetDescription described = describe_target(target);
  record.kind = std::move(described.kind);
  record.location = std::move(described.location);
  record.function = std::move(described.function);
  record.speedup = speedup;
  record.start = opening.time - start_;
  record.duration = time - opening.time;
  record.delay = delay - opening.global_delay;
  record.target_samples_so_far = target == kNoTarget ? 0 : counts_.histogram.of(target);
  record.target_samples = record.target_samples_so_far - opening.target_samples;
  record.samples =
      counts_.histogram.total() - opening.samples - (counts_.histogram.spun() - opening.spun);
  record.probe_time = mean_probe_time(opening.probes, counts_.speed_probe->get());
  record.run_time = run_time(time, delay);
  record.load = load_.since(opening.arrivals);
  record.points = meter_.results(time - delay);
  record.flows = flows_.results();
  record.flow_before = flows_.before();
  record.cut = is_cut_;
  record.standstill = stop_.standstill() - opening.standstill;
  return record;
}

bool Experimenter::log_or_discard(const ExperimentRecord& record) {
  // Where all arrives at once, effective time stands still, and periods mean nothing.
  if (load_.gives_up()) return false;
  if (record.standstill > 0) {
    ++discarded_.standstill;
    return false;
  }
  std::vector<double> visits;
  visits.reserve(record.points.size());
  for (const PointResult& point : record.points) {
    visits.push_back(
        static_cast<double>(point.kind == PointKind::kBegin ? point.arrivals : point.visits));
  }
  const bool visited =
      std::any_of(visits.begin(), visits.end(), [](double count) { return count > 0; });
  // Amplified load makes long delays, too, but there a longer window has more visits.
  if (!visited && !load_.is_on() && record.delay > record.duration / 4 * 3) {
    // The target ran all the time, and all other threads paused. A longer window would not help.
    ++discarded_.all_delay;
    return false;
  }
  window_.observe(visits, record.duration);
  if (!visited) {
    ++discarded_.few_visits;
    return false;
  }
  log_.append(record);
  flows_.written();
  ++experiments_;
  return true;
}

bool Experimenter::owes_delays() {
  release_departed();
  const Nanoseconds global = global_delay();
  // A thread pays at its next sample, so it may be behind by what others were charged within a
  // period or two.
  const Nanoseconds tolerated = 4 * options_.period + 2 * shared_.amplification.delay();
  bool unsettled = false;
  shared_.threads.for_each([&](const ThreadState& thread) {
    if (thread.delay.blocked.load(std::memory_order_relaxed)) return;
    // A thread that pauses is just settling.
    if (thread.delay.busy.load(std::memory_order_relaxed)) return;
    if (global - thread.delay.clock.local() <= tolerated) return;
    // One that sleeps in a call without a wrapper pays afterwards.
    const bool is_ours =
        thread.process.load(std::memory_order_relaxed) == ThreadState::kFirstProcess;
    if (!is_ours || is_runnable(thread.tid.load(std::memory_order_acquire))) unsettled = true;
  });
  return unsettled;
}

void Experimenter::finish() {
  if (options_.end_to_end) finish_whole();
  look_for_idle_ends(true);
  log_.append(samples_record(true));
}

}  // namespace coz
