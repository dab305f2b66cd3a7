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

#include <cstddef>
#include <optional>
#include <vector>

#include "experiment/flow_reading.h"
#include "thread/shared_state.h"

namespace coz {

class FlowMeter {
 public:
  // `start`: when what lies before the first window begins; nothing was done by then.
  FlowMeter(SharedState& shared, Nanoseconds start) : shared_(shared) { written_.time = start; }

  void open();
  void mark();
  const std::vector<FlowResult>& results() const { return results_; }
  // From the end of the window that was written last, or the start, to the opening of this one.
  const std::optional<FlowResult>& before() const { return before_; }
  // The window that mark() has ended was written.
  void written() {
    if (!last_.threads.empty()) written_ = last_;
  }

  // Laps are independent of windows. lap() is nothing if there are no queues.
  void start_lap();
  std::optional<FlowResult> lap();

 private:
  // Reading a thread takes about 1 µs; stages beyond these are not looked at.
  static constexpr std::size_t kMaxThreads = 64;

  bool has_queues();
  FlowReading read();

  SharedState& shared_;
  FlowReading last_;
  FlowReading written_;
  FlowReading lap_;
  std::optional<FlowResult> before_;
  std::vector<FlowResult> results_;
};

}  // namespace coz

#endif  // LIBCOZ_EXPERIMENT_FLOW_METER_H
