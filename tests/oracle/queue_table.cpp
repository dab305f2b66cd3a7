#include "tests/oracle/queue_table.h"

#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <span>

#include "tests/oracle/truths.h"

namespace oracle {
namespace {

constexpr int kCapacities[] = {1, 8, 64, 1000};
constexpr Nanoseconds kItems[] = {100 * kMicrosecond, 1 * kMillisecond, 10 * kMillisecond,
                                  50 * kMillisecond};
constexpr int kHeldOutCapacities[] = {3, 17, 130, 400};
constexpr Nanoseconds kHeldOutItems[] = {3 * kMillisecond, 7 * kMillisecond, 20 * kMillisecond};
constexpr int kItemsHeld = 20000;

struct Way {
  const char* name;
  Care care;
};
constexpr std::array<Way, 4> kWays = {{{"waits, there and back", {true, true}},
                                       {"waits, random order", {true, false}},
                                       {"does not wait, there and back", {false, true}},
                                       {"does not wait, random order", {false, false}}}};

std::string title(const Pipeline& pipeline) {
  char text[80];
  std::snprintf(text, sizeof text, "%s, %g ms, %d", pipeline.shape.c_str(),
                static_cast<double>(pipeline.item) / 1e6, pipeline.capacity);
  return text;
}

using Predictions = std::array<Prediction, kWays.size()>;

// The ways at both ends of kWays.
void print(const Pipeline& pipeline, const Effects& held, const Predictions& predictions,
           bool brief) {
  const Prediction& waits = predictions.front();
  const Prediction& not_at_all = predictions.back();
  for (std::size_t i = 0; !brief && i < waits.comparisons.size(); ++i) {
    const Comparison& with = waits.comparisons[i];
    const Comparison& without = not_at_all.comparisons[i];
    const double error_held =
        held.at({with.line, static_cast<int>(100 * with.speedup)}) - with.truth;
    std::printf("    stage %d %3.0f %% %8.1f %9.1f %+6.1f %9.0f %% %13.1f %+6.1f %+9.1f\n",
                with.line + 1, 100 * with.speedup, with.truth, with.predicted, with.error(),
                100 * waits.transient[i], without.predicted, without.error(), error_held);
  }
  const Errors with = errors(waits.comparisons);
  const Errors without = errors(not_at_all.comparisons);
  std::printf(
      "  %-28s mean %5.2f worst %5.1f (waits %2.0f %%, %4zu windows);"
      " does not wait: mean %5.2f worst %5.1f\n",
      title(pipeline).c_str(), with.mean, with.worst, 100 * waits.waited, waits.windows,
      without.mean, without.worst);
  std::fflush(stdout);
}

}  // namespace

Effects held_effects(const Pipeline& pipeline, const Settings& settings, Treatment::Kind kind,
                     int items) {
  const Workload program = workload(pipeline);
  const Nanoseconds length = items * pipeline.item;
  const Nanoseconds settle = time_to_settle(pipeline);
  const double baseline = time_per_visit(program, settings, {}, length, settle);
  Effects effects;
  for (Line line = 0; line < static_cast<Line>(program.lines.size()); ++line) {
    for (const int speedup : kQueueSpeedups) {
      const Treatment treatment{kind, line, speedup / 100.0};
      const double treated = time_per_visit(program, settings, treatment, length, settle);
      effects[{line, speedup}] = 100 * (1 - treated / baseline);
    }
  }
  return effects;
}

Prediction predict(const Pipeline& pipeline, const Settings& settings, const Care& care,
                   Nanoseconds length, const Effects& truth) {
  Windows windows(workload(pipeline), settings, care);
  windows.measure_for(length);
  Prediction prediction{{}, {}, windows.share_waited(), windows.count()};
  for (const auto& [key, effect] : truth) {
    const auto [line, speedup] = key;
    const auto estimate = windows.estimate(line, speedup);
    if (!estimate) continue;
    prediction.comparisons.push_back({line, speedup / 100.0, effect, estimate->effect});
    prediction.transient.push_back(estimate->transient);
  }
  return prediction;
}

namespace {

// All shapes, capacities and items whose title has the part.
template <typename Visit>
void for_each_pipeline(const QueueTable& table, Visit visit) {
  const std::span<const int> capacities =
      table.held_out ? std::span<const int>(kHeldOutCapacities) : kCapacities;
  const std::span<const Nanoseconds> items =
      table.held_out ? std::span<const Nanoseconds>(kHeldOutItems) : kItems;
  for (const int capacity : capacities) {
    for (Pipeline pipeline : table.held_out ? held_out_shapes() : pipeline_shapes()) {
      for (const Nanoseconds item : items) {
        pipeline.capacity = capacity;
        pipeline.item = item;
        if (title(pipeline).find(table.only) != std::string::npos) visit(pipeline);
      }
    }
  }
}

std::string read_all(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

// True effects that are there already are kept: they take much longer than the windows.
void write_queue_profiles(const QueueTable& table) {
  const std::string path = table.profiles + "/truth.jsonl";
  const std::string known = read_all(path);
  std::ofstream truths(path, std::ios::app);
  for_each_pipeline(table, [&](const Pipeline& pipeline) {
    const std::string name = title(pipeline);
    Windows windows(workload(pipeline), table.settings, kWays.front().care);
    windows.measure_for(table.length);
    windows.write(table.profiles + "/" + name + ".coz");
    if (known.find('"' + name + '"') != std::string::npos) return;
    for (const auto& [key, effect] :
         held_effects(pipeline, table.settings, Treatment::Kind::kReal, kItemsHeld)) {
      write_truth(truths, name, key.first, key.second, effect / 100);
    }
  });
}

void print_queue_table(const QueueTable& table) {
  std::printf("queues: true effects, predicted in windows of %g s in all\n",
              static_cast<double>(table.length) / 1e9);
  std::printf(
      "  shape, item, queue      true predicted  error  transient   without waiting  error  error "
      "held\n");
  std::map<int, std::array<std::vector<Comparison>, kWays.size()>> by_capacity;
  for_each_pipeline(table, [&](const Pipeline& pipeline) {
    const Effects truth =
        held_effects(pipeline, table.settings, Treatment::Kind::kReal, kItemsHeld);
    const Effects held =
        held_effects(pipeline, table.settings, Treatment::Kind::kVirtual, kItemsHeld);
    Predictions predictions;
    for (std::size_t i = 0; i < kWays.size(); ++i) {
      predictions[i] = predict(pipeline, table.settings, kWays[i].care, table.length, truth);
      auto& all = by_capacity[pipeline.capacity][i];
      const auto& own = predictions[i].comparisons;
      all.insert(all.end(), own.begin(), own.end());
    }
    print(pipeline, held, predictions, table.brief);
  });
  for (const auto& [capacity, ways] : by_capacity) {
    for (std::size_t i = 0; i < kWays.size(); ++i) {
      const Errors all = errors(ways[i]);
      std::printf("queue of %4d, %-30s mean error %5.2f, worst %5.1f points\n", capacity,
                  kWays[i].name, all.mean, all.worst);
    }
  }
}

}  // namespace oracle
