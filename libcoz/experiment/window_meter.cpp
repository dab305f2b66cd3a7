#include "experiment/window_meter.h"

#include <algorithm>

namespace coz {
namespace {

// Visits are rare compared with polls: one seen since the last poll came, on average, half-way.
Nanoseconds midpoint(Nanoseconds a, Nanoseconds b) { return a + (b - a) / 2; }

// Without a closing visit the count is off by up to one, which is acceptable from this count on.
constexpr std::uint64_t kVisitsWithoutEdge = 20;

}  // namespace

void WindowMeter::open(Nanoseconds effective) {
  edges_.clear();
  latencies_.clear();
  opened_ = last_poll_ = effective;
  closing_ = false;
  const std::uint32_t size = points_.size();
  for (std::uint32_t i = 0; i < size; ++i) {
    Point& point = points_[i];
    const bool times_visits = point.times_visits.load(std::memory_order_relaxed);
    if (point.kind == PointKind::kThroughput || point.kind == PointKind::kArrival) {
      const bool usable = !times_visits || point.edge.request();
      edges_.push_back({&point, times_visits, usable, point.visits(), {}, {}, {}});
    } else if (point.kind == PointKind::kBegin) {
      Point* end = points_.find(PointKind::kEnd, point.name);
      if (end == nullptr) continue;
      const bool times = times_visits && end->times_visits.load(std::memory_order_relaxed);
      latencies_.push_back({&point,
                            end,
                            point.visits(),
                            end->visits(),
                            times ? point.times() : std::nullopt,
                            times ? end->times() : std::nullopt,
                            0.0,
                            effective,
                            durations_now(point.name),
                            {}});
    }
  }
}

std::optional<Visit>& WindowMeter::current_edge(Edges& edges) const noexcept {
  if (closing_) return edges.last;
  return edges.halved ? edges.half : edges.first;
}

void WindowMeter::take_edge(Edges& edges, Nanoseconds effective) noexcept {
  std::optional<Visit>& edge = current_edge(edges);
  if (edge || !edges.usable) return;
  if (edges.times_visits) {
    if (edges.point->edge.is_taken()) edge = edges.point->edge.visit();
    return;
  }
  const std::uint64_t count = edges.point->visits();
  if (count != edges.watched) edge = Visit{count, midpoint(last_poll_, effective)};
}

void WindowMeter::poll(Nanoseconds effective) {
  for (Edges& edges : edges_) take_edge(edges, effective);
  if (!closing_) {
    for (Latency& latency : latencies_) {
      latency.polled_integral +=
          in_progress(latency) * static_cast<double>(effective - latency.last_poll);
      latency.last_poll = effective;
    }
  }
  last_poll_ = effective;
}

void WindowMeter::halve(Nanoseconds effective) {
  poll(effective);
  for (Edges& edges : edges_) {
    // If there was no first visit yet, there are no halves.
    if (!edges.usable || !edges.first) continue;
    edges.watched = edges.point->visits();
    edges.halved = !edges.times_visits || edges.point->edge.request();
  }
}

void WindowMeter::request_last_visits(Nanoseconds effective) {
  poll(effective);
  closing_ = true;
  for (Edges& edges : edges_) {
    edges.watched = edges.point->visits();
    if (!edges.times_visits) continue;
    edges.point->edge.withdraw();
    if (edges.first && !edges.point->edge.request()) edges.usable = false;
  }
  for (Latency& latency : latencies_) finish(latency, effective);
}

bool WindowMeter::has_last_visits() const noexcept {
  return std::all_of(edges_.begin(), edges_.end(), [](const Edges& edges) {
    return !edges.usable || !edges.first || edges.last;
  });
}

bool WindowMeter::needs_fine_polls() const noexcept {
  return std::any_of(edges_.begin(), edges_.end(),
                     [](const Edges& edges) { return !edges.times_visits; }) ||
         std::any_of(latencies_.begin(), latencies_.end(),
                     [](const Latency& latency) { return !latency.begun || !latency.ended; });
}

double WindowMeter::in_progress(const Latency& latency) noexcept {
  const auto arrivals = static_cast<double>(latency.begin->visits());
  const auto departures = static_cast<double>(latency.end->visits());
  return std::max(0.0, arrivals - departures);
}

// ∫L de: operations in progress at the opening count throughout; each arrival adds one from its
// time to the end, and each departure subtracts one from its time to the end. Sums are modulo 2^64;
// their differences fit.
std::optional<double> WindowMeter::exact_integral(const Latency& latency,
                                                  Nanoseconds effective) const {
  if (!latency.begun || !latency.ended) return std::nullopt;
  const auto begun = latency.begin->times();
  const auto ended = latency.end->times();
  if (!begun || !ended) return std::nullopt;
  const auto close = static_cast<std::uint64_t>(effective);
  const auto until_close = [close](const VisitTimes::Sum& from, const VisitTimes::Sum& to) {
    const std::uint64_t sum = (to.visits - from.visits) * close - (to.times - from.times);
    return static_cast<double>(static_cast<std::int64_t>(sum));
  };
  const double at_open =
      static_cast<double>(latency.begun->visits) - static_cast<double>(latency.ended->visits);
  return at_open * static_cast<double>(effective - opened_) + until_close(*latency.begun, *begun) -
         until_close(*latency.ended, *ended);
}

std::optional<DurationHistogram::Counts> WindowMeter::durations_now(const char* name) const {
  const auto number = identified_.find(name);
  if (!number) return std::nullopt;
  return identified_.durations(*number).get();
}

std::vector<PointResult::Bucket> WindowMeter::durations(const Latency& latency) const {
  std::vector<PointResult::Bucket> durations;
  const auto now = durations_now(latency.begin->name);
  if (!latency.durations_at_open || !now) return durations;
  for (std::uint32_t i = 0; i < kDurationBuckets; ++i) {
    const std::uint32_t count = (*now)[i] - (*latency.durations_at_open)[i];
    if (count > 0) durations.push_back({i, count});
  }
  return durations;
}

void WindowMeter::finish(Latency& latency, Nanoseconds effective) const {
  const Nanoseconds elapsed = effective - opened_;
  const double integral = exact_integral(latency, effective).value_or(latency.polled_integral);
  latency.result.name = latency.begin->name;
  latency.result.kind = PointKind::kBegin;
  latency.result.arrivals = latency.begin->visits() - latency.arrivals_at_open;
  latency.result.departures = latency.end->visits() - latency.departures_at_open;
  latency.result.elapsed = elapsed;
  latency.result.durations = durations(latency);
  latency.result.in_progress =
      elapsed > 0 ? std::max(0.0, integral / static_cast<double>(elapsed)) : 0.0;
}

PointResult WindowMeter::throughput(const Edges& edges, Nanoseconds effective) const {
  PointResult result;
  result.name = edges.point->name;
  result.kind = edges.point->kind;
  result.elapsed = effective - opened_;
  if (!edges.first) return result;
  if (edges.last && edges.last->number > edges.first->number) {
    result.visits = edges.last->number - edges.first->number;
    result.elapsed = edges.last->time - edges.first->time;
    if (edges.half && edges.half->number > edges.first->number &&
        edges.last->number > edges.half->number) {
      result.half_visits = edges.half->number - edges.first->number;
      result.half_elapsed = edges.half->time - edges.first->time;
    }
  } else if (!edges.last && edges.watched >= edges.first->number + kVisitsWithoutEdge) {
    result.visits = edges.watched - edges.first->number;
    result.elapsed = effective - edges.first->time;
  }
  return result;
}

std::vector<PointResult> WindowMeter::results(Nanoseconds effective) const {
  std::vector<PointResult> results;
  for (const Edges& edges : edges_) {
    if (edges.usable && edges.point->visits() > 0) results.push_back(throughput(edges, effective));
  }
  for (const Latency& latency : latencies_) {
    if (latency.result.arrivals > 0 || latency.result.in_progress > 0) {
      results.push_back(latency.result);
    }
  }
  return results;
}

}  // namespace coz
