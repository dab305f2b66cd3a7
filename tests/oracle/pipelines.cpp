#include "tests/oracle/pipelines.h"

#include <algorithm>

#include "tests/oracle/blocking.h"

namespace oracle {
namespace {

using Queues = std::vector<BoundedQueue*>;

// Those of `queues` that thread `number` of a stage with so many threads serves.
Queues served_by(const Queues& queues, int number, int threads) {
  if (queues.size() <= 1) return queues;
  Queues served;
  for (auto i = static_cast<std::size_t>(number); i < queues.size();
       i += static_cast<std::size_t>(threads)) {
    served.push_back(queues[i]);
  }
  return served;
}

// The work of one thread. Queues are served in turn.
struct Worker {
  void operator()(Thread& thread) {
    if (!inputs.empty()) inputs[turn % inputs.size()]->get(thread);
    thread.compute(line, work);
    if (outputs.empty()) {
      thread.visit();
    } else {
      outputs[turn % outputs.size()]->put(thread);
    }
    ++turn;
  }

  Queues inputs;
  Queues outputs;
  Line line;
  Time work;
  std::size_t turn = 0;
};

void build(const Pipeline& pipeline, World& world) {
  const std::vector<Stage>& stages = pipeline.stages;
  std::vector<Queues> before(stages.size() + 1);  // each stage, and none behind the last
  for (std::size_t i = 1; i < stages.size(); ++i) {
    const int count = stages[i].lanes ? std::max(stages[i - 1].threads, stages[i].threads) : 1;
    for (int lane = 0; lane < count; ++lane) {
      before[i].push_back(&world.make<BoundedQueue>(pipeline.capacity));
    }
  }
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const auto cost = static_cast<Nanoseconds>(stages[i].cost * static_cast<double>(pipeline.item));
    for (int t = 0; t < stages[i].threads; ++t) {
      world.spawn(Worker{served_by(before[i], t, stages[i].threads),
                         served_by(before[i + 1], t, stages[i].threads),
                         static_cast<Line>(i),
                         {cost, pipeline.variation}});
    }
  }
}

}  // namespace

const std::vector<Pipeline>& pipeline_shapes() {
  static const std::vector<Pipeline> all = {
      {"2, last slow", {{0.6}, {1}}},
      {"2, first slow", {{1}, {0.6}}},
      {"2, balanced", {{1}, {1}}},
      {"3 stages", {{0.7}, {1}, {0.5}}},
      {"5 stages", {{0.5}, {0.8}, {0.6}, {1}, {0.7}}},
      {"pool", {{0.7}, {3, 3}, {0.5}}},
      {"fan-out", {{0.7}, {3, 3, true}}},
      {"fan-in", {{2.1, 3}, {1, 1, true}}},
  };
  return all;
}

const std::vector<Pipeline>& held_out_shapes() {
  static const std::vector<Pipeline> all = {
      {"2, 9 to 10", {{0.9}, {1}}},
      {"2, 3 to 10, varied", {{0.3}, {1}}, 10 * kMillisecond, 8, 0.9},
      {"2, 1 to 0.8, varied", {{1}, {0.8}}, 10 * kMillisecond, 8, 0.9},
      {"3 stages, first slow", {{1}, {0.4}, {0.8}}},
      {"4 stages, last slow", {{0.6}, {0.7}, {0.9}, {1}}},
      {"pool of 4 at the end", {{0.5}, {0.8}, {4, 4}}},
      {"two pools", {{1.4, 2}, {3, 3}, {0.6}}},
  };
  return all;
}

Workload workload(const Pipeline& pipeline) {
  std::vector<std::string> lines;
  for (std::size_t i = 1; i <= pipeline.stages.size(); ++i) {
    lines.push_back("stage " + std::to_string(i));
  }
  return {pipeline.shape, std::move(lines), [pipeline](World& world) { build(pipeline, world); }};
}

Nanoseconds time_to_settle(const Pipeline& pipeline) {
  constexpr int kRounds = 8;  // a queue takes 1 / (1 − ρ) of its capacity, in items
  return (kRounds * pipeline.capacity + 100) * pipeline.item;
}

}  // namespace oracle
