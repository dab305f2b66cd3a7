#include "tests/oracle/crowds.h"

#include <algorithm>
#include <array>

#include "experiment/random.h"
#include "tests/oracle/blocking.h"

namespace oracle {
namespace {

constexpr const char* kNames[] = {"pipeline",  "pool",    "lock", "barrier",
                                  "fork-join", "waiting", "alone"};
constexpr std::size_t kMostCosts = 4;

// What the lines of a shape cost, and how large its queues are.
struct Costs {
  std::array<Time, kMostCosts> line;
  int capacity;
};

// In microseconds; each has to do with one line of the shape.
constexpr double kUsual[][kMostCosts] = {
    {400, 900, 600, 500},  // pipeline: stages, in turn
    {150, 500, 1000, 0},   // pool: hand out, two lines of the work
    {1200, 800, 100, 0},   // lock: two lines outside, one inside
    {2000, 1200, 0, 0},    // barrier: two phases, of which thread 0 has half as much again
    {500, 800, 1600, 0},   // fork and join: alone, two lines of the work
    {300, 700, 0, 0},      // waiting: before and after a wait of 1.5 ms
    {500, 700, 300, 900},  // alone: threads in turn; all but the first wait outside, too
};

Costs costs_of(const Crowd& crowd) {
  Costs costs{{}, 8};
  const auto shape = static_cast<std::size_t>(crowd.shape);
  double scale = 1, variation = 0.3;
  coz::Random random(crowd.draw * 7919 + shape * 101 +
                     static_cast<std::uint64_t>(crowd.cores) * 11 +
                     static_cast<std::uint64_t>(crowd.threads));
  if (crowd.draw > 0) {
    constexpr int kCapacities[] = {2, 8, 25, 64};
    costs.capacity = kCapacities[random.below(4)];
    scale = 0.5 + 3 * random.fraction();
    variation = 0.1 + 0.6 * random.fraction();
  }
  for (std::size_t i = 0; i < kMostCosts; ++i) {
    const double factor = crowd.draw > 0 ? 0.3 + 1.7 * random.fraction() : 1;
    const double mean = kUsual[shape][i] * scale * factor;
    costs.line[i] = {static_cast<Nanoseconds>(mean * kMicrosecond), variation};
  }
  return costs;
}

// A stage for each thread; lines are those of stages in turn.
void pipeline(World& world, const Costs& costs, int threads) {
  std::vector<BoundedQueue*> queues{nullptr};
  for (int i = 1; i < threads; ++i) queues.push_back(&world.make<BoundedQueue>(costs.capacity));
  queues.push_back(nullptr);
  for (int i = 0; i < threads; ++i) {
    const auto stage = static_cast<std::size_t>(i);
    const std::size_t line = stage % kMostCosts;
    world.spawn([from = queues[stage], to = queues[stage + 1], line,
                 cost = costs.line[line]](Thread& thread) {
      if (from != nullptr) from->get(thread);
      thread.compute(static_cast<Line>(line), cost);
      to != nullptr ? to->put(thread) : thread.visit();
    });
  }
}

void pool(World& world, const Costs& costs, int threads) {
  auto& queue = world.make<BoundedQueue>(costs.capacity);
  world.spawn([&queue, cost = costs.line[0]](Thread& thread) {
    thread.compute(0, cost);
    queue.put(thread);
  });
  for (int i = 1; i < threads; ++i) {
    world.spawn([&queue, one = costs.line[1], two = costs.line[2]](Thread& thread) {
      queue.get(thread);
      thread.compute(1, one);
      thread.compute(2, two);
      thread.visit();
    });
  }
}

void lock(World& world, const Costs& costs, int threads) {
  auto& mutex = world.make<Mutex>(Mutex::Order::kBarging);
  for (int i = 0; i < threads; ++i) {
    world.spawn([&mutex, line = costs.line](Thread& thread) {
      thread.compute(0, line[0]);
      thread.compute(1, line[1]);
      mutex.lock(thread);
      thread.compute(2, line[2]);
      mutex.unlock(thread);
      thread.visit();
    });
  }
}

void barrier(World& world, const Costs& costs, int threads) {
  auto& meeting = world.make<Barrier>(static_cast<std::size_t>(threads));
  for (int i = 0; i < threads; ++i) {
    world.spawn([&meeting, i, line = costs.line](Thread& thread) {
      Time first = line[0];
      if (i == 0) first.mean += first.mean / 2;
      thread.compute(i == 0 ? 2 : 0, first);
      meeting.meet(thread);
      thread.compute(1, line[1]);
      meeting.meet(thread);
      if (i == 0) thread.visit();
    });
  }
}

void fork_and_join(World& world, const Costs& costs, int threads) {
  auto& begin = world.make<Barrier>(static_cast<std::size_t>(threads));
  auto& end = world.make<Barrier>(static_cast<std::size_t>(threads));
  for (int i = 0; i < threads; ++i) {
    world.spawn([&begin, &end, i, line = costs.line](Thread& thread) {
      if (i == 0) thread.compute(0, line[0]);
      begin.meet(thread);
      thread.compute(1, line[1]);
      thread.compute(2, line[2]);
      end.meet(thread);
      if (i == 0) thread.visit();
    });
  }
}

// Threads that compute, wait for the outside, and compute.
void waiting(World& world, const Costs& costs, int threads) {
  for (int i = 0; i < threads; ++i) {
    world.spawn([line = costs.line](Thread& thread) {
      thread.compute(0, line[0]);
      thread.wait_for_outside(kNoLine, {1 * kMicrosecond}, {1500 * kMicrosecond, 0.5});
      thread.compute(1, line[1]);
      thread.visit();
    });
  }
}

// Each thread has a line and a pace of its own; those of the first line make the visits.
void alone(World& world, const Costs& costs, int threads) {
  for (int i = 0; i < threads; ++i) {
    const auto line = static_cast<std::size_t>(i) % kMostCosts;
    // Outside for 0, 1, 0.5 and 1.5 times as long as it computes.
    constexpr double kOutside[] = {0, 1, 0.5, 1.5};
    Time outside = costs.line[line];
    outside.mean = static_cast<Nanoseconds>(kOutside[line] * static_cast<double>(outside.mean));
    world.spawn([line, outside, cost = costs.line[line]](Thread& thread) {
      thread.compute(static_cast<Line>(line), cost);
      if (outside.mean > 0) thread.wait_for_outside(kNoLine, {1 * kMicrosecond}, outside);
      if (line == 0) thread.visit();
    });
  }
}

using Build = void (*)(World&, const Costs&, int);
constexpr Build kBuilds[] = {pipeline, pool, lock, barrier, fork_and_join, waiting, alone};
constexpr int kLines[] = {4, 3, 3, 3, 3, 2, 4};

}  // namespace

std::string title(const Crowd& crowd) {
  return std::string(kNames[static_cast<std::size_t>(crowd.shape)]) + ", " +
         std::to_string(crowd.threads) + " threads, " + std::to_string(crowd.cores) + " cores" +
         (crowd.draw > 0 ? ", draw " + std::to_string(crowd.draw) : "");
}

std::vector<Crowd> crowds(std::uint64_t draw) {
  std::vector<Crowd> all;
  for (const int cores : {1, 2, 4, 8}) {
    for (const double of_cores : {0.5, 1.0, 1.5, 2.0, 3.0, 4.0}) {
      const int threads = static_cast<int>(cores * of_cores);
      if (threads < 2 || threads < cores * of_cores) continue;
      for (std::size_t shape = 0; shape < std::size(kNames); ++shape) {
        all.push_back({static_cast<Shape>(shape), cores, threads, draw});
      }
    }
  }
  return all;
}

Workload workload(const Crowd& crowd) {
  const auto shape = static_cast<std::size_t>(crowd.shape);
  const int lines = crowd.shape == Shape::kPipeline || crowd.shape == Shape::kAlone
                        ? std::min(kLines[shape], crowd.threads)
                        : kLines[shape];
  std::vector<std::string> names;
  for (int line = 1; line <= lines; ++line) names.push_back("line " + std::to_string(line));
  return {title(crowd), std::move(names),
          [crowd, build = kBuilds[shape]](World& world) {
            build(world, costs_of(crowd), crowd.threads);
          },
          crowd.cores};
}

}  // namespace oracle
