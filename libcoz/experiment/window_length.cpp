#include "experiment/window_length.h"

#include <algorithm>

namespace coz {

Nanoseconds WindowLength::queue_settling() const noexcept {
  return std::clamp(length_ / 4, 20 * kMillisecond, 1 * kSecond);
}

void WindowLength::observe(std::span<const double> visits, Nanoseconds measured) noexcept {
  double fastest = 0;
  double slowest_alive = 0;
  for (const double count : visits) {
    if (count <= 0) continue;
    fastest = std::max(fastest, count);
    slowest_alive = slowest_alive > 0 ? std::min(slowest_alive, count) : count;
  }
  if (fastest <= 0) {
    length_ = std::min(2 * length_, kMaxLength);
    return;
  }
  const double per_visit = static_cast<double>(measured) * kVisitsWanted;
  const auto for_fastest = static_cast<Nanoseconds>(per_visit / fastest);
  const auto for_slowest = static_cast<Nanoseconds>(per_visit / slowest_alive);
  const Nanoseconds wanted = std::max(for_fastest, std::min(for_slowest, kMaxForSlow));
  // Half the way at a time, so that one unusual window has little influence.
  length_ = std::clamp((length_ + wanted) / 2, kMinLength, kMaxLength);
}

}  // namespace coz
