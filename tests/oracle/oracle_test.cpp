// How far the rules of libcoz/delay are from the truth, in a model where the truth is known.
//
// Bounds are what was measured at the default period plus about a fifth; docs/decisions/
// credit_rules.md has the tables. They are there to notice a change of the rules, to the worse
// above all: where errors have become smaller, lower them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/oracle/experiment.h"

using oracle::Comparison;
using oracle::Errors;
using oracle::kMillisecond;
using oracle::kSecond;
using oracle::Settings;
using oracle::Workload;

namespace {

constexpr coz::Nanoseconds kLength = 2 * kSecond;

// The period that users get.
Settings by_default() {
  Settings settings;
  settings.period = kMillisecond;
  return settings;
}

const Workload& workload(std::string_view name) {
  const auto& all = oracle::workloads();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Workload& w) { return w.name == name; });
  if (found == all.end()) FAIL("no workload " << name);
  return *found;
}

// Each is run once for all tests.
const std::vector<Comparison>& compared(const std::string& name) {
  static std::map<std::string, std::vector<Comparison>> known;
  if (!known.contains(name)) known[name] = oracle::compare(workload(name), by_default(), kLength);
  return known[name];
}

void check(const std::string& name, const std::vector<Comparison>& comparisons, double most_mean,
           double most_worst) {
  const Errors errors = oracle::errors(comparisons);
  INFO(name);
  CHECK(errors.mean <= most_mean);
  CHECK(errors.worst <= most_worst);
}

void check(const std::string& name, double most_mean, double most_worst) {
  check(name, compared(name), most_mean, most_worst);
}

}  // namespace

TEST_CASE("oracle: a line beside a barrier gains what the barrier leaves, and no more") {
  check("two threads, barrier", 0.1, 0.1);
}

TEST_CASE("oracle: lines whose share of the critical path changes from one phase to the next") {
  check("barrier, two phases", 0.9, 3.3);
}

TEST_CASE("oracle: threads that share the work of a round, in code segments of a few samples") {
  // If charges came in lumps, others would wait for the thread that happened to get the largest.
  check("two shares of 5 ms", 0.3, 0.7);
  check("four shares of 2.5 ms", 0.5, 1.8);
  check("four shares of 5 ms", 0.4, 0.9);
  check("four shares of 12 ms", 0.3, 0.7);
  check("four shares of 30 ms", 0.3, 0.6);
}

TEST_CASE("oracle: lines inside and outside of a lock that is mostly free") {
  check("lock, light", 0.7, 2.4);
}

TEST_CASE("oracle: waits shorter than a delay") {
  // About to form a convoy, so that the truth itself is far from proportional to the speedup.
  check("lock, short section", 1.4, 3.6);
  check("lock, busy", 0.4, 1.0);
}

TEST_CASE("oracle: a lock held far shorter than it takes to wake a thread") {
  check("lock, brief section", 3.6, 6.2);
}

TEST_CASE("oracle: waits longer than a delay") { check("lock, long section", 0.5, 0.9); }

TEST_CASE("oracle: a lock taken by four threads") { check("lock, 4 threads", 1.1, 2.8); }

TEST_CASE("oracle: locks that the first thread to come takes") {
  check("lock, 4 threads, barging", 1.4, 3.0);
  // The worst is the line outside, in a race with the kernel's waking of the other thread, which
  // no delay holds up.
  check("lock, busy, barging", 1.8, 6.6);
}

TEST_CASE("oracle: the stages of a pipeline") {
  check("pipeline 1:1", 0.4, 0.7);
  check("pipeline 1:2", 0.5, 1.0);
  check("pipeline 1:2, barging", 0.5, 1.0);
  check("semaphore ring", 0.4, 0.7);
}

TEST_CASE("oracle: readers and a writer") { check("readers and a writer", 1.4, 4.6); }

TEST_CASE("oracle: work handed over by a condition, and back") {
  check("hand-off by condition", 0.4, 1.1);
}

TEST_CASE("oracle: many threads that a condition wakes, and that then wait for one mutex") {
  check("fork and join, condition", 0.7, 2.6);
}

TEST_CASE("oracle: a thread for each piece of work") {
  // Few samples fall in such threads: one draw of chance moves the mean by 0.1.
  std::vector<Comparison> all;
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    Settings settings = by_default();
    settings.seed = seed;
    const auto some = oracle::compare(workload("threads of 50 us"), settings, kLength);
    all.insert(all.end(), some.begin(), some.end());
  }
  CHECK(oracle::errors(all).mean <= 0.4);
  CHECK(oracle::errors(all).worst <= 1.8);
  check("threads of 0.5 ms", 0.3, 0.5);
  check("threads of 2 ms", 0.3, 0.6);
  check("threads of 6 ms", 0.5, 1.0);
}

TEST_CASE("oracle: short threads side by side, of which samples find one or the other") {
  check("two threads of 50 us", 1.2, 3.6);
  check("two threads of 0.2 ms", 0.5, 0.8);
  check("two threads of 2 ms", 0.2, 0.4);
}

TEST_CASE("oracle: many threads that the clock wakes, beside a thread that never stops") {
  // The worst is 1.3 under all seeds; in a run of 2 s it is 0.9 to 1.5, by chance.
  const std::string name = "waiting by the clock";
  check(name, oracle::compare(workload(name), by_default(), 4 * kLength), 0.35, 1.35);
}

TEST_CASE("oracle: waiting for the outside is neither sped up nor credited") {
  check("I/O beside compute", 0.6, 1.8);
  check("I/O pipeline", 0.2, 0.4);
}

TEST_CASE("oracle: over all workloads the mean error is below one point") {
  std::vector<Comparison> all;
  for (const Workload& each : oracle::workloads()) {
    if (each.informational) continue;
    const auto& comparisons = compared(each.name);
    all.insert(all.end(), comparisons.begin(), comparisons.end());
  }
  CHECK(oracle::errors(all).mean <= 0.65);
}

TEST_CASE(
    "oracle: the period hardly matters, since samples in the target are spread over many code "
    "segments") {
  const Workload& phases = workload("barrier, two phases");
  Settings settings = by_default();
  settings.period *= 2;
  CHECK(oracle::errors(oracle::compare(phases, settings, kLength)).mean < 1.0);
}

TEST_CASE("oracle: crediting all that G grew by, whatever the wake source, is far off") {
  Settings settings;
  settings.rules = oracle::Rules::kClassic;
  const Workload& two_threads = workload("two threads, barrier");
  CHECK(oracle::errors(oracle::compare(two_threads, settings, kLength)).mean > 10);
}

TEST_CASE("oracle: runs are repeatable") {
  const auto run = [] {
    return oracle::time_per_visit(workload("pipeline 1:2"), by_default(),
                                  {oracle::Treatment::Kind::kVirtual, 1, 0.5}, kLength / 10);
  };
  CHECK(run() == run());
}
