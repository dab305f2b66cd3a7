#include "thread/thread_registry.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <new>
#include <set>
#include <thread>
#include <vector>

#include "kernel/zeroed_memory.h"

using coz::ThreadRegistry;
using coz::ThreadState;

namespace {

std::unique_ptr<ThreadRegistry> make_registry() { return std::make_unique<ThreadRegistry>(); }

std::multiset<int> live_tids(ThreadRegistry& registry) {
  std::multiset<int> tids;
  registry.for_each([&](ThreadState& thread) { tids.insert(thread.tid.load()); });
  return tids;
}

}  // namespace

TEST_CASE("a claimed slot carries the thread's id and its own index") {
  const auto registry = make_registry();
  ThreadState* a = registry->claim(101);
  ThreadState* b = registry->claim(102);
  REQUIRE(a != nullptr);
  REQUIRE(b != nullptr);
  CHECK(a != b);
  CHECK(a->tid == 101);
  CHECK(b->tid == 102);
  CHECK(a->delay.slot != b->delay.slot);
}

TEST_CASE("for_each visits the threads that are registered now, and no others") {
  const auto registry = make_registry();
  CHECK(live_tids(*registry).empty());
  registry->claim(1);
  ThreadState* gone = registry->claim(2);
  registry->claim(3);
  registry->release(*gone);
  CHECK(live_tids(*registry) == std::multiset<int>{1, 3});
}

TEST_CASE("a slot is claimed clean, whatever its last thread left in it") {
  const auto registry = make_registry();
  std::set<ThreadState*> before;
  for (int tid = 1; tid <= 300; ++tid) {
    ThreadState* thread = registry->claim(tid);
    REQUIRE(thread != nullptr);
    thread->delay.busy = true;
    thread->delay.blocked = true;
    thread->in_handler = true;
    thread->delay.deferred = 99;
    thread->event = 5;
    thread->ticks.begin(0, coz::kMillisecond, coz::kMillisecond);
    before.insert(thread);
    registry->release(*thread);
  }
  ThreadState* again = registry->claim(1000);
  REQUIRE(again != nullptr);
  CHECK(before.contains(again));
  CHECK(again->tid == 1000);
  CHECK_FALSE(again->delay.busy);
  CHECK_FALSE(again->delay.blocked);
  CHECK_FALSE(again->in_handler);
  CHECK(again->delay.deferred == 0);
  CHECK(again->event == -1);
  CHECK(again->timer == -1);
  CHECK_FALSE(again->ticks.is_behind(2 * coz::kMillisecond, coz::kMillisecond));
}

TEST_CASE("threads that come and go share few slots") {
  const auto registry = make_registry();
  std::set<ThreadState*> used;
  for (int tid = 1; tid <= 5000; ++tid) {
    ThreadState* thread = registry->claim(tid);
    used.insert(thread);
    registry->release(*thread);
  }
  CHECK(used.size() <= 256);
  CHECK(registry->threads_seen() == 5000);
}

TEST_CASE("when all slots are taken a claim gets none, and one given back is found again") {
  const auto registry = make_registry();
  std::set<ThreadState*> slots;
  for (std::uint32_t i = 0; i < ThreadRegistry::kSlots; ++i) {
    slots.insert(registry->claim(static_cast<int>(i) + 1));
  }
  CHECK(slots.size() == ThreadRegistry::kSlots);
  CHECK_FALSE(slots.contains(nullptr));
  CHECK(registry->claim(99999) == nullptr);
  CHECK(registry->threads_seen() == ThreadRegistry::kSlots);

  ThreadState* freed = *slots.rbegin();
  registry->release(*freed);
  CHECK(registry->claim(99999) == freed);
  CHECK(registry->claim(99999) == nullptr);
}

TEST_CASE("slots take memory from their first use on") {
  constexpr std::size_t kBytes = sizeof(ThreadRegistry);
  void* memory = coz::map_zeroed(kBytes);
  REQUIRE(memory != nullptr);
  auto* registry = new (memory) ThreadRegistry;
  for (int tid = 1; tid <= 10; ++tid) REQUIRE(registry->claim(tid) != nullptr);
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((kBytes + page - 1) / page);
  REQUIRE(mincore(memory, kBytes, pages.data()) == 0);
  const auto used =
      std::count_if(pages.begin(), pages.end(), [](unsigned char state) { return state & 1; });
  CHECK(static_cast<std::size_t>(used) * page < kBytes / 100);
  coz::unmap(memory, kBytes);
}

TEST_CASE("threads that claim at the same time get slots of their own", "[threads]") {
  const auto registry = make_registry();
  constexpr int kThreads = 4;
  constexpr int kRounds = 3000;
  std::atomic<int> shared_slots{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int id = 1; id <= kThreads; ++id) {
    threads.emplace_back([&, id] {
      for (int round = 0; round < kRounds; ++round) {
        ThreadState* thread = registry->claim(id);
        // Plain fields: two owners at once would be seen here, and by the thread sanitizer.
        thread->delay.blocked_at = {id, id};
        thread->event = id;
        if (thread->tid != id || thread->event != id || thread->delay.blocked_at.local != id) {
          ++shared_slots;
        }
        registry->release(*thread);
      }
    });
  }
  std::atomic<int> wrong_tids{0};
  std::thread reader([&] {
    while (!stop) {
      registry->for_each([&](ThreadState& thread) {
        const int tid = thread.tid;
        if (tid < -1 || tid > kThreads) ++wrong_tids;
      });
    }
  });
  for (std::thread& thread : threads) thread.join();
  stop = true;
  reader.join();
  CHECK(shared_slots == 0);
  CHECK(wrong_tids == 0);
  CHECK(registry->threads_seen() == kThreads * kRounds);
  CHECK(live_tids(*registry).empty());
}
