// Programs that wait, for locks and for devices, and what happens if they wait for less long.
//
// What a wait that is shorter by the part s means:
//   - A device needs 1 − s of its time for each request.
//   - A thread that comes to a lock while others hold it or wait for it goes on after 1 − s of the
//     time until the last of these would have released it. Sections overlap then. With s = 1 they
//     exclude nobody: the program without the lock, or with one for each thread.
// A wait shorter by s moves the sections behind it, whose waits are shorter by s again: of n
// threads that do nothing but hold one lock, 1 + s·(n − 1) get on at a time.
#ifndef TESTS_ORACLE_WAIT_WORKLOADS_H
#define TESTS_ORACLE_WAIT_WORKLOADS_H

#include <string>
#include <vector>

#include "tests/oracle/experiment.h"

namespace oracle {

struct WaitWorkload {
  Workload program;  // its first lines are the waits
  Line waits = 1;
  bool only_without = false;  // true effects are known for s = 1 only
};

const std::vector<WaitWorkload>& wait_workloads();

inline constexpr double kShorter[] = {0.25, 0.50, 0.75, 1.0};

// Each of its waits, shorter by each of kShorter.
std::vector<Comparison> compare_waits(const WaitWorkload& workload, const Settings& settings,
                                      Nanoseconds length);

}  // namespace oracle

#endif  // TESTS_ORACLE_WAIT_WORKLOADS_H
