// What tests of code segments and their buckets share.
#ifndef TESTS_LIBCOZ_DELAY_ONE_SEGMENT_H
#define TESTS_LIBCOZ_DELAY_ONE_SEGMENT_H

#include <cstdint>

#include "delay/charge_smoother.h"

namespace one_segment {

using coz::ChargeSmoother;
using coz::kMicrosecond;
using coz::kMillisecond;
using coz::Nanoseconds;
using coz::SelectedTarget;

inline constexpr Nanoseconds kPeriod = kMillisecond;
inline constexpr SelectedTarget kTarget{7, kPeriod};
inline constexpr std::uintptr_t kSite = 0x401234;
inline constexpr std::uintptr_t kEnd = 0x40abcd;

// A call ends the run: what it is charged.
inline Nanoseconds discharge(ChargeSmoother& smoother, Nanoseconds now, std::uintptr_t end = kEnd) {
  return smoother.discharge(kPeriod, now, end, nullptr).line_time;
}

// It goes on: what it is charged at once.
inline Nanoseconds discharge_meanwhile(ChargeSmoother& smoother, Nanoseconds now) {
  return smoother.discharge_meanwhile(kPeriod, now, nullptr).line_time;
}

}  // namespace one_segment

#endif  // TESTS_LIBCOZ_DELAY_ONE_SEGMENT_H
