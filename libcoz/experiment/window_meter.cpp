#include "experiment/window_meter.h"

#include <algorithm>

namespace coz {
namespace {

// Visits are rare beside polls: the one seen since the last poll came, on average, half-way.
Nanoseconds midpoint(Nanoseconds a, Nanoseconds b) { return a + (b - a) / 2; }

// Without a closing visit the count is off by up to one: acceptable from here on.
constexpr std::uint64_t kVisitsWithoutEdge = 20;

}  // namespace

void WindowMeter::open(Nanoseconds effective) {
  edges_.clear();
  progress_.clear();
  opened_ = last_poll_ = effective;
  closing_ = false;
  const std::uint32_t size = points_.size();
  for (std::uint32_t i = 0; i < size; ++i) {
    Point& point = points_[i];
    const bool marks = point.marks_visits.load(std::memory_order_relaxed);
    if (point.kind == PointKind::kThroughput || point.kind == PointKind::kArrival) {
      edges_.push_back({&point, marks, point.visits(), std::nullopt, std::nullopt});
      if (marks) point.mark.request();
    } else if (point.kind == PointKind::kBegin) {
      Point* end = points_.find(PointKind::kEnd, point.name);
      if (end == nullptr) continue;
      progress_.push_back({&point,
                           end,
                           point.visits(),
                           end->visits(),
                           point.time_sum.load(std::memory_order_relaxed),
                           end->time_sum.load(std::memory_order_relaxed),
                           marks && end->marks_visits.load(std::memory_order_relaxed),
                           0.0,
                           effective,
                           {}});
    }
  }
}

void WindowMeter::take_edge(Edges& edges, Nanoseconds effective) noexcept {
  std::optional<Visit>& edge = closing_ ? edges.last : edges.first;
  if (edge) return;
  if (edges.marks_visits) {
    if (edges.point->mark.is_taken()) edge = edges.point->mark.visit();
    return;
  }
  const std::uint64_t count = edges.point->visits();
  if (count != edges.watched) edge = Visit{count, midpoint(last_poll_, effective)};
}

void WindowMeter::poll(Nanoseconds effective) {
  for (Edges& edges : edges_) take_edge(edges, effective);
  if (!closing_) {
    for (Progress& progress : progress_) {
      progress.polled_integral +=
          in_progress(progress) * static_cast<double>(effective - progress.last_poll);
      progress.last_poll = effective;
    }
  }
  last_poll_ = effective;
}

void WindowMeter::close(Nanoseconds effective) {
  poll(effective);
  closing_ = true;
  for (Edges& edges : edges_) {
    edges.watched = edges.point->visits();
    if (!edges.marks_visits) continue;
    edges.point->mark.withdraw();
    if (edges.first) edges.point->mark.request();
  }
  for (Progress& progress : progress_) finish(progress, effective);
}

bool WindowMeter::done() const noexcept {
  return std::all_of(edges_.begin(), edges_.end(),
                     [](const Edges& edges) { return !edges.first || edges.last; });
}

bool WindowMeter::needs_fine_polls() const noexcept {
  return std::any_of(edges_.begin(), edges_.end(),
                     [](const Edges& edges) { return !edges.marks_visits; });
}

double WindowMeter::in_progress(const Progress& progress) noexcept {
  const auto arrivals = static_cast<double>(progress.begin->visits());
  const auto departures = static_cast<double>(progress.end->visits());
  return std::max(0.0, arrivals - departures);
}

void WindowMeter::finish(Progress& progress, Nanoseconds effective) noexcept {
  const std::uint64_t arrivals = progress.begin->visits() - progress.arrivals_at_open;
  const std::uint64_t departures = progress.end->visits() - progress.departures_at_open;
  const Nanoseconds elapsed = effective - opened_;
  double integral = progress.polled_integral;
  if (progress.marks_visits) {
    // ∫L de: those in progress at the opening, and from then on each arrival counts from its own
    // time to the end, less what each departure no longer counts. Sums are modulo 2^64, their
    // differences fit.
    const auto close = static_cast<std::uint64_t>(effective);
    const std::uint64_t begun =
        arrivals * close -
        (progress.begin->time_sum.load(std::memory_order_relaxed) - progress.begin_sum_at_open);
    const std::uint64_t ended =
        departures * close -
        (progress.end->time_sum.load(std::memory_order_relaxed) - progress.end_sum_at_open);
    const double at_open = static_cast<double>(progress.arrivals_at_open) -
                           static_cast<double>(progress.departures_at_open);
    integral = at_open * static_cast<double>(elapsed) +
               static_cast<double>(static_cast<std::int64_t>(begun)) -
               static_cast<double>(static_cast<std::int64_t>(ended));
  }
  progress.result.name = progress.begin->name;
  progress.result.kind = PointKind::kBegin;
  progress.result.arrivals = arrivals;
  progress.result.departures = departures;
  progress.result.elapsed = elapsed;
  progress.result.in_progress =
      elapsed > 0 ? std::max(0.0, integral / static_cast<double>(elapsed)) : 0.0;
}

PointResult WindowMeter::throughput(const Edges& edges, Nanoseconds effective) const {
  PointResult result;
  result.name = edges.point->name;
  result.kind = edges.point->kind;
  result.elapsed = effective - opened_;
  if (!edges.first) return result;
  if (edges.last) {
    result.visits = edges.last->number - edges.first->number;
    result.elapsed = edges.last->time - edges.first->time;
  } else if (edges.watched - edges.first->number >= kVisitsWithoutEdge) {
    result.visits = edges.watched - edges.first->number;
    result.elapsed = effective - edges.first->time;
  }
  return result;
}

std::vector<PointResult> WindowMeter::results(Nanoseconds effective) const {
  std::vector<PointResult> results;
  for (const Edges& edges : edges_) {
    if (edges.point->visits() > 0) results.push_back(throughput(edges, effective));
  }
  for (const Progress& progress : progress_) {
    if (progress.result.arrivals > 0 || progress.result.in_progress > 0) {
      results.push_back(progress.result);
    }
  }
  return results;
}

}  // namespace coz
