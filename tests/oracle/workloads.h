// The programs that the oracle knows the right answers of.
#ifndef TESTS_ORACLE_WORKLOADS_H
#define TESTS_ORACLE_WORKLOADS_H

#include <functional>
#include <string>
#include <vector>

#include "tests/oracle/model.h"

namespace oracle {

struct Workload {
  std::string name;
  std::vector<std::string> lines;  // names of the lines 0, 1, ...
  std::function<void(World& world)> build;
  int cores = 0;               // 0: one for each thread
  bool informational = false;  // the method is not expected to be right here
};

const std::vector<Workload>& workloads();

}  // namespace oracle

#endif  // TESTS_ORACLE_WORKLOADS_H
