// The experimenter with end_to_end: the whole run is one window.
#include "experiment/experimenter.h"

namespace coz {
namespace {

// How long to wait for samples before a target is drawn.
constexpr Nanoseconds kFirstLook = 100 * kMillisecond;

}  // namespace

void Experimenter::run_whole() {
  const Nanoseconds look_until = now() + kFirstLook;
  std::optional<std::uint32_t> target;
  // With a single fixed target, or none, there is nothing to wait for.
  const bool waits_for_samples = options_.fixed_targets.size() != 1 && !has_no_target();
  while (!target || (waits_for_samples && now() < look_until)) {
    if (fixed_.empty() || has_no_target()) {
      const auto planned = next_block();
      target = planned ? std::optional(planned->target) : std::nullopt;
    } else {
      target = fixed_.draw_any(random_);
    }
    if (target && !waits_for_samples) break;
    if (!stop_.sleep_for(kNap)) break;
    checkpoint_if_due();
  }
  if (!target) return;
  whole_is_open_ = true;
  whole_target_ = *target;
  whole_speedup_ = plan_.for_whole_run(random_);
  block_ = 1;
  whole_opening_ = open_window(whole_target_);
  // Visits before this moment belong to the run as well, so it counts from its start.
  whole_opening_.time = start_;
  whole_opening_.global_delay = 0;
  whole_opening_.standstill = 0;
  whole_opening_.arrivals = {};
  select(whole_target_, {whole_speedup_});
  while (stop_.sleep_for(kNap) && !load_.gives_up()) checkpoint_if_due();
}

void Experimenter::finish_whole() {
  if (!whole_is_open_ || load_.gives_up()) return;
  claim_waits();
  ExperimentRecord record = describe(whole_target_, whole_speedup_, whole_opening_);
  deselect();
  record.duration -= record.standstill;
  const Nanoseconds elapsed = record.duration - record.delay;
  record.points.clear();
  for (PointResult& point : samples_record(true).points) {
    if (point.kind == PointKind::kBegin) continue;  // its time average was not followed
    if (point.visits == 0) continue;
    point.elapsed = elapsed;
    record.points.push_back(std::move(point));
  }
  PointResult whole;
  whole.name = "end-to-end";
  whole.visits = 1;
  whole.elapsed = elapsed;
  record.points.push_back(whole);
  log_.append(record);
  ++experiments_;
}

}  // namespace coz
