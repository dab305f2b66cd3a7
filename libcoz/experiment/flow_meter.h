// What each thread did during the halves of a window: how long it ran, what it released, and whom
// it waited for at queues.
//
// A stage needs the same processor time, and releases as many locks, for each item, whatever is
// sped up. While a queue drains, the stages before it do less than that for each visit to the
// progress point, and more while it fills. The analysis finds such windows
// (cozcli/analysis/correct/queue_flow.py).
//
// The experimenter calls open(), then mark() at half-time and at the end, and results(); lap() is
// what happened since the last call of any. Programs in which no thread has waited at a queue cost
// nothing, and get no results. One thread; allocates.
#ifndef LIBCOZ_EXPERIMENT_FLOW_METER_H
#define LIBCOZ_EXPERIMENT_FLOW_METER_H

#include <cstdint>
#include <optional>
#include <vector>

#include "delay/queue_waits.h"
#include "profile_log/records.h"
#include "thread/shared_state.h"

namespace coz {

class FlowMeter {
 public:
  explicit FlowMeter(SharedState& shared) : shared_(shared) {}

  void open();
  void mark();
  // Nothing if there are no queues.
  std::optional<FlowResult> lap();
  const std::vector<FlowResult>& results() const { return results_; }

 private:
  // Reading a thread takes about 1 µs; stages beyond these are not looked at.
  static constexpr std::size_t kMaxThreads = 64;

  struct Thread {
    std::uint64_t number;
    std::uint32_t slot;
    Nanoseconds ran;  // pauses aside
    std::uint64_t releases;
    Nanoseconds ongoing;  // of the wait in which it is
    std::vector<QueueWaits::Wait> waits;
  };
  struct Reading {
    Nanoseconds time = 0;
    Nanoseconds delay = 0;
    std::vector<std::uint64_t> visits;  // by point
    std::vector<Thread> threads;
  };

  bool has_queues();
  Reading read();
  static ThreadFlow between(const Thread& from, const Thread& to, const Reading& end);

  SharedState& shared_;
  Reading last_;
  std::vector<FlowResult> results_;
};

}  // namespace coz

#endif  // LIBCOZ_EXPERIMENT_FLOW_METER_H
