#include "target/selection.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <set>
#include <thread>
#include <vector>

using coz::Selection;
using coz::SelectionCell;

TEST_CASE("at first nothing is selected") {
  const SelectionCell cell;
  CHECK(cell.get().epoch == 0);
  CHECK(cell.get().target == coz::kNoTarget);
  CHECK(cell.get().delay == 0);
}

TEST_CASE("a selection is read as it was written") {
  SelectionCell cell;
  cell.select(42, 125000);
  CHECK(cell.get().target == 42);
  CHECK(cell.get().delay == 125000);
  CHECK(cell.get().epoch != 0);
}

TEST_CASE("every selection has an epoch of its own, the same line again included") {
  SelectionCell cell;
  std::set<std::uint32_t> epochs;
  for (int i = 0; i < 100; ++i) {
    cell.select(1, 5);
    epochs.insert(cell.get().epoch);
    if (i % 3 == 0) cell.clear();
  }
  CHECK(epochs.size() == 100);
  CHECK_FALSE(epochs.contains(0));
}

TEST_CASE("a cleared cell selects no line and gives no delay") {
  SelectionCell cell;
  cell.select(42, 125000);
  cell.clear();
  CHECK(cell.get().epoch == 0);
  CHECK(cell.get().target == coz::kNoTarget);
  CHECK(cell.get().delay == 0);
}

TEST_CASE("a baseline is a selection too: a line without delay") {
  SelectionCell cell;
  cell.select(7, 0);
  CHECK(cell.get().target == 7);
  CHECK(cell.get().delay == 0);
  CHECK(cell.get().epoch != 0);
}

TEST_CASE("readers see whole selections, or none", "[threads]") {
  SelectionCell cell;
  std::atomic<bool> stop{false};
  std::atomic<int> torn{0};
  std::atomic<int> seen{0};
  std::atomic<int> went_back{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      std::uint32_t last = 0;
      while (!stop) {
        const Selection selection = cell.get();
        if (selection.epoch == 0) {
          if (selection.target != coz::kNoTarget || selection.delay != 0) ++torn;
          continue;
        }
        ++seen;
        // The writer below selects line n and delay 1000·n in the n-th epoch.
        if (selection.target != selection.epoch || selection.delay != 1000L * selection.epoch)
          ++torn;
        if (selection.epoch < last) ++went_back;
        last = selection.epoch;
      }
    });
  }
  std::uint32_t line = 0;
  while (line < 200000 || seen < 1000) {
    ++line;
    cell.select(line, 1000L * line);
    if (line % 5 == 0) cell.clear();
    if (line % 64 == 0) std::this_thread::yield();
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  CHECK(torn == 0);
  CHECK(went_back == 0);
}
