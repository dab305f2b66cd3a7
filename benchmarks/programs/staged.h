// Pipelines of stages with several threads each, which wait and compute for every item, and with
// a bounded queue between stages.
#ifndef BENCHMARKS_PROGRAMS_STAGED_H
#define BENCHMARKS_PROGRAMS_STAGED_H

#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include "bounded_queue.h"
#include "ground_truth.h"

namespace staged {

struct Stage {
  int threads;
  long wait_microseconds;  // before the work
  void (*work)();
};

// A stage's work whose line is not of interest.
template <int kMicroseconds>
[[gnu::noinline]] void other() {
  for (long i = kMicroseconds * 3000L; i > 0; --i) asm volatile("" : "+r"(i));
}

// Runs the stages with a queue of so many items between any two. `entering()` comes before an item
// enters the first queue, `finished()` after the last stage, with the time at which it entered.
// Does not return.
inline void run(
    const std::vector<Stage>& stages, std::size_t capacity, void (*finished)(double),
    void (*entering)() = [] {}) {
  using Queue = ground_truth::BoundedQueue<double>;
  std::vector<std::unique_ptr<Queue>> queues;  // behind each stage but the last
  for (std::size_t i = 1; i < stages.size(); ++i) {
    queues.push_back(std::make_unique<Queue>(capacity));
  }
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    for (int k = 0; k < stages[i].threads; ++k) {
      threads.emplace_back([&, i] {
        for (;;) {
          double entered = 0;
          if (i > 0) entered = queues[i - 1]->pop();
          if (stages[i].wait_microseconds > 0) {
            ground_truth::sleep_microseconds(stages[i].wait_microseconds);
          }
          stages[i].work();
          if (i == 0) {
            entering();
            entered = ground_truth::now();
          }
          if (i < queues.size()) {
            queues[i]->push(entered);
          } else {
            finished(entered);
          }
        }
      });
    }
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace staged

#endif  // BENCHMARKS_PROGRAMS_STAGED_H
