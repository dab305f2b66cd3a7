// A device of fixed speed: it serves as many requests at a time as it is deep, in turn. The clock
// stands in for it, so that nothing of the program ends the waits.
#ifndef BENCHMARKS_PROGRAMS_DEVICE_H
#define BENCHMARKS_PROGRAMS_DEVICE_H

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

inline double seconds_of(const Line& line) {
  return 1e-6 * static_cast<double>(varied(line)) / kPerMicrosecond;
}

}  // namespace ground_truth

#endif  // BENCHMARKS_PROGRAMS_DEVICE_H
