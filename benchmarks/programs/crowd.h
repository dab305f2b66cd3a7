// Programs with as many threads as `--threads N` says: more than there are cores.
#ifndef BENCHMARKS_PROGRAMS_CROWD_H
#define BENCHMARKS_PROGRAMS_CROWD_H

#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "ground_truth.h"

namespace crowd {

// Reads the arguments, of which `--threads N` may be the first; returns N, else 4.
inline int begin(int argc, char** argv) {
  int threads = 4;
  if (argc > 2 && std::strcmp(argv[1], "--threads") == 0) {
    threads = std::atoi(argv[2]);
    if (threads < 2) ground_truth::fail("not a number of threads", argv[2]);
    argv[2] = argv[0];
    argc -= 2;
    argv += 2;
  }
  ground_truth::begin(argc, argv);
  return threads;
}

// `work(number)` in each of so many threads; does not return.
template <typename Work>
void run(int threads, Work work) {
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) all.emplace_back(work, i);
  for (std::thread& thread : all) thread.join();
}

}  // namespace crowd

#endif  // BENCHMARKS_PROGRAMS_CROWD_H
