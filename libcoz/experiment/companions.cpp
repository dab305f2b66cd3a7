#include "experiment/companions.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "target/targets.h"

namespace coz {
namespace {

// Fewer samples say too little about a target's share.
constexpr std::uint64_t kMinSamples = 5;
constexpr double kMaxChance = 0.5;

// How many speedups of the ladder the target may have.
std::size_t speedups_for(double share, double max_dose) {
  std::size_t count = 0;
  for (const int speedup : kCompanionSpeedups) {
    if (share * speedup / 100 <= max_dose / 2) ++count;
  }
  return count;
}

// A target that may be a companion.
struct Candidate {
  std::uint32_t target;
  double share;
  std::size_t speedups;
  double mean_dose;  // if it takes part
};

double chance(const Candidate& candidate, double scale) {
  return std::min(kMaxChance, scale / std::sqrt(candidate.share));
}

// The scale of all chances at which the expected dose is the limit, or less where all have the
// largest chance.
double scale_for(std::span<const Candidate> candidates, double max_dose) {
  double low = 0;
  double high = kMaxChance;  // all have the largest chance, since no share is above 1 here
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    double dose = 0;
    for (const Candidate& each : candidates) dose += chance(each, middle) * each.mean_dose;
    (dose <= max_dose ? low : high) = middle;
  }
  return low;
}

}  // namespace

std::vector<Companion> draw_companions(std::span<const TargetShare> targets, double max_dose,
                                       Random& random) {
  std::vector<Candidate> candidates;
  for (const TargetShare& target : targets) {
    const std::size_t speedups = speedups_for(target.share, max_dose);
    if (speedups == 0 || target.share <= 0) continue;
    double sum = 0;
    for (std::size_t i = 0; i < speedups; ++i) sum += kCompanionSpeedups[i] / 100.0;
    candidates.push_back({target.target, target.share, speedups,
                          target.share * sum / static_cast<double>(speedups)});
  }
  const double scale = scale_for(candidates, max_dose);
  std::vector<Companion> drawn;
  drawn.reserve(candidates.size());
  for (const Candidate& each : candidates) {
    const bool takes_part = random.fraction() < chance(each, scale);
    drawn.push_back(
        {each.target, takes_part ? kCompanionSpeedups[random.below(each.speedups)] : 0});
  }
  return drawn;
}

double Companions::share_of(std::uint32_t target, Nanoseconds run_time) const {
  run_time += earlier_.run_time();
  if (run_time <= 0) return 1;
  return static_cast<double>(samples_of(target)) * static_cast<double>(period_) /
         static_cast<double>(run_time);
}

// An upper estimate: at first most targets have a few samples, and the limit should hold.
double Companions::max_share_of(std::uint64_t samples, Nanoseconds run_time) const noexcept {
  run_time += earlier_.run_time();
  if (run_time <= 0) return 1;
  const auto count = static_cast<double>(samples);
  return (count + std::sqrt(count)) * static_cast<double>(period_) / static_cast<double>(run_time);
}

bool Companions::covers(std::uint32_t target, Nanoseconds run_time) const {
  if (!is_on() || target == kNoTarget || !Targets::may_be_combined(target)) return false;
  return speedups_for(max_share_of(samples_of(target), run_time), max_dose_) ==
         kCompanionSpeedups.size();
}

std::vector<TargetShare> Companions::candidates(std::uint32_t main, Nanoseconds run_time) const {
  std::vector<TargetShare> found;
  const auto add = [&](std::uint32_t target) {
    if (target == kNoTarget || target == main || !Targets::may_be_combined(target)) return;
    const std::uint64_t samples = samples_of(target);
    if (samples >= kMinSamples) found.push_back({target, max_share_of(samples, run_time)});
  };
  const std::uint32_t seen = histogram_.seen_count();
  for (std::uint32_t i = 0; i < seen; ++i) {
    const std::uint32_t target = histogram_.seen(i);
    if (earlier_.of(target) == 0) add(target);
  }
  for (const TargetSamples& each : earlier_.targets()) add(each.target);
  // If there are too many, those with most samples; the rest hardly have an effect.
  if (found.size() > SelectionCell::kMaxCompanions) {
    const auto last = found.begin() + static_cast<std::ptrdiff_t>(SelectionCell::kMaxCompanions);
    std::nth_element(found.begin(), last, found.end(),
                     [](const TargetShare& a, const TargetShare& b) { return a.share > b.share; });
    found.erase(last, found.end());
  }
  return found;
}

std::span<const SelectedTarget> Companions::draw(std::uint32_t main, Nanoseconds run_time,
                                                 Random& random, Companion partner) {
  drawn_.clear();
  selected_.clear();
  const bool is_alone = main != kNoTarget && !Targets::may_be_combined(main);
  if (is_on() && !is_alone) {
    std::vector<TargetShare> targets = candidates(main, run_time);
    std::erase_if(targets, [=](const TargetShare& each) { return each.target == partner.target; });
    drawn_ = draw_companions(targets, max_dose_, random);
    if (partner.target != kNoTarget) drawn_.insert(drawn_.begin(), partner);
  }
  for (const Companion& each : drawn_) {
    selected_.push_back({each.target, period_ * each.speedup / 100});
  }
  return selected_;
}

// Many threads may wait at one place, as those of an idle pool do: they count as one.
std::uint64_t Companions::planned_samples(std::uint32_t target, Nanoseconds run_time) const {
  const std::uint64_t samples = samples_of(target);
  if (!Targets::is_wait(target)) return samples;
  const Nanoseconds periods = std::max<Nanoseconds>(0, run_time + earlier_.run_time()) / period_;
  return std::min(samples, static_cast<std::uint64_t>(periods));
}

std::vector<PlannedTarget> Companions::planned(Nanoseconds run_time) const {
  std::vector<PlannedTarget> planned;
  const std::uint32_t seen = histogram_.seen_count();
  planned.reserve(seen);
  for (std::uint32_t i = 0; i < seen; ++i) {
    const std::uint32_t target = histogram_.seen(i);
    if (target == kNoTarget) continue;
    planned.push_back({target, planned_samples(target, run_time), share_of(target, run_time),
                       covers(target, run_time)});
  }
  return planned;
}

std::vector<SpedUp> Companions::sped_up(std::uint32_t main, int speedup,
                                        Nanoseconds run_time) const {
  std::vector<SpedUp> sped_up;
  const auto add = [&](std::uint32_t target, int percent) {
    if (percent > 0) sped_up.push_back({target, share_of(target, run_time), percent / 100.0});
  };
  if (main != kNoTarget) add(main, speedup);
  for (const Companion& each : drawn_) add(each.target, each.speedup);
  return sped_up;
}

void Companions::open() {
  opened_.clear();
  for (const Companion& each : drawn_) {
    if (each.speedup > 0) opened_.push_back({each, histogram_.of(each.target)});
  }
}

}  // namespace coz
