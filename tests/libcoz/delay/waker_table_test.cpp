#include "delay/waker_table.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <thread>
#include <vector>

using coz::Nanoseconds;
using coz::WakerTable;

namespace {

constexpr std::uintptr_t kHeap = 0x55d0'1234'5000;

std::unique_ptr<WakerTable> make_table() { return std::make_unique<WakerTable>(); }

// Fills a table until it has an object that takes the place of kHeap, and the other way round, and
// returns that.
std::uintptr_t find_collision(WakerTable& table) {
  table.record(kHeap, {1, 1, 0});
  for (std::uintptr_t other = kHeap + 0x100000;; other += 8) {
    table.record(other, {2, 2, 0});
    if (table.find(kHeap)) continue;
    table.record(kHeap, {1, 1, 0});
    if (!table.find(other)) return other;
  }
}

}  // namespace

TEST_CASE("an empty table knows no object") {
  const auto table = make_table();
  CHECK_FALSE(table->find(0));
  for (std::uintptr_t object = kHeap; object < kHeap + 80000; object += 8) {
    if (table->find(object)) FAIL("found " << object << " in an empty table");
  }
}

TEST_CASE("the last release of an object is found, by whichever thread it was") {
  const auto table = make_table();
  table->record(kHeap, {1234, 7, 0});
  REQUIRE(table->find(kHeap));
  CHECK(table->find(kHeap)->local == 1234);
  CHECK(table->find(kHeap)->thread == 7);
  table->record(kHeap, {1200, 8, 0});
  REQUIRE(table->find(kHeap));
  CHECK(table->find(kHeap)->local == 1200);
  CHECK(table->find(kHeap)->thread == 8);
}

TEST_CASE("delays of hours, slots of any number and unaligned addresses are kept unchanged") {
  const auto table = make_table();
  const Nanoseconds day = 86400 * coz::kSecond;
  for (const std::uintptr_t object : {std::uintptr_t{1}, kHeap + 3, ~std::uintptr_t{0}}) {
    table->record(object, {day, 16383, 400 * day});
    REQUIRE(table->find(object));
    CHECK(table->find(object)->local == day);
    CHECK(table->find(object)->thread == 16383);
    CHECK(table->find(object)->at == 400 * day);
    table->record(object, {0, 0, 0});
    REQUIRE(table->find(object));
    CHECK(table->find(object)->local == 0);
    CHECK(table->find(object)->thread == 0);
  }
}

TEST_CASE("the time of a release remains when a later one has none, but not for another object") {
  const auto table = make_table();
  table->record_without_time(kHeap, 10, 1);
  REQUIRE(table->find(kHeap));
  CHECK(table->find(kHeap)->at == 0);
  table->record(kHeap, {20, 2, 500});
  table->record_without_time(kHeap, 30, 3);
  REQUIRE(table->find(kHeap));
  CHECK(table->find(kHeap)->local == 30);
  CHECK(table->find(kHeap)->thread == 3);
  CHECK(table->find(kHeap)->at == 500);
  const std::uintptr_t other = find_collision(*table);
  table->record(kHeap, {30, 3, 500});
  table->record_without_time(other, 40, 4);
  REQUIRE(table->find(other));
  CHECK(table->find(other)->at == 0);
}

TEST_CASE("a newer object may take the place of an older, which is then unknown") {
  const auto table = make_table();
  const std::uintptr_t other = find_collision(*table);
  table->record(kHeap, {10, 1, 0});
  table->record(other, {20, 2, 0});
  CHECK_FALSE(table->find(kHeap));
  REQUIRE(table->find(other));
  CHECK(table->find(other)->local == 20);
}

TEST_CASE("no object ever gets another's data") {
  const auto table = make_table();
  constexpr std::uintptr_t kObjects = 100000;
  // Each object has its own data, so that it can be told whose they are.
  const auto waker_of = [](std::uintptr_t i) {
    return WakerTable::Waker{static_cast<Nanoseconds>(i * 3), static_cast<std::uint32_t>(i),
                             static_cast<Nanoseconds>(i * 7)};
  };
  for (std::uintptr_t i = 0; i < kObjects; ++i) table->record(kHeap + 16 * i, waker_of(i));
  std::size_t found = 0;
  std::size_t wrong = 0;
  for (std::uintptr_t i = 0; i < kObjects; ++i) {
    const auto waker = table->find(kHeap + 16 * i);
    if (!waker) continue;
    ++found;
    const auto own = waker_of(i);
    if (waker->local != own.local || waker->thread != own.thread || waker->at != own.at) ++wrong;
  }
  CHECK(wrong == 0);
  // The table is well used: most of its entries hold one of them.
  CHECK(found > 2000);
}

TEST_CASE("objects in few do not take each other's place, wherever they are") {
  for (std::uintptr_t distance = 8; distance < 40000; distance += 8) {
    const auto table = make_table();
    for (std::uintptr_t i = 0; i < 4; ++i) table->record(kHeap + distance * i, {1, 1, 0});
    for (std::uintptr_t i = 0; i < 4; ++i) {
      if (!table->find(kHeap + distance * i)) FAIL(distance << " bytes apart, number " << i);
    }
  }
}

TEST_CASE("neighbouring objects rarely collide") {
  const auto table = make_table();
  constexpr std::uintptr_t kObjects = 256;
  for (std::uintptr_t i = 0; i < kObjects; ++i) table->record(kHeap + 40 * i, {1, 1, 0});
  std::size_t found = 0;
  for (std::uintptr_t i = 0; i < kObjects; ++i) found += table->find(kHeap + 40 * i).has_value();
  CHECK(found > kObjects * 9 / 10);
}

TEST_CASE("concurrent writers of one entry never yield a torn record", "[threads]") {
  const auto table = make_table();
  const std::uintptr_t first = kHeap;
  const std::uintptr_t second = find_collision(*table);
  constexpr int kRounds = 50000;
  // What a writer records belongs together: local is a multiple of the thread, and even for the
  // first object.
  const auto write = [&](std::uintptr_t object, std::uint32_t thread) {
    const Nanoseconds odd = object == first ? 0 : 1;
    for (int round = 0; round < kRounds; ++round) {
      const Nanoseconds local = (2 * round + odd) * 64 + thread;
      table->record(object, {local, thread, 3 * local});
    }
  };
  // In place of what find_collision() recorded.
  table->record(first, {1, 1, 3});
  table->record(second, {64 + 3, 3, 3 * (64 + 3)});
  std::atomic<bool> stop{false};
  std::atomic<int> torn{0};
  std::vector<std::thread> threads;
  for (const std::uintptr_t object : {first, second}) {
    threads.emplace_back([&, object] {
      while (!stop.load()) {
        const auto waker = table->find(object);
        if (!waker) continue;
        const bool is_first = waker->local / 64 % 2 == 0;
        if (waker->local % 64 != waker->thread || waker->at != 3 * waker->local ||
            is_first != (object == first)) {
          ++torn;
        }
      }
    });
  }
  std::vector<std::thread> writers;
  writers.emplace_back(write, first, 1);
  writers.emplace_back(write, first, 2);
  writers.emplace_back(write, second, 3);
  for (std::thread& writer : writers) writer.join();
  stop = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(torn == 0);

  // Whatever they left behind, the next release is found.
  table->record(first, {64, 0, 0});
  REQUIRE(table->find(first));
  CHECK(table->find(first)->local == 64);
}
