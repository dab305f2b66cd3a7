// What threads have done up to a moment, and what they did between two such moments.
//
// flow_meter.h reads threads of the program, and the model in tests/oracle its own. Plain logic;
// allocates.
#ifndef LIBCOZ_EXPERIMENT_FLOW_READING_H
#define LIBCOZ_EXPERIMENT_FLOW_READING_H

#include <cstdint>
#include <vector>

#include "delay/delay_state.h"
#include "profile_log/records.h"

namespace coz {

struct FlowReading {
  struct Thread {
    std::uint64_t number;
    std::uint32_t slot;
    Nanoseconds ran;  // pauses aside
    std::uint64_t releases;
    std::uint64_t target_samples;
    Nanoseconds ongoing;  // of the wait in which it is
    std::vector<QueueWaits::Wait> waits;
  };

  Nanoseconds time = 0;
  Nanoseconds delay = 0;
  std::vector<FlowResult::Visits> visits;  // of throughput points; later readings may have more
  std::vector<Thread> threads;
  bool is_whole = true;  // no thread is left out

  // At `time`. All but `ran` is in the thread's `state`.
  void add(std::uint64_t number, const DelayState& state, Nanoseconds ran);
};

// Of threads that are in `to`. One that is not in `from` had done nothing before; but if `from` is
// not whole, it may have been left out there, and is left out here.
FlowResult flow_between(const FlowReading& from, const FlowReading& to);

}  // namespace coz

#endif  // LIBCOZ_EXPERIMENT_FLOW_READING_H
