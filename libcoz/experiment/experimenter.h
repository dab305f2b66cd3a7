// Runs the experiments: the loop of dissertation §5.2.2, in a thread of its own.
//
//   if load amplification depends on how often requests arrive: measure that first
//   wait until targets have been sampled
//   draw a target; for each speedup of its block:
//     select target and speedup, and draw companions (companions.h)
//     wait until queues have reached steady state (queue_settling.h)
//     open the window; wait for its length
//     end it: latency points now, by the clock; a throughput point at its next visit
//     log the result
//   and once in a block, the same with nothing selected and sampling paused: a reference window,
//   which shows what profiling itself costs (docs/decisions/reference_windows.md)
//
// If load is amplified and nothing is to be sped up (--fixed-speedup 0), windows have no target.
// target_planner.h decides which target a block is about; combined windows need none where
// companions tell enough.
//
// run(), then wait_for_stop() and finish(), are for the profiler's thread. Any thread may call
// stop(): run() then returns soon and discards the window under way. If profiling ends before the
// program (--stop-after), run() returns by itself. finish() writes the last records. With
// end_to_end the whole run is one window, which finish() closes.
#ifndef LIBCOZ_EXPERIMENT_EXPERIMENTER_H
#define LIBCOZ_EXPERIMENT_EXPERIMENTER_H

#include <vector>

#include "experiment/companions.h"
#include "experiment/core_waits.h"
#include "experiment/earlier_samples.h"
#include "experiment/experiment_options.h"
#include "experiment/fixed_targets.h"
#include "experiment/flow_meter.h"
#include "experiment/idle_ends.h"
#include "experiment/partners.h"
#include "experiment/queue_settling.h"
#include "experiment/random.h"
#include "experiment/samples_at_zero.h"
#include "experiment/speedup_plan.h"
#include "experiment/target_planner.h"
#include "experiment/target_selector.h"
#include "experiment/window_length.h"
#include "experiment/window_meter.h"
#include "kernel/machine_time.h"
#include "kernel/process_state.h"
#include "kernel/stop_signal.h"
#include "load/load_control.h"
#include "profile_log/profile_writer.h"
#include "progress/point_counters.h"
#include "sampling/sample_counts.h"
#include "sampling/sample_source.h"
#include "sampling/waits.h"
#include "symbols/modules.h"
#include "target/targets.h"
#include "thread/shared_state.h"

namespace coz {

class Experimenter {
 public:
  // What can be selected, and its names.
  struct Choice {
    const Targets& targets;
    const CallPaths& paths;
    const Modules& modules;
    Waits& waits;
  };
  Experimenter(const ExperimentOptions& options, SharedState& shared, Choice choice,
               SampleSource& source, const SampleCounts& counts, PointCounters& counters,
               ProfileWriter& log);

  void run();
  void stop() noexcept { stop_.stop(); }
  // First of all in the profiler's thread: waits until sampling has started or failed to, and then
  // hides the descriptors from the program, which may close all or reuse their numbers.
  void take_descriptors() noexcept;
  // After sampling has started or failed to: returns when the thread has taken them.
  void hand_over_descriptors() noexcept {
    handed_over_.stop();
    taken_.sleep_for(kMaxTakingTime);
  }
  // Waits until stop(), or the time at which profiling ends, for run() may return before.
  void wait_for_stop() noexcept {
    while (stop_.sleep_for(kSecond)) {
    }
  }
  void finish();

 private:
  // Totals at the opening of a window.
  struct Opening {
    Nanoseconds time;
    Nanoseconds global_delay;
    std::uint64_t samples;
    std::uint64_t spun;
    std::uint64_t own_spun;
    std::uint64_t target_samples;
    SpeedProbe::Sum probes;
    CoreWaits waits;
    std::optional<MachineTime> machine;
    ArrivalCounts arrivals;
    Nanoseconds standstill;
  };

  // A window of a block: the main target's speedup, per cent, and the partner with its own, if any.
  struct BlockWindow {
    int speedup;
    Companion partner = {kNoTarget, 0};
  };

  // When a window was opened, and G then.
  struct Span {
    Nanoseconds opened;
    Nanoseconds delay;
  };

