#include "progress/point_counters.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

using namespace coz;

namespace {

[[gnu::noinline]] void passed(std::atomic<int>& times) { times.fetch_add(1); }
[[gnu::noinline]] void also_passed(std::atomic<int>& times) { times.fetch_sub(1); }

std::uintptr_t address(void (*function)(std::atomic<int>&)) {
  return reinterpret_cast<std::uintptr_t>(function);
}

}  // namespace

TEST_CASE("the kernel counts visits, in threads too", "[points]") {
  PointCounters counters;
  Point point;
  const std::vector<std::uintptr_t> places = {address(passed), address(also_passed)};
  if (counters.add(point, places) != 0) {
    WARN("this machine gives no hardware breakpoints");
    return;
  }
  CHECK(counters.descriptors().size() == 2);
  std::atomic<int> times{0};
  for (int i = 0; i < 10; ++i) passed(times);
  std::thread([&] {
    for (int i = 0; i < 20; ++i) also_passed(times);
  }).join();
  CHECK(point.visits() == 0);
  counters.refresh();
  CHECK(point.visits() == 30);
}

TEST_CASE("without a breakpoint for each place there is none", "[points]") {
  PointCounters counters;
  Point point;
  const std::vector<std::uintptr_t> many(100, address(passed));
  CHECK(counters.add(point, many) < 0);
  CHECK(counters.descriptors().empty());
  counters.refresh();
  CHECK(point.visits() == 0);
}
