// What the progress points did during one window.
//
// The experimenter calls open(), then poll() regularly, halve() half-way, request_last_visits() at
// the end, poll() until has_last_visits(), and results(); Experimenter::measure() decides when.
// `effective` is the experimenter's effective time, now − G. Points that are visited through our
// own header bound the window by two visits, which record their own times (progress/point.h). For
// points that the program merely counts, poll() watches the counters, and the times are as exact as
// polls are frequent.
//
// One thread; allocates. Other threads visit the points meanwhile.
#ifndef LIBCOZ_EXPERIMENT_WINDOW_METER_H
#define LIBCOZ_EXPERIMENT_WINDOW_METER_H

#include <optional>
#include <vector>

#include "profile_log/records.h"
#include "progress/operations.h"
#include "progress/point_registry.h"

namespace coz {

class WindowMeter {
 public:
  WindowMeter(PointRegistry& points, const Operations& identified)
      : points_(points), identified_(identified) {}

  void open(Nanoseconds effective);
  void poll(Nanoseconds effective);
  void halve(Nanoseconds effective);
  // The window ends: here for latency points, at its next visit for each throughput point.
  void request_last_visits(Nanoseconds effective);
  // True if every point that was visited in the window has been visited once more.
  bool has_last_visits() const noexcept;
  // True if a point is only counted: then polls near the edges should be frequent.
  bool needs_fine_polls() const noexcept;

  // `effective` is when polling ended.
  std::vector<PointResult> results(Nanoseconds effective) const;

 private:
  struct Edges {
    Point* point;
    bool times_visits;
    bool usable;            // false: an edge of an earlier window is still being written
    std::uint64_t watched;  // count when the current edge was requested
    std::optional<Visit> first;
    std::optional<Visit> half;  // the first visit after halve()
    std::optional<Visit> last;
    bool halved = false;  // the current edge is `half`
  };
  // The operations between a begin and an end point. `begun` and `ended` are the sums of their
  // visits at the opening; without them (the program only counts, or visits were under way all the
  // time) the polled integral stands in.
  struct Latency {
    Point* begin;
    Point* end;
    std::uint64_t arrivals_at_open, departures_at_open;
    std::optional<VisitTimes::Sum> begun, ended;
    double polled_integral;  // of the operations in progress over effective time, ns
    Nanoseconds last_poll;
    // Of operations with identities, those that had ended until the opening.
    std::optional<DurationHistogram::Counts> durations_at_open;
    PointResult result;  // filled by request_last_visits()
  };

  std::optional<Visit>& current_edge(Edges& edges) const noexcept;
  static double in_progress(const Latency& latency) noexcept;
  void take_edge(Edges& edges, Nanoseconds effective) noexcept;
  std::optional<double> exact_integral(const Latency& latency, Nanoseconds effective) const;
  std::optional<DurationHistogram::Counts> durations_now(const char* name) const;
  // How long the operations with identities took that ended since the opening.
  std::vector<PointResult::Bucket> durations(const Latency& latency) const;
  void finish(Latency& latency, Nanoseconds effective) const;
  PointResult throughput(const Edges& edges, Nanoseconds effective) const;

  PointRegistry& points_;
  const Operations& identified_;
  std::vector<Edges> edges_;
  std::vector<Latency> latencies_;
  Nanoseconds opened_ = 0;
  Nanoseconds last_poll_ = 0;
  bool closing_ = false;
};

}  // namespace coz

#endif  // LIBCOZ_EXPERIMENT_WINDOW_METER_H
