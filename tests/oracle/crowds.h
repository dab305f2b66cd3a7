// Programs with more threads than cores: the shapes that threads give a program, in any size.
#ifndef TESTS_ORACLE_CROWDS_H
#define TESTS_ORACLE_CROWDS_H

#include <cstdint>
#include <string>
#include <vector>

#include "tests/oracle/model.h"
#include "tests/oracle/workloads.h"

namespace oracle {

enum class Shape { kPipeline, kPool, kLock, kBarrier, kForkJoin, kWaiting, kAlone };

// Of the shape; `draw` 0 has the costs that the analysis was made with, others are drawn at random.
struct Crowd {
  Shape shape;
  int cores;
  int threads;
  std::uint64_t draw = 0;
};

std::string title(const Crowd& crowd);

// Every shape on 1 to 8 cores with half as many threads up to four times as many.
std::vector<Crowd> crowds(std::uint64_t draw);

Workload workload(const Crowd& crowd);

}  // namespace oracle

#endif  // TESTS_ORACLE_CROWDS_H
