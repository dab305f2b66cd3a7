#include "thread/process_tree.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <new>

#include "kernel/zeroed_memory.h"
#include "sampling/histogram.h"
#include "target/call_paths.h"
#include "tests/libcoz/in_child.h"
#include "thread/departed_threads.h"

using coz::kMillisecond;
using coz::kSecond;
using coz::ProcessTree;
using coz::SharedState;

namespace {

SharedState& make_shared() {
  void* block = coz::map_zeroed(sizeof(SharedState), coz::Sharing::kShared);
  REQUIRE(block != nullptr);
  return *new (block) SharedState;
}

}  // namespace

TEST_CASE("without --tree there is no tree") {
  const ProcessTree tree;
  CHECK_FALSE(tree.is_on());
  CHECK_FALSE(tree.has_ended());
}

TEST_CASE("processes that join are counted, with the time of those that leave") {
  ProcessTree tree;
  tree.begin(100);
  tree.join();
  tree.join();
  tree.leave(7 * kMillisecond);
  CHECK(tree.is_on());
  CHECK(tree.joined() == 3);
  CHECK(tree.processor_time_of_left() == 7 * kMillisecond);
}

TEST_CASE("one process a second looks whether the first lives, and all learn that it does not") {
  ProcessTree tree;
  tree.begin(100);
  tree.set_experimenter(101);
  int looks = 0;
  bool is_missing = false;
  const auto look = [&](coz::Nanoseconds time) {
    return tree.look(time, [&](int process, int thread) {
      CHECK(process == 100);
      CHECK(thread == 101);
      ++looks;
      return is_missing;
    });
  };
  CHECK_FALSE(look(10 * kSecond));
  CHECK_FALSE(look(10 * kSecond + 500 * kMillisecond));
  CHECK(looks == 1);
  is_missing = true;
  CHECK(look(12 * kSecond));
  CHECK(look(12 * kSecond + 1));
  CHECK(looks == 2);
}

TEST_CASE("what processes count in shared memory is there for all") {
  SharedState& shared = make_shared();
  coz::Histogram histogram;
  coz::CallPaths paths;
  REQUIRE(histogram.reserve(10, 0, coz::Sharing::kShared));
  REQUIRE(paths.reserve(coz::Sharing::kShared));
  coz::Point* known = shared.points.find_or_add(coz::PointKind::kThroughput, "known");
  const int child = kill_child_after([&] {
    known->count(3);
    shared.points.find_or_add(coz::PointKind::kThroughput, "new")->count(4);
    shared.regions.find_or_add("region");
    shared.global_delay.raise_to(5);
    histogram.count(3, 0);
    paths.count({1, 2}, nullptr);
  });
  wait_for(child);
  CHECK(known->visits() == 1);
  CHECK(shared.points.find(coz::PointKind::kThroughput, "new")->visits() == 1);
  CHECK(shared.regions.find("region").has_value());
  CHECK(shared.global_delay.get() == 5);
  CHECK(histogram.of(3) == 1);
  CHECK(histogram.seen(0) == 3);
}

TEST_CASE("what threads of processes held that are gone is given back") {
  SharedState& shared = make_shared();
  coz::ThreadState* own = shared.threads.claim(1);
  coz::ThreadState* gone = shared.threads.claim(2, 20);
  coz::ThreadState* other = shared.threads.claim(3, 30);
  coz::ThreadState* second = shared.threads.claim(4, 20);
  shared.selection.select(7, kMillisecond);
  const coz::Selection selection = shared.selection.get();
  REQUIRE(shared.waits.enter(gone->delay.slot, 7, 0, 1));
  shared.pending.publish(second->delay.slot, selection.epoch, 0, kMillisecond,
                         {.since = 1, .line_time = kMillisecond, .scale = kMillisecond});
  const auto accrued = [&] {
    const auto at = [] { return 10 * kMillisecond; };
    return std::max(shared.waits.max_local(selection, kMillisecond, at),
                    shared.pending.max_local(selection.epoch, kMillisecond, at));
  };
  REQUIRE(accrued() > 0);
  int asked = 0;
  coz::release_departed(shared, [&](int process, std::uintptr_t) {
    ++asked;
    return process != 20;
  });
  CHECK(asked == 2);
  CHECK(accrued() == 0);
  CHECK(gone->tid == 0);
  CHECK(second->tid == 0);
  CHECK(own->tid == 1);
  CHECK(other->tid == 3);
}

TEST_CASE("a slot that another process has claimed meanwhile is not released") {
  SharedState& shared = make_shared();
  coz::ThreadState* thread = shared.threads.claim(2, 20);
  coz::release_departed(shared, [&](int, std::uintptr_t) {
    thread->process.store(40);
    return false;
  });
  CHECK(thread->tid == 2);
  int seen = 0;
  shared.threads.for_each([&](coz::ThreadState&) { ++seen; });
  CHECK(seen == 1);
}
