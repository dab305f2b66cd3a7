#include "tests/oracle/windows.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "profile_log/profile_writer.h"

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
    const std::vector<int> block = slow && care_.there_and_back ? plan_.draw_there_and_back(random_)
                                                                : plan_.draw_speedups(random_);
    for (const int speedup : block) run_window(line, speedup);
    ++block_;
  }
}

void Windows::run_window(Line line, int speedup) {
  world_.select({Treatment::Kind::kVirtual, line, speedup / 100.0});
  const Nanoseconds selected = world_.now();
  settle();
  const Nanoseconds limit =
      care_.waits ? settling_.limit(static_cast<std::uint32_t>(line), world_.now()) : 0;
  const bool gave_up = limit > 0 && !settle_queues(limit);
  Window window{line, speedup, 0, 0, gave_up, {}};
  window.record.settling = world_.now() - selected;
  measure(window, gave_up ? 0 : limit);
  if (window.visits == 0) return;
  if (!last_.threads.empty()) written_ = last_;
  windows_.push_back(std::move(window));
}

void Windows::settle() {
  const Nanoseconds begin = world_.now();
  const Nanoseconds delay = world_.global_delay();
  if (!care_.waits) {
    world_.run_until(begin + length_.queue_settling());
    return;
  }
  while (const Nanoseconds rest = settling_.rest(length_.queue_settling(), world_.now() - begin,
                                                 world_.global_delay() - delay)) {
    world_.run_until(world_.now() + rest);
  }
}

// Whether steady state came, or was not waited for.
bool Windows::settle_queues(Nanoseconds limit) {
  const Nanoseconds begin = world_.now();
  lap_ = read_flows();
  bool is_steady = false;
  while (!is_steady && world_.now() - begin < limit) {
    world_.run_until(world_.now() + length_.queue_settling());
    const auto flow = flow_since(lap_);
    if (!flow) return true;
    is_steady = settling_.is_steady(*flow);
  }
  const Nanoseconds took = world_.now() - begin;
  settling_.waited(took);
  waited_ += took;
  return is_steady;
}

void Windows::measure(Window& window, Nanoseconds closing_limit) {
  const Nanoseconds opened = world_.now();
  const Nanoseconds delay = world_.global_delay();
  const Nanoseconds length = length_.get();
  const auto line = static_cast<std::size_t>(window.line) + 1;
  window.record.target_samples = world_.samples()[line];
  window.record.samples = all_samples();
  opening_ = world_.core_waits();
  std::vector<coz::Visit> edges;
  world_.point().edge.request();
  last_ = read_flows();
  if (!last_.threads.empty()) window.record.flow_before = coz::flow_between(written_, last_);
  run_for(length / 2, opened, delay);
  const auto first = flow_since(last_);
  take_edge(edges);
  const Nanoseconds step = length_.queue_settling();
  run_for(length - step, opened, delay);
  if (closing_limit > 0) lap_ = read_flows();
  run_for(length, opened, delay);
  window.record.cut = closing_limit > 0 && !wait_for_steady_state(step, closing_limit);
  const auto second = flow_since(last_);
  take_visits(window, opened, std::move(edges));
  const Nanoseconds lasted = world_.now() - opened;
  if (first && second) {
    const auto target = static_cast<std::uint32_t>(window.line);
    window.transient = window.transient || !settling_.is_steady(*first);
    settling_.observe(target, *first);
    settling_.observe(target, *second);
    window.record.flows = {*first, *second};
  }
  describe(window, opened, delay);
  const bool all_delay = window.visits == 0 && world_.global_delay() - delay > lasted / 4 * 3;
  if (!all_delay) length_.observe(std::span(&window.visits, 1), lasted);
}

// Until a window that was opened then has lasted for `length`.
void Windows::run_for(Nanoseconds length, Nanoseconds opened, Nanoseconds delay) {
  if (!care_.waits) return world_.run_until(opened + length);
  while (const Nanoseconds rest = settling_.rest_of_window(length, world_.now() - opened,
                                                           world_.global_delay() - delay)) {
    world_.run_until(world_.now() + rest);
  }
}

// Rounds off what was read as the window opened.
void Windows::describe(Window& window, Nanoseconds opened, Nanoseconds delay) const {
  coz::ExperimentRecord& record = window.record;
  record.block = block_;
  record.kind = "line";
  record.location = kFile + (":" + std::to_string(window.line + 1));
  record.speedup = window.speedup;
  record.start = opened;
  record.duration = world_.now() - opened;
  record.delay = world_.global_delay() - delay;
  record.target_samples_so_far = world_.samples()[static_cast<std::size_t>(window.line) + 1];
  record.target_samples = record.target_samples_so_far - record.target_samples;
  record.samples = all_samples() - record.samples;
  const coz::CoreWaits waits = world_.core_waits();
  record.processor_time = waits.processor_time - opening_.processor_time;
  record.core_wait = coz::core_wait_between(opening_, waits, 0);
  record.threads = coz::thread_use_between(opening_, waits, 0);
  record.machine = coz::MachineTime{*record.processor_time, 0};  // there is no other program
  record.run_time = world_.now() - world_.global_delay();
  record.transient = window.transient;
}

