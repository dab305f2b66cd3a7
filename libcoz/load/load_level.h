// By how much arrivals are sped up: COZ_ARRIVAL_SPEEDUP or COZ_ARRIVAL_RATE as a value, and the d_a
// that follows from it once it is known how often requests arrive.
#ifndef LIBCOZ_LOAD_LOAD_LEVEL_H
#define LIBCOZ_LOAD_LOAD_LEVEL_H

#include <optional>
#include <string_view>

#include "common/clock.h"
#include "load/amplification.h"

namespace coz {

// How often requests arrived during some effective time.
struct ArrivalRate {
  Nanoseconds interval = 0;  // mean between two arrivals in one thread, without charges
  double per_second = 0;     // in all threads, with charges

  // nullopt: too few arrivals.
  static std::optional<ArrivalRate> from(const ArrivalCounts& counts, Nanoseconds elapsed);
};

struct LoadLevel {
  enum class Means {
    kDelay,  // value: d_a, ns
    kShare,  // of the inter-arrival time, 0 to 1
    kRate,   // of all arrivals together, per second
  };
  Means means = Means::kDelay;
  double value = 0;

  bool is_known() const noexcept { return means == Means::kDelay; }
  // d_a; 0 if requests come that often already.
  Nanoseconds delay(const ArrivalRate& rate) const noexcept;

  // `speedup` is a whole number of ns, or `25%`; `rate` is a number. nullopt if neither can be
  // read.
  static std::optional<LoadLevel> parse(std::string_view speedup, std::string_view rate);
};

}  // namespace coz

#endif  // LIBCOZ_LOAD_LOAD_LEVEL_H
