#include "load/load_control.h"

#include <array>

#include "kernel/message.h"

namespace coz {
namespace {

// How long to watch, and how many intervals to see; after a longer time fewer are enough.
struct Enough {
  Nanoseconds time;
  std::uint64_t intervals;
};
constexpr std::array kEnough = {Enough{1 * kSecond, 200}, Enough{5 * kSecond, 20},
                                Enough{20 * kSecond, 3}};

// Amplification ends when so many batches of so many arrivals in a row have each lost this share of
// it. A single batch says nothing of the rest: requests may come in a burst at the start.
constexpr std::uint64_t kArrivalsToJudge = 100;
constexpr double kMaxLost = 0.2;
constexpr int kMaxBadBatches = 3;

void announce(const LoadLevel& level, const ArrivalRate& rate, Nanoseconds delay) {
  const auto interval = static_cast<double>(rate.interval);
  const double milliseconds = interval / static_cast<double>(kMillisecond);
  if (delay == 0 && level.means == LoadLevel::Means::kRate) {
    message(
        "requests arrive %.1f times a second already, so that load is not amplified: ask for a "
        "higher --arrival-rate",
        rate.per_second);
    return;
  }
  message(
      "requests arrive %.1f times a second, every %.3f ms in a thread; with --arrival-speedup "
      "%ldns, which holds from now on, it is as if they came %.1f times a second",
      rate.per_second, milliseconds, static_cast<long>(delay),
      rate.per_second * interval / (interval - static_cast<double>(delay)));
}

}  // namespace

LoadControl::LoadControl(std::optional<LoadLevel> level, Amplification& amplification)
    : level_(level), amplification_(amplification), measuring_(level && !level->is_known()) {
  if (!level_ || !level_->is_known()) return;
  delay_ = level_->delay({});
  amplification_.set_delay(delay_);
}

std::optional<LoadRecord> LoadControl::watch(Nanoseconds real, Nanoseconds effective) {
  const ArrivalCounts counts = amplification_.counts();
  const Look look{counts, real, effective};
  if (!first_) {
    if (counts.arrivals > 0) first_ = look;
    last_ = looked_ = effective;
    arrivals_ = counts.arrivals;
    return std::nullopt;
  }
  if (counts.arrivals > arrivals_) {
    if (looked_ - last_ > longest_gap_) {
      longest_gap_ = looked_ - last_;
      after_gap_ = look;
    }
    arrivals_ = counts.arrivals;
    last_ = effective;
  }
  looked_ = effective;
  const ArrivalCounts seen = counts.since(first_->counts);
  const Nanoseconds elapsed = effective - first_->effective;
  bool is_enough = false;
  for (const Enough& enough : kEnough) {
    is_enough |= elapsed >= enough.time && seen.intervals >= enough.intervals;
  }
  const auto rate = ArrivalRate::from(seen, elapsed);
  if (!is_enough || !rate || restarts_after_gap(elapsed)) return std::nullopt;
  LoadRecord record;
  record.start = first_->real;
  record.duration = real - first_->real;
  record.arrival_speedup = level_->delay(*rate);
  record.interval = rate->interval;
  record.rate = rate->per_second;
  delay_ = record.arrival_speedup;
  amplification_.set_delay(delay_);
  judged_ = counts;
  measuring_ = false;
  announce(*level_, *rate, record.arrival_speedup);
  return record;
}

// If most of the time passed without arrivals, their mean distance says little.
bool LoadControl::restarts_after_gap(Nanoseconds elapsed) {
  if (longest_gap_ <= elapsed / 2) return false;
  first_ = after_gap_;
  longest_gap_ = 0;
  return true;
}

std::optional<LoadResult> LoadControl::since(const ArrivalCounts& before) const {
  if (!is_on()) return std::nullopt;
  return LoadResult{delay_, counts().since(before)};
}

bool LoadControl::gives_up() {
  if (given_up_) return true;
  if (delay_ == 0) return false;
  const ArrivalCounts counts = amplification_.counts();
  const ArrivalCounts seen = counts.since(judged_);
  if (seen.arrivals < kArrivalsToJudge) return false;
  judged_ = counts;
  const double asked = static_cast<double>(seen.arrivals) * static_cast<double>(delay_);
  const bool is_bad = 1 - static_cast<double>(seen.charged) / asked >= kMaxLost;
  bad_batches_ = is_bad ? bad_batches_ + 1 : 0;
  if (bad_batches_ < kMaxBadBatches) return false;
  given_up_ = counts;
  amplification_.set_delay(0);
  message(
      "requests follow each other in a thread too closely to arrive %ld ns earlier each: from here "
      "on, load is not amplified and nothing is measured. Use a shorter --arrival-speedup; where "
      "more than 16 come at once, mark one arrival for all",
      static_cast<long>(delay_));
  return true;
}

}  // namespace coz