std::uint64_t Windows::all_samples() const noexcept {
  const auto& samples = world_.samples();
  return std::accumulate(samples.begin(), samples.end(), std::uint64_t{0});
}

// The visit at an edge, and asks for the next one. False if none has come yet.
bool Windows::take_edge(std::vector<coz::Visit>& edges) {
  coz::EdgeVisit& edge = world_.point().edge;
  if (!edge.is_taken()) return false;
  edges.push_back(edge.visit());
  edge.request();
  return true;
}

// Between the first visit since the window was opened and the first one from now on; `edges` has
// those before the second half.
void Windows::take_visits(Window& window, Nanoseconds opened, std::vector<coz::Visit> edges) {
  coz::EdgeVisit& edge = world_.point().edge;
  const Nanoseconds length = world_.now() - opened;
  const bool has_half = !edges.empty();
  take_edge(edges);
  if (edges.empty()) return edge.withdraw();
  const Nanoseconds interval = std::clamp(length / 50, 3 * kMillisecond, 50 * kMillisecond);
  const Nanoseconds give_up = world_.now() + length;
  while (!edge.is_taken() && world_.now() < give_up) world_.run_until(world_.now() + interval);
  if (!edge.is_taken()) return edge.withdraw();
  const coz::Visit& first = edges.front();
  const coz::Visit last = edge.visit();
  window.visits = static_cast<double>(last.number - first.number);
  window.elapsed = static_cast<double>(last.time - first.time);
  coz::PointResult result;
  result.name = kPointName;
  result.visits = last.number - first.number;
  result.elapsed = last.time - first.time;
  if (has_half && edges.size() == 2) {
    result.half_visits = edges[1].number - first.number;
    result.half_elapsed = edges[1].time - first.time;
  }
  window.record.points = {result};
}

// Runs until threads wait for each other, for so long at most. The first lap has begun already.
bool Windows::wait_for_steady_state(Nanoseconds step, Nanoseconds limit) {
  const Nanoseconds end = world_.now() + limit;
  while (true) {
    const auto flow = flow_since(lap_);
    if (!flow || settling_.is_steady(*flow)) return true;
    if (world_.now() >= end) return false;
    world_.run_until(world_.now() + step);
  }
}

coz::FlowReading Windows::read_flows() const {
  coz::FlowReading reading = world_.read_flows();
  const bool any = std::any_of(reading.threads.begin(), reading.threads.end(),
                               [](const auto& thread) { return !thread.waits.empty(); });
  return any ? reading : coz::FlowReading{};
}

std::optional<coz::FlowResult> Windows::flow_since(coz::FlowReading& last) const {
  if (last.threads.empty()) return std::nullopt;
  coz::FlowReading reading = world_.read_flows();
  coz::FlowResult flow = coz::flow_between(last, reading);
  last = std::move(reading);
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

void Windows::write(const std::string& path) const {
  std::remove(path.c_str());  // the writer would append
  coz::ProfileWriter writer;
  if (!writer.open(path.c_str())) throw std::runtime_error("cannot write " + path);
  coz::RunRecord run;
  run.program = "pipeline";
  run.sampling = "oracle";
  run.period = world_.period();
  run.granularity = "line";
  run.cores = world_.cores();
  writer.append(run);
  for (const Window& window : windows_) writer.append(window.record);
  coz::SamplesRecord samples;
  samples.run_time = world_.now() - world_.global_delay();
  samples.duration = world_.now();
  samples.total = samples.in_scope = all_samples();
  for (Line line = 0; line < lines_; ++line) {
    const std::string location = kFile + (":" + std::to_string(line + 1));
    const std::uint64_t count = world_.samples()[static_cast<std::size_t>(line) + 1];
    samples.lines.push_back({"line", location, "", count});
  }
  samples.experiments = windows_.size();
  samples.final = true;
  writer.append(samples);
}

std::optional<Estimate> Windows::estimate(Line line, int speedup) const {
  const Sums baseline = sums(line, 0);
  const Sums treated = sums(line, speedup);
  if (baseline.visits == 0 || treated.visits == 0) return std::nullopt;
  return Estimate{100 * (1 - treated.period() / baseline.period()),
                  1 - static_cast<double>(treated.steady) / static_cast<double>(treated.all)};
}

}  // namespace oracle
