// The hook of load amplification: a thread visits an arrival point.
#ifndef LIBCOZ_LOAD_ARRIVE_H
#define LIBCOZ_LOAD_ARRIVE_H

#include "delay/thread_delays.h"
#include "load/amplification.h"

namespace coz {

// Charges the arrival to the calling thread, without a pause, and counts it. `ran` is the thread's
// processor time. Signal-safe.
inline void arrive(ThreadDelays& delays, ArrivalClock& arrivals, Amplification& amplification,
                   std::uint32_t slot, Nanoseconds ran) noexcept {
  const Nanoseconds delay = amplification.delay();
  Arrival arrival;
  const bool charged = delays.charge_now([&](Nanoseconds effective_now) noexcept {
    arrival = arrivals.arrive(effective_now, delay, ran);
    return arrival.charge;
  });
  if (!charged) {
    // A signal handler of the program interrupted a wrapped call. The charge waits for the end of
    // that call; between arrivals in two handlers there is no order, so none is clipped.
    arrival = {delay, 0, true, false};
    delays.defer_charge(delay);
  }
  amplification.count(slot, arrival);
}

}  // namespace coz

#endif  // LIBCOZ_LOAD_ARRIVE_H
