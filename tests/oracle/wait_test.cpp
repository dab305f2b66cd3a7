// How far predictions for waits that are shorter, at locks and devices, are from the truth. As in
// oracle_test.cpp, bounds are what was measured plus about a fifth.
#include <catch2/catch.hpp>
#include <stdexcept>
#include <string_view>

#include "tests/oracle/wait_workloads.h"

using oracle::Comparison;
using oracle::Errors;
using oracle::kMillisecond;
using oracle::kSecond;
using oracle::Settings;
using oracle::Treatment;
using oracle::WaitWorkload;

namespace {

constexpr coz::Nanoseconds kLength = 2 * kSecond;

const WaitWorkload& workload(std::string_view name) {
  for (const WaitWorkload& each : oracle::wait_workloads()) {
    if (each.program.name == name) return each;
  }
  FAIL("no workload " << name);
  throw std::logic_error("unreachable");
}

void check(std::string_view name, double most_mean, double most_worst) {
  const Errors errors = oracle::errors(oracle::compare_waits(workload(name), {}, kLength));
  INFO(name);
  CHECK(errors.mean <= most_mean);
  CHECK(errors.worst <= most_worst);
}

// The line "work", where waits are targets, too, and where they are not.
void check_work(std::string_view name, double most_mean, double most_worst) {
  constexpr oracle::Line kWork = 2;
  for (const bool follows_waits : {false, true}) {
    Settings settings;
    settings.follows_waits = follows_waits;
    auto lines =
        oracle::compare(workload(name).program, settings, kLength, kWork + 1, oracle::kSpeedups);
    std::erase_if(lines, [](const Comparison& each) { return each.line != kWork; });
    const Errors errors = oracle::errors(lines);
    INFO(name << (follows_waits ? ", waits are targets" : ""));
    CHECK(errors.mean <= most_mean);
    CHECK(errors.worst <= most_worst);
  }
}

}  // namespace

TEST_CASE("oracle: waits at a lock, of two threads") {
  check("lock, 2 threads, always held", 0.2, 0.5);
  check("lock, 2 threads, 90 %", 0.3, 0.5);
  check("lock, 2 threads, 50 %", 0.3, 0.5);
  check("lock, 2 threads, 10 %", 0.2, 0.2);
}

TEST_CASE("oracle: waits at a lock, of threads that queue there") {
  check("lock, 4 threads, always held", 0.2, 0.5);
  check("lock, 4 threads, 90 %", 0.4, 0.8);
  check("lock, 4 threads, 50 %", 0.3, 0.5);
  check("lock, 4 threads, short", 0.5, 1.2);
  check("lock, 3 threads, long", 0.6, 1.0);
  check("lock, barging", 0.3, 0.3);
}

TEST_CASE("oracle: waits at a lock of readers and writers") {
  check("readers and a writer", 0.3, 0.3);
  check("readers and a slow writer", 0.3, 0.3);
  check("slow readers", 0.3, 0.3);
}

TEST_CASE("oracle: waits at one of two locks, or beside a barrier") {
  check("two locks", 0.3, 0.6);
  check("nested locks", 2.2, 3.8);
  check("lock beside a barrier", 0.2, 0.4);
}

TEST_CASE("oracle: waits for a device") {
  check("device, depth 1", 0.6, 1.0);
  check("device, depth 4", 0.3, 0.5);
  check("device, one thread", 0.2, 0.4);
  check("reads beside computing", 0.5, 0.7);
  check("reading ahead", 0.5, 0.8);
}

TEST_CASE("oracle: a line beside a device") {
  check_work("device, depth 1", 0.6, 1.0);
  check_work("device, depth 4", 2.3, 5.1);
  check_work("device, one thread", 0.1, 0.1);
  check_work("reads beside computing", 0.3, 0.5);
  check_work("reading ahead", 0.2, 0.3);
}

TEST_CASE("oracle: a lock whose waits are not shorter excludes as ever") {
  for (const char* name : {"lock, 4 threads, 90 %", "lock, 2 threads, always held"}) {
    const auto& program = workload(name).program;
    const double baseline = oracle::time_per_visit(program, {}, {}, kLength);
    const double same =
        oracle::time_per_visit(program, {}, {Treatment::Kind::kReal, 0, 0.0}, kLength);
    CHECK(same == Approx(baseline).epsilon(0.003));
  }
}

TEST_CASE("oracle: following waits leaves predictions for lines as they are") {
  Settings follows;
  follows.follows_waits = true;
  for (const oracle::Workload& each : oracle::workloads()) {
    if (each.name != "lock, 4 threads" && each.name != "I/O beside compute") continue;
    const auto plain = oracle::errors(oracle::compare(each, {}, kLength));
    const auto followed = oracle::errors(oracle::compare(each, follows, kLength));
    INFO(each.name);
    CHECK(followed.mean <= plain.mean + 0.2);
  }
}
