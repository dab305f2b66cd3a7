// The companions of combined windows: targets that are sped up besides the main one, each at random
// and by itself, so that every window tells something about all of them.
//
// What they cost the program together, the *dose* Σ s·a (s: speedup; a: share of effective time in
// which the target runs), stays small: on average at most the limit, so that the main target's
// curve is measured near the program's working point. No companion alone has more than half of the
// limit: a large target is sped up a little, or is no companion but gets windows as a main target.
// Small ones are covered by being companions, and need none.
//
// A target takes part with a chance that falls with the square root of its share, at most one half:
// of a given dose, small targets get more windows than large ones, since each costs less. When it
// takes part, its speedup is any that its share allows. A strong speedup now and then says more
// than a weak one often: the precision of a slope grows with the variance of s. Chances do not
// depend on what other targets drew, nor on the main target's speedup.
//
// Regions are no companions, and windows on a region have none: so a sample is charged for one
// target at most (docs/decisions/targets.md).
//
// One thread; allocates.
#ifndef LIBCOZ_EXPERIMENT_COMPANIONS_H
#define LIBCOZ_EXPERIMENT_COMPANIONS_H

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "common/clock.h"
#include "experiment/earlier_samples.h"
#include "experiment/random.h"
#include "experiment/target_planner.h"
#include "profile_log/records.h"
#include "sampling/histogram.h"
#include "target/selection.h"

namespace coz {

// Percent.
inline constexpr std::array<int, 4> kCompanionSpeedups = {25, 50, 75, 100};

struct TargetShare {
  std::uint32_t target;
  double share;  // a
};

struct Companion {
  std::uint32_t target;
  int speedup;  // percent; 0: it does not take part
};

// For each target that may be a companion, what it draws for one window.
std::vector<Companion> draw_companions(std::span<const TargetShare> targets, double max_dose,
                                       Random& random);

class Companions {
 public:
  // `max_dose` 0: windows have one target at a time. All must outlive it.
  Companions(double max_dose, const Histogram& histogram, const EarlierSamples& earlier,
             Nanoseconds period) noexcept
      : max_dose_(max_dose), histogram_(histogram), earlier_(earlier), period_(period) {}

  bool is_on() const noexcept { return max_dose_ > 0; }

  // True if the target need not be a main target. `run_time`: effective time of the run so far, in
  // which samples were taken.
  bool covers(std::uint32_t target, Nanoseconds run_time) const;

  // All targets that may be companions where `main` is the main target, with their shares; at most
  // SelectionCell::kMaxCompanions.
  std::vector<TargetShare> candidates(std::uint32_t main, Nanoseconds run_time) const;

  // Draws those of a window on `main`, or on no main target (kNoTarget); a partner (partners.h) is
  // one whatever its share. What it returns is valid until it is called again.
  std::span<const SelectedTarget> draw(std::uint32_t main, Nanoseconds run_time, Random& random,
                                       Companion partner = {kNoTarget, 0});

  // The targets that have samples, with what a main target is chosen by.
  std::vector<PlannedTarget> planned(Nanoseconds run_time) const;

  // All that the window speeds up: the main target and those drawn.
  std::vector<SpedUp> sped_up(std::uint32_t main, int speedup, Nanoseconds run_time) const;

  // The next window has none.
  void clear() noexcept { drawn_.clear(); }

  // The window opens: samples count from now on.
  void open();

  // Those that were sped up, with their samples since. `name` is called for each that has no number
  // yet, as name(number, target).
  template <typename Name>
  std::vector<CompanionResult> results(Name name) {
    std::vector<CompanionResult> results;
    for (const Opened& each : opened_) {
      const auto [known, is_new] =
          numbers_.try_emplace(each.companion.target, static_cast<std::uint32_t>(numbers_.size()));
      if (is_new) name(known->second, each.companion.target);
      results.push_back({known->second, each.companion.speedup,
                         histogram_.of(each.companion.target) - each.samples});
    }
    return results;
  }

 private:
  struct Opened {
    Companion companion;
    std::uint64_t samples;  // when the window opened
  };

  // In this run and in earlier ones.
  std::uint64_t samples_of(std::uint32_t target) const {
    return histogram_.of(target) + earlier_.of(target);
  }
  std::uint64_t planned_samples(std::uint32_t target, Nanoseconds run_time) const;
  double share_of(std::uint32_t target, Nanoseconds run_time) const;
  double max_share_of(std::uint64_t samples, Nanoseconds run_time) const noexcept;

  double max_dose_;
  const Histogram& histogram_;
  const EarlierSamples& earlier_;
  Nanoseconds period_;
  std::vector<Companion> drawn_;
  std::vector<SelectedTarget> selected_;
  std::vector<Opened> opened_;
  std::unordered_map<std::uint32_t, std::uint32_t> numbers_;  // by target
};

}  // namespace coz

#endif  // LIBCOZ_EXPERIMENT_COMPANIONS_H
