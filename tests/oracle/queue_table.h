// Predicted beside true effects for pipelines, with and without waiting for steady state.
#ifndef TESTS_ORACLE_QUEUE_TABLE_H
#define TESTS_ORACLE_QUEUE_TABLE_H

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/oracle/experiment.h"
#include "tests/oracle/pipelines.h"
#include "tests/oracle/windows.h"

namespace oracle {

// In percent; all are in speedup_plan.h's ladder.
inline constexpr int kQueueSpeedups[] = {25, 50, 75, 100};

// By line and speedup; of the time for a visit, in percent.
using Effects = std::map<std::pair<Line, int>, double>;

// When one treatment holds for a whole run, after queues had all the time to settle. With kReal
// the truth; with kVirtual what the rules of delays predict where windows are no matter.
Effects held_effects(const Pipeline& pipeline, const Settings& settings, Treatment::Kind kind,
                     int items);

// What windows of so much simulated time predict.
struct Prediction {
  std::vector<Comparison> comparisons;
  std::vector<double> transient;  // share of windows, of each
  double waited;                  // share of the time
  std::size_t windows;
};
Prediction predict(const Pipeline& pipeline, const Settings& settings, const Care& care,
                   Nanoseconds length, const Effects& truth);

struct QueueTable {
  Settings settings;
  std::string only;  // part of "shape, item ms, queue"
  Nanoseconds length = 300 * kSecond;
  bool brief = false;
  bool held_out = false;  // other shapes, capacities and items
  // Instead of the table: a folder for profiles and, as truth.jsonl, the true effects.
  std::string profiles;
};
void print_queue_table(const QueueTable& table);
// tests/oracle/profiles.py compares them with what `coz report` says.
void write_queue_profiles(const QueueTable& table);

}  // namespace oracle

#endif  // TESTS_ORACLE_QUEUE_TABLE_H
