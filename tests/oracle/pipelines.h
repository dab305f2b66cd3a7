// Programs that pass items through bounded queues, described by their stages.
#ifndef TESTS_ORACLE_PIPELINES_H
#define TESTS_ORACLE_PIPELINES_H

#include <string>
#include <vector>

#include "tests/oracle/workloads.h"

namespace oracle {

// Each stage is a line of its own. Times are in units of an item, which is about what the slowest
// stage takes for each item.
struct Stage {
  double cost;
  int threads = 1;
  // Before the stage: one queue for all of its threads, or lanes. There are as many lanes as
  // threads on the side that has more; threads on the other side serve theirs in turn.
  bool lanes = false;
};

struct Pipeline {
  std::string shape;
  std::vector<Stage> stages;
  Nanoseconds item = 10 * kMillisecond;
  int capacity = 8;  // of each queue
  double variation = 0.3;
};

// Without items and capacities.
const std::vector<Pipeline>& pipeline_shapes();
// Others, on which nothing was tuned: ratios near and far from balance, items that vary more.
const std::vector<Pipeline>& held_out_shapes();

Workload workload(const Pipeline& pipeline);

// After which time a speedup that really holds leaves no trace of how the queues were before.
Nanoseconds time_to_settle(const Pipeline& pipeline);

}  // namespace oracle

#endif  // TESTS_ORACLE_PIPELINES_H
