// The progress points that the command line asks for by location: chooses what counts the visits of
// each, says where nothing can, and ends the counting.
//
// prepare() and then arm() run before main, once each, and only in a process that is profiled.
// stop() may be called by any thread, once. The rest is for the thread that starts the runtime.
#ifndef LIBCOZ_LIFECYCLE_POINT_SETUP_H
#define LIBCOZ_LIFECYCLE_POINT_SETUP_H

#include <cstdint>
#include <string_view>
#include <vector>

#include "patch/breakpoints.h"
#include "profile_log/records.h"
#include "progress/location_point.h"
#include "progress/point_counters.h"
#include "progress/point_registry.h"
#include "sampling/sampler.h"
#include "symbols/modules.h"

namespace coz {

class PointSetup {
 public:
  PointSetup(const Modules& modules, PointRegistry& points, Sampler& sampler) noexcept
      : modules_(modules), points_(points), sampler_(sampler) {}

  // Reads `list` (COZ_POINTS). Before the profiler has a thread, which is to get the descriptors of
  // hardware breakpoints.
  void prepare(std::string_view list);
  // Writes breakpoint instructions. Whoever handles SIGTRAP has been told of breakpoints().
  void arm();
  // Visits are counted no more; what was counted stays.
  void stop() noexcept;

  // nullptr: there are none, and SIGTRAP is not needed.
  const Breakpoints* breakpoints() const noexcept {
    return breakpoints_.is_empty() ? nullptr : &breakpoints_;
  }
  PointCounters& counters() noexcept { return counters_; }
  // What counts each point, for the profile. Final after arm().
  const std::vector<PointRecord>& records() const noexcept { return records_; }

 private:
  const char* prepare_one(const LocationPoint& wanted);
  bool take_samples(const LocationPoint& wanted);
  bool take_hardware(const LocationPoint& wanted, Point& point,
                     const std::vector<std::uintptr_t>& addresses);
  void report(const std::vector<Breakpoints::Refusal>& refusals);

  const Modules& modules_;
  PointRegistry& points_;
  Sampler& sampler_;
  PointCounters counters_;
  Breakpoints breakpoints_;
  std::vector<Breakpoints::Request> requests_;
  std::vector<PointRecord> records_;
};

}  // namespace coz

#endif  // LIBCOZ_LIFECYCLE_POINT_SETUP_H
