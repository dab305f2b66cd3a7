#include "tests/oracle/windows.h"

#include <algorithm>
#include <span>
#include <utility>

namespace oracle {
namespace {

// As in cozcli/analysis/input/windows.py: so many others replace transient windows.
constexpr std::size_t kMinSteady = 4;

}  // namespace

Windows::Windows(const Workload& workload, const Settings& settings, const Care& care)
    : world_(settings, {}, workload.cores),
      care_(care),
      random_(settings.seed),
      lines_(static_cast<Line>(workload.lines.size())),
      plan_(std::nullopt) {
  workload.build(world_);
}

void Windows::measure_for(Nanoseconds length) {
  const Nanoseconds end = world_.now() + length;
  while (world_.now() < end) {
    const auto line = static_cast<Line>(random_.below(static_cast<std::uint64_t>(lines_)));
    const bool slow = settling_.is_slow(static_cast<std::uint32_t>(line));
    const std::vector<int> block = slow && care_.there_and_back
                                       ? plan_.next_block_there_and_back(random_)
                                       : plan_.next_block(random_);
    for (const int speedup : block) run_window(line, speedup);
  }
}

void Windows::run_window(Line line, int speedup) {
  world_.select({Treatment::Kind::kVirtual, line, speedup / 100.0});
  world_.run_until(world_.now() + length_.queue_settling());
  const bool gave_up = care_.waits && !settle_queues(line, speedup);
  Window window{line, speedup, 0, 0, gave_up};
  measure(window);
  if (window.visits > 0) windows_.push_back(window);
}

// Whether steady state came, or was not waited for.
bool Windows::settle_queues(Line line, int speedup) {
  const auto target = static_cast<std::uint32_t>(line);
  const Nanoseconds begin = world_.now();
  const Nanoseconds limit = settling_.limit(target, speedup, begin);
  if (limit == 0) return true;
  open_flows();
  bool is_steady = false;
  while (!is_steady && world_.now() - begin < limit) {
    world_.run_until(world_.now() + length_.queue_settling());
    const auto flow = lap();
    if (!flow) return true;
    is_steady = settling_.is_steady(*flow);
  }
  const Nanoseconds took = world_.now() - begin;
  settling_.waited(target, speedup, took, is_steady);
  waited_ += took;
  return is_steady;
}

void Windows::measure(Window& window) {
  const Nanoseconds opened = world_.now();
  const Nanoseconds delay = world_.global_delay();
  const Nanoseconds length = length_.get();
  world_.point().edge.request();
  open_flows();
  world_.run_until(opened + length / 2);
  const auto first = lap();
  world_.run_until(opened + length);
  const auto second = lap();
  take_visits(window, opened);
  const Nanoseconds lasted = world_.now() - opened;
  if (first && second) {
    const auto target = static_cast<std::uint32_t>(window.line);
    window.transient = window.transient || !settling_.is_steady(*first);
    settling_.observe(target, *first);
    settling_.observe(target, *second);
  }
  const bool all_delay = window.visits == 0 && world_.global_delay() - delay > lasted / 4 * 3;
  if (!all_delay) length_.observe(std::span(&window.visits, 1), lasted);
}

// Between the first visit since the window was opened and the first one from now on.
void Windows::take_visits(Window& window, Nanoseconds opened) {
  coz::EdgeVisit& edge = world_.point().edge;
  const Nanoseconds length = world_.now() - opened;
  if (!edge.is_taken()) return edge.withdraw();
  const coz::Visit first = edge.visit();
  edge.request();
  const Nanoseconds interval = std::clamp(length / 50, 3 * kMillisecond, 50 * kMillisecond);
  const Nanoseconds give_up = world_.now() + length;
  while (!edge.is_taken() && world_.now() < give_up) world_.run_until(world_.now() + interval);
  if (!edge.is_taken()) return edge.withdraw();
  window.visits = static_cast<double>(edge.visit().number - first.number);
  window.elapsed = static_cast<double>(edge.visit().time - first.time);
}

void Windows::open_flows() {
  last_ = world_.read_flows();
  const bool any = std::any_of(last_.threads.begin(), last_.threads.end(),
                               [](const auto& thread) { return !thread.waits.empty(); });
  if (!any) last_ = {};
}

std::optional<coz::FlowResult> Windows::lap() {
  if (last_.threads.empty()) return std::nullopt;
  coz::FlowReading reading = world_.read_flows();
  coz::FlowResult flow = coz::flow_between(last_, reading);
  last_ = std::move(reading);
  return flow;
}

double Windows::share_waited() const noexcept {
  return static_cast<double>(waited_) / static_cast<double>(world_.now());
}

Windows::Sums Windows::sums(Line line, int speedup) const {
  Sums steady;
  Sums all;
  for (const Window& window : windows_) {
    if (window.line != line || window.speedup != speedup) continue;
    for (Sums* sums : {&all, &steady}) {
      if (sums == &steady && window.transient) continue;
      sums->visits += window.visits;
      sums->elapsed += window.elapsed;
      ++sums->all;
    }
  }
  Sums& used = steady.all >= kMinSteady ? steady : all;
  used.steady = steady.all;
  used.all = all.all;
  return used;
}

std::optional<Estimate> Windows::estimate(Line line, int speedup) const {
  const Sums baseline = sums(line, 0);
  const Sums treated = sums(line, speedup);
  if (baseline.visits == 0 || treated.visits == 0) return std::nullopt;
  return Estimate{100 * (1 - treated.period() / baseline.period()),
                  1 - static_cast<double>(treated.steady) / static_cast<double>(treated.all)};
}

}  // namespace oracle
