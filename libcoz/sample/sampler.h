// What becomes of one sample: counted, matched against the selection, charged, delays served.
//
// sample() runs in the signal handler of the sampled thread: it allocates nothing, takes no lock
// and keeps errno. The parts it works on are owned by the runtime and outlive all threads.
#ifndef LIBCOZ_SAMPLE_SAMPLER_H
#define LIBCOZ_SAMPLE_SAMPLER_H

#include <atomic>
#include <cstdint>

#include "delay/thread_delays.h"
#include "line/modules.h"
#include "sample/histogram.h"
#include "sample/speed_probe.h"

namespace coz {

// From an interrupted context to the innermost place in scope (by inline and call chain).
using FindPlace = std::optional<Place> (*)(const Modules& modules, void* context) noexcept;

class Sampler {
 public:
  Sampler(const Modules& modules, Histogram& histogram, SpeedProbe& speed_probe,
          FindPlace find_place) noexcept
      : modules_(modules),
        histogram_(histogram),
        speed_probe_(speed_probe),
        find_place_(find_place) {}

  void sample(void* context, ThreadDelays& delays) noexcept {
    speed_probe_.take();
    const auto place = find_place_(modules_, context);
    if (place) {
      histogram_.count(place->line, place->function);
    } else {
      histogram_.count_out_of_scope();
    }
    delays.sampled(place ? place->line : kNoLine);
  }

 private:
  const Modules& modules_;
  Histogram& histogram_;
  SpeedProbe& speed_probe_;
  FindPlace find_place_;
};

}  // namespace coz

#endif  // LIBCOZ_SAMPLE_SAMPLER_H