  void run_blocks();
  void run_whole();
  void finish_whole();
  // False when stopped.
  bool wait_for_start();
  // False when stopped.
  bool measure_load();
  // True if only load is amplified, without a target.
  bool has_no_target() const;
  std::optional<PlannedBlock> next_block();
  std::vector<BlockWindow> windows_of(const PlannedBlock& planned);
  // False when stopped.
  bool run_window(std::uint32_t target, BlockWindow window);
  // Until what the speedup before has left is likely to be over. False when stopped.
  bool settle();
  // Waits for steady state where it is known to take long. False when stopped.
  bool settle_queues(std::uint32_t target);
  void observe_queues(std::uint32_t target, ExperimentRecord& record);
  bool run_reference();
  bool measure_reference();
  // `closing_limit`: for how much longer the window may stay open until queues are in steady state
  // once more; 0: it closes after its length.
  bool measure(Nanoseconds length, Nanoseconds closing_limit);
  bool wait_to_close(Nanoseconds length, const Span& window, Nanoseconds limit,
                     Nanoseconds interval);
  // Until the window has lasted for `length`.
  bool poll_for(Nanoseconds length, const Span& window, Nanoseconds interval);
  bool poll_until(Nanoseconds deadline, Nanoseconds interval);
  Nanoseconds poll_interval(Nanoseconds length) const;

  void select(std::uint32_t target, BlockWindow window);
  std::optional<std::uint32_t> draw_partner(std::uint32_t target);
  std::vector<CompanionResult> companion_results();
  // May windows have companions now?
  bool combines() const;
  // Effective, without reference windows, idle ends and standstill; at the real time `at`, with G
  // as it was then.
  Nanoseconds run_time(Nanoseconds at, Nanoseconds delay) const {
    return at - start_ - delay - unsampled_ - idle_ends_.idle() - stop_.standstill();
  }
  Nanoseconds run_time() const { return run_time(now(), global_delay()); }
  void look_for_idle_ends(bool last);
  Opening open_window(std::uint32_t target) const;
  void add_processor_times(ExperimentRecord& record, const Opening& opening);
  ExperimentRecord describe(std::uint32_t target, int speedup, const Opening& opening) const;
  // False if it discards it.
  bool log_or_discard(const ExperimentRecord& record);
  void checkpoint_if_due();
  SamplesRecord samples_record(bool final);
  ProcessCounts count_processes();

  // Selects nothing from now on.
  void deselect();
  // G, raised to what has accrued to threads that wait in the selected target.
  Nanoseconds global_delay() const;
  // Charges and counts the waits under way, where waits are targets.
  void claim_waits() const;

  // True if a running thread owes more than it could have paid by now.
  bool owes_delays();
  Nanoseconds effective_now() const { return now() - global_delay(); }
  // The same, after points that the kernel counts have been brought up to date.
  Nanoseconds look_at_points() {
    release_departed_if_due();
    counters_.refresh();
    return effective_now();
  }
  // With --tree: gives back what processes held that are gone.
  void release_departed();
  void release_departed_if_due();
  bool hide_descriptors() const;
  TargetDescription describe_target(std::uint32_t target) const;
  std::vector<LineCount> line_counts() const;
  std::vector<CallerCount> callers() const;

  const ExperimentOptions& options_;
  SharedState& shared_;
  Choice choice_;
  SampleSource& source_;
  const SampleCounts& counts_;
  PointCounters& counters_;
  ProfileWriter& log_;

  StopSignal stop_;
  StopSignal handed_over_;
  StopSignal taken_;
  Random random_;
  TargetSelector selector_;  // of fixed targets
  FixedTargets fixed_;
  SpeedupPlan plan_;
  EarlierSamples earlier_;
  Companions companions_;
  TargetPlanner planner_;
  Partners partners_;
  WindowLength window_;
  WindowMeter meter_;
  std::size_t cores_;
  std::size_t machine_cores_;
  Nanoseconds start_;
  FlowMeter flows_;
  QueueSettling settling_;
  Nanoseconds settle_limit_ = 0;   // of the present window
  bool gave_up_settling_ = false;  // before it
  bool is_cut_ = false;            // it closed without steady state
  LoadControl load_;
  SamplesAtZero at_zero_;
  static constexpr Nanoseconds kMaxTakingTime = kSecond;
  static constexpr Nanoseconds kNap = 20 * kMillisecond;
  bool reads_threads_ = false;
  std::optional<Nanoseconds> interrupt_cost_;  // of a sample
  Nanoseconds unsampled_ = 0;                  // effective time in reference windows
  IdleEnds idle_ends_;
  Nanoseconds next_checkpoint_;
  Nanoseconds departed_released_ = 0;  // when that was
  std::uint64_t block_ = 0;
  std::uint64_t experiments_ = 0;
  // Of children that the process had before it executed this program.
  Nanoseconds children_time_before_ = processor_time_of_children();
  Discarded discarded_;

  // With end_to_end: the window of the whole run.
  bool whole_is_open_ = false;
  std::uint32_t whole_target_ = kNoTarget;
  int whole_speedup_ = 0;
  Opening whole_opening_{};
};

}  // namespace coz

#endif  // LIBCOZ_EXPERIMENT_EXPERIMENTER_H
