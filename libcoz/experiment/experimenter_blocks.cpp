// How the experimenter begins a block: on which target, with which windows, and what each selects;
// and the window of a block without samples.
#include "experiment/experimenter.h"

namespace coz {
namespace {

// A line is drawn only once this many samples are in: the first few say little.
constexpr std::uint64_t kSamplesToStart = 10;

}  // namespace

std::optional<PlannedBlock> Experimenter::next_block() {
  if (has_no_target()) return PlannedBlock{kNoTarget, {}};
  if (!fixed_.empty()) {
    const auto drawn = fixed_.draw(selector_, random_);
    return drawn ? std::optional(PlannedBlock{*drawn, {}}) : std::nullopt;
  }
  const std::uint64_t samples = counts_.histogram.in_scope() + counts_.histogram.waits();
  if (samples < kSamplesToStart) return std::nullopt;
  return planner_.next(companions_.planned(run_time()), combines(), random_);
}

std::vector<Experimenter::BlockWindow> Experimenter::windows_of(const PlannedBlock& planned) {
  std::vector<BlockWindow> block;
  if (const auto partner = draw_partner(planned.target)) {
    for (const PairSpeedups& each : draw_pair_block(random_)) {
      block.push_back({each.main, {*partner, each.partner}});
    }
    return block;
  }
  std::vector<int> speedups(kWindowsPerBlock, 0);
  if (planned.target != kNoTarget) {
    speedups = settling_.is_slow(planned.target) ? plan_.draw_there_and_back(random_)
                                                 : plan_.draw_speedups(random_, planned.speedups);
  }
  for (const int speedup : speedups) block.push_back({speedup});
  return block;
}

std::optional<std::uint32_t> Experimenter::draw_partner(std::uint32_t target) {
  // With speedups that the user chose, there may be no 50 %.
  const bool may_be = target != kNoTarget && Targets::may_be_combined(target) && combines() &&
                      block_ > TargetPlanner::kMinMainBlocks && options_.speedups.empty() &&
                      !settling_.is_slow(target);
  if (!may_be) return std::nullopt;
  return partners_.draw(target, companions_.candidates(kNoTarget, run_time()));
}

void Experimenter::claim_waits() const {
  if (options_.waits != WaitTargets::kNone) {
    choice_.waits.claim(shared_.waits, shared_.selection.get());
  }
}

void Experimenter::deselect() {
  if (options_.follows) return;  // what is selected is another rank's
  claim_waits();
  shared_.selection.clear();
}

Nanoseconds Experimenter::global_delay() const {
  if (options_.waits != WaitTargets::kNone) {
    shared_.global_delay.raise_to(
        shared_.waits.max_local(shared_.selection.get(), options_.period, now));
  }
  return shared_.global_delay.get();
}

void Experimenter::select(std::uint32_t target, BlockWindow window) {
  std::span<const SelectedTarget> companions;
  companions_.clear();
  if (combines()) companions = companions_.draw(target, run_time(), random_, window.partner);
  if (target == kNoTarget && companions.empty()) {
    deselect();
  } else {
    claim_waits();
    shared_.selection.select(target, options_.period * window.speedup / 100, companions);
  }
}

bool Experimenter::run_reference() {
  if (!source_.can_pause()) return true;
  if (!interrupt_cost_) interrupt_cost_ = source_.measure_cost();
  const Nanoseconds start = now();
  const Nanoseconds delay = global_delay();
  const Nanoseconds standstill = stop_.standstill();
  source_.pause();
  const bool goes_on = measure_reference();
  source_.resume();
  unsampled_ += now() - start - (global_delay() - delay) - (stop_.standstill() - standstill);
  return goes_on;
}

bool Experimenter::measure_reference() {
  if (!stop_.sleep_for(window_.queue_settling())) return false;
  const Nanoseconds time = now();
  const Nanoseconds delay = global_delay();
  const ArrivalCounts arrivals = load_.counts();
  const Nanoseconds standstill = stop_.standstill();
  const auto machine = reads_threads_ ? read_machine_time() : std::nullopt;
  meter_.open(look_at_points());
  if (!measure(window_.get(), 0)) return false;
  if (stop_.standstill() != standstill) return true;
  ReferenceRecord record;
  record.block = block_;
  record.start = time - start_;
  record.duration = now() - time;
  record.delay = global_delay() - delay;
  record.sample_cost = *interrupt_cost_ + counts_.handler_time.mean();
  record.machine = machine_time_since(machine);
  record.load = load_.since(arrivals);
  record.points = meter_.results(effective_now());
  log_.append(record);
  return true;
}

}  // namespace coz
