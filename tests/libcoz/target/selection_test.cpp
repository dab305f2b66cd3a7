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

TEST_CASE("companions are selected besides the main target, each with a delay of its own") {
  SelectionCell cell;
  std::vector<coz::SelectedTarget> companions;
  for (std::uint32_t target = 0; target < 400; ++target) companions.push_back({target, target});
  cell.select(1000, 125000, companions);
  const Selection selection = cell.get();
  CHECK(cell.delay_of(1000, selection) == 125000);
  for (std::uint32_t target = 0; target < 400; ++target) {
    CHECK(cell.delay_of(target, selection) == target);
  }
  CHECK_FALSE(cell.delay_of(400, selection));
  CHECK_FALSE(cell.delay_of(coz::kNoTarget, selection));
  cell.select(1000, 125000);
  CHECK_FALSE(cell.delay_of(1000, Selection{}));
  CHECK_FALSE(cell.delay_of(7, cell.get()));
}

TEST_CASE("without a main target companions are selected alone") {
  SelectionCell cell;
  cell.select(coz::kNoTarget, 0, std::vector<coz::SelectedTarget>{{5, 250}});
  const Selection selection = cell.get();
  CHECK(selection.epoch != 0);
  CHECK(cell.delay_of(5, selection) == 250);
  CHECK_FALSE(cell.delay_of(6, selection));
  cell.select(coz::kNoTarget, 0, std::vector<coz::SelectedTarget>{{6, 250}});
  CHECK_FALSE(cell.delay_of(6, selection));  // that one is over
  CHECK(cell.delay_of(6, cell.get()) == 250);
}

TEST_CASE("more companions than there is room for are left out") {
  SelectionCell cell;
  std::vector<coz::SelectedTarget> companions;
  for (std::uint32_t target = 0; target < 2000; ++target) companions.push_back({target, 1});
  cell.select(coz::kNoTarget, 0, companions);
  CHECK(cell.delay_of(SelectionCell::kMaxCompanions - 1, cell.get()) == 1);
  CHECK_FALSE(cell.delay_of(SelectionCell::kMaxCompanions, cell.get()));
}

TEST_CASE("readers see delays of one epoch, or none", "[threads]") {
  SelectionCell cell;
  std::atomic<bool> stop{false};
  std::atomic<int> torn{0};
  std::atomic<int> seen{0};
  std::thread reader([&] {
    while (!stop) {
      const Selection selection = cell.get();
      for (std::uint32_t target = 1; target <= 3; ++target) {
        const auto delay = cell.delay_of(target, selection);
        if (!delay) continue;
        ++seen;
        // The writer below gives companions the delay of the main target and their number.
        if (*delay != selection.delay + target) ++torn;
      }
    }
  });
  for (std::uint32_t i = 0; i < 20000 || seen < 1000; ++i) {
    const coz::Nanoseconds delay = 10L * (i % 1000);
    cell.select(1000, delay,
                std::vector<coz::SelectedTarget>{{1, delay + 1}, {2, delay + 2}, {3, delay + 3}});
    if (i % 64 == 0) std::this_thread::yield();
  }
  stop = true;
  reader.join();
  CHECK(torn == 0);
}

TEST_CASE("a charge for hours in a target fits") {
  constexpr coz::Nanoseconds kDay = 24 * 3600 * coz::kSecond;
  constexpr coz::Nanoseconds kPeriod = 100 * coz::kMillisecond;
  CHECK(coz::charge_for(kDay, kPeriod / 2, kPeriod) == kDay / 2);
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
