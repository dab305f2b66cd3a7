// By how much arrivals are to be sped up: COZ_ARRIVAL_SPEEDUP or COZ_ARRIVAL_RATE, as a value, and
// what it comes to once it is known how often requests arrive.
//
// Plain logic.
#ifndef LIBCOZ_LOAD_LOAD_LEVEL_H
#define LIBCOZ_LOAD_LOAD_LEVEL_H

#include <optional>
#include <string_view>

#include "common/clock.h"
#include "load/amplification.h"

namespace coz {

// How often requests arrived during a code segment of effective time.
struct ArrivalRate {
  Nanoseconds interval = 0;  // between two arrivals in one thread, on average, without charges
  double per_second = 0;     // in all threads, with them

  // nullopt: too few arrivals to tell.
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
  // d_a; 0 where requests come as often already.
  Nanoseconds delay(const ArrivalRate& rate) const noexcept;

  // `speedup`: a whole number of ns, or `25%`; `rate`: a number. nullopt where neither can be read.
  static std::optional<LoadLevel> parse(std::string_view speedup, std::string_view rate);
};

}  // namespace coz

#endif  // LIBCOZ_LOAD_LOAD_LEVEL_H
