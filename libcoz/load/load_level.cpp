#include "load/load_level.h"

#include <algorithm>
#include <cmath>

#include "common/text.h"

namespace coz {
namespace {

// A mean of fewer intervals says little.
constexpr std::uint64_t kMinIntervals = 3;
// 292 years in ns: a larger double does not fit into Nanoseconds.
constexpr double kMaxDelay = 9e18;

std::optional<double> number(std::string_view text) {
  const auto value = parse_number<double>(text);
  return value && std::isfinite(*value) && *value >= 0 ? value : std::nullopt;
}

}  // namespace

std::optional<ArrivalRate> ArrivalRate::from(const ArrivalCounts& counts, Nanoseconds elapsed) {
  if (counts.intervals < kMinIntervals || elapsed <= 0) return std::nullopt;
  ArrivalRate rate;
  rate.interval = counts.between / static_cast<Nanoseconds>(counts.intervals);
  rate.per_second = static_cast<double>(counts.arrivals) * static_cast<double>(kSecond) /
                    static_cast<double>(elapsed);
  return rate;
}

Nanoseconds LoadLevel::delay(const ArrivalRate& rate) const noexcept {
  const auto interval = static_cast<double>(rate.interval);
  double delay = value;
  if (means == Means::kShare) delay = interval * value;
  if (means == Means::kRate) {
    delay = value > 0 ? interval * std::max(0.0, 1 - rate.per_second / value) : 0;
  }
  return static_cast<Nanoseconds>(std::min(std::round(delay), kMaxDelay));
}

std::optional<LoadLevel> LoadLevel::parse(std::string_view speedup, std::string_view rate) {
  if (!rate.empty()) {
    const auto value = number(rate);
    if (!value || *value <= 0) return std::nullopt;
    return LoadLevel{Means::kRate, *value};
  }
  if (speedup.ends_with('%')) {
    speedup.remove_suffix(1);
    const auto value = number(speedup);
    if (!value || *value >= 100) return std::nullopt;
    return LoadLevel{Means::kShare, *value / 100};
  }
  const auto value = number(speedup);
  if (!value || *value > kMaxDelay) return std::nullopt;
  return LoadLevel{Means::kDelay, *value};
}

}  // namespace coz
