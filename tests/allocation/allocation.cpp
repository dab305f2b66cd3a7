#include "tests/allocation/allocation.h"

#include <utility>

namespace allocation {
namespace {

constexpr std::uint32_t kFirst = coz::Targets::kFirstLine;
constexpr double kDose = 0.05;
constexpr coz::Nanoseconds kPeriod = coz::kMillisecond;
constexpr coz::Nanoseconds kWindow = 150 * coz::kMillisecond;
// Before a window.
constexpr coz::Nanoseconds kSettling = 40 * coz::kMillisecond;
constexpr coz::Nanoseconds kReference = 190 * coz::kMillisecond;
constexpr coz::Nanoseconds kCheckpoint = 2 * coz::kSecond;

}  // namespace

Profiler::Profiler(SimulatedProgram& program, std::uint64_t seed, bool plans)
    : program_(program),
      plans_(plans),
      random_(seed),
      companions_(kDose, histogram_, earlier_, kPeriod),
      plan_(std::nullopt),
      blocks_(program.lines()),
      next_checkpoint_(kCheckpoint) {
  histogram_.reserve(kFirst + static_cast<std::uint32_t>(program.lines()));
}

void Profiler::write_to(coz::ProfileWriter* log) {
  log_ = log;
  coz::RunRecord run;
  run.coz_version = "0.1.0";
  run.time = 1'700'000'000 * coz::kSecond;
  run.program = "/src/program";
  run.build_id = "ab12";
  run.sampling = "perf-trap";
  run.period = kPeriod;
  run.cores = 2;
  run.granularity = "line";
  run.companion_dose = kDose;
  log_->append(run);
}

void Profiler::run_until(coz::Nanoseconds time) {
  while (now_ < time) {
    program_.begin_block();
    // The first block of a run finds hardly any samples.
    const bool combines = now_ >= coz::kSecond;
    const coz::PlannedBlock planned =
        planner_.next(companions_.planned(run_time_), combines, random_)
            .value_or(coz::PlannedBlock{coz::kNoTarget, {}});
    ++block_;
    if (planned.target == coz::kNoTarget) {
      ++companions_only_;
    } else {
      ++blocks_[planned.target - kFirst];
    }
    const std::vector<int> speedups = planned.target == coz::kNoTarget
                                          ? std::vector<int>(coz::kWindowsPerBlock, 0)
                                          : plan_.draw_speedups(random_, planned.speedups);
    for (const int speedup : speedups) run_window(planned.target, speedup);
    now_ += kReference;
    if (log_ != nullptr && now_ >= next_checkpoint_) {
      write_samples();
      next_checkpoint_ = now_ + kCheckpoint;
    }
  }
  if (log_ != nullptr) write_samples();
}

void Profiler::run_window(std::uint32_t target, int speedup) {
  std::vector<double> speedups(program_.lines());
  companions_.clear();
  if (now_ >= coz::kSecond) {
    for (const auto& each : companions_.draw(target, run_time_, random_)) {
      speedups[each.target - kFirst] = static_cast<double>(each.delay) / kPeriod;
    }
  }
  companions_.open();
  if (target != coz::kNoTarget) speedups[target - kFirst] = speedup / 100.0;
  const WindowResult result = program_.measure(speedups, kWindow);
  now_ += kSettling;
  for (std::size_t line = 0; line < speedups.size(); ++line) {
    for (std::uint32_t i = 0; i < result.samples[line]; ++i) {
      histogram_.count_sample(true);
      histogram_.count(kFirst + static_cast<std::uint32_t>(line), 0);
    }
  }
  run_time_ += kWindow - result.delay;
  coz::PointResult point;
  point.name = "request";
  point.visits = result.visits;
  point.elapsed = result.elapsed;
  if (plans_) {
    planner_.observe(std::vector{point}, block_, companions_.sped_up(target, speedup, run_time_));
  }
  ++windows_;
  if (log_ != nullptr) write_window(target, speedup, result, {point});
  now_ += kWindow;
}

coz::TargetDescription Profiler::describe(std::uint32_t target) const {
  if (target == coz::kNoTarget) return {"none", "none", {}};
  return {"line", "/src/program.c:" + std::to_string(target - kFirst + 1), "work"};
}

void Profiler::write_window(std::uint32_t target, int speedup, const WindowResult& result,
                            const std::vector<coz::PointResult>& points) {
  coz::ExperimentRecord record;
  record.companions = companions_.results([&](std::uint32_t number, std::uint32_t companion) {
    const coz::TargetDescription described = describe(companion);
    log_->append(coz::TargetRecord{number, described.kind, described.location, described.function});
  });
  const coz::TargetDescription described = describe(target);
  record.block = block_;
  record.kind = described.kind;
  record.location = described.location;
  record.function = described.function;
  record.speedup = speedup;
  record.start = now_;
  record.duration = kWindow;
  record.delay = result.delay;
  for (const std::uint32_t samples : result.samples) record.samples += samples;
  if (target != coz::kNoTarget) {
    record.target_samples = result.samples[target - kFirst];
    record.target_samples_so_far = histogram_.of(target);
  }
  record.run_time = run_time_;
  record.points = points;
  log_->append(record);
}

void Profiler::write_samples() {
  coz::SamplesRecord record;
  record.run_time = run_time_;
  record.duration = now_;
  record.total = record.in_scope = histogram_.total();
  for (std::uint32_t i = 0; i < histogram_.seen_count(); ++i) {
    const std::uint32_t target = histogram_.seen(i);
    const coz::TargetDescription described = describe(target);
    record.lines.push_back(
        {described.kind, described.location, described.function, histogram_.of(target)});
  }
  record.experiments = windows_;
  record.threads = 2;
  log_->append(record);
}

}  // namespace allocation
