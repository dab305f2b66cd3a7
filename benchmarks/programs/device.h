// A device of fixed speed: it serves as many requests at a time as it is deep, in turn. The clock
// stands in for it, so that nothing of the program ends the waits.
#ifndef BENCHMARKS_PROGRAMS_DEVICE_H
#define BENCHMARKS_PROGRAMS_DEVICE_H

#include <sched.h>

#include <algorithm>
#include <ctime>
#include <mutex>
#include <vector>

#include "ground_truth.h"

namespace ground_truth {

class Device {
 public:
  explicit Device(std::size_t depth) : free_at_(depth) {}

  // When a request made now will be done.
  timespec request(double seconds) {
    const std::lock_guard<std::mutex> guard(mutex_);
    double& place = *std::min_element(free_at_.begin(), free_at_.end());
    place = std::max(place, now()) + seconds;
    const auto whole = static_cast<time_t>(place);
    return {whole, static_cast<long>(1e9 * (place - static_cast<double>(whole)))};
  }

 private:
  std::mutex mutex_;
  std::vector<double> free_at_;
};

// The calling thread runs on the `number`th of its processors from here on. In a virtual machine,
// the kernel may take a processor that has halted for a busy one, and let two threads share
// another.
inline void stay_on_processor(int number) {
  cpu_set_t all;
  if (sched_getaffinity(0, sizeof all, &all) != 0) return;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(processor, &all) || number-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

inline double seconds_of(const Line& line) {
  return 1e-6 * static_cast<double>(varied(line)) / kPerMicrosecond;
}

}  // namespace ground_truth

#endif  // BENCHMARKS_PROGRAMS_DEVICE_H
