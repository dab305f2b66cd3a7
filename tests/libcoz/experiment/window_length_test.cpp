#include "experiment/window_length.h"

#include <catch2/catch.hpp>
#include <initializer_list>
#include <vector>

using coz::kMillisecond;
using coz::kSecond;
using coz::Nanoseconds;
using coz::WindowLength;

namespace {

// Visits at constant rates, until the length no longer changes much.
Nanoseconds settle(WindowLength& window, std::initializer_list<double> visits_per_second) {
  for (int i = 0; i < 60; ++i) {
    std::vector<double> visits;
    for (const double rate : visits_per_second) {
      visits.push_back(rate * static_cast<double>(window.get()) / static_cast<double>(kSecond));
    }
    window.observe(visits, window.get());
  }
  return window.get();
}

}  // namespace

TEST_CASE("windows begin short") { CHECK(WindowLength().get() == WindowLength::kMinLength); }

TEST_CASE("without visits windows double, up to a bound") {
  WindowLength window;
  window.observe(std::vector<double>{0, 0}, window.get());
  CHECK(window.get() == 2 * WindowLength::kMinLength);
  window.observe({}, window.get());
  CHECK(window.get() == 4 * WindowLength::kMinLength);
  CHECK(settle(window, {}) == WindowLength::kMaxLength);
}

TEST_CASE("a window settles where its point is visited as often as wanted") {
  WindowLength window;
  CHECK(settle(window, {20}) == Approx(0.3 * kSecond).epsilon(0.01));
}

TEST_CASE("a busy point needs no more than the shortest window") {
  WindowLength window;
  settle(window, {});
  CHECK(settle(window, {100000}) == WindowLength::kMinLength);
}

TEST_CASE("an idle point asks for nothing") {
  WindowLength window;
  CHECK(settle(window, {20, 0, 0}) == Approx(0.3 * kSecond).epsilon(0.01));
  CHECK(settle(window, {1000, 0, 10, 0}) == Approx(0.6 * kSecond).epsilon(0.01));
}

TEST_CASE("the slower of two points is waited for, within the cap") {
  WindowLength window;
  CHECK(settle(window, {1000, 20}) == Approx(0.3 * kSecond).epsilon(0.01));
  CHECK(settle(window, {1000, 0.5}) == Approx(1.0 * kSecond).epsilon(0.01));
}

TEST_CASE("where even the fastest point is slow, windows grow for it, up to a bound") {
  WindowLength window;
  CHECK(settle(window, {4, 0.1}) == Approx(1.5 * kSecond).epsilon(0.01));
  CHECK(settle(window, {0.2}) == WindowLength::kMaxLength);
}

TEST_CASE("one unusual window moves the length only half the way") {
  WindowLength window;
  settle(window, {3});
  REQUIRE(window.get() == Approx(2.0 * kSecond).epsilon(0.01));
  const Nanoseconds before = window.get();
  window.observe(std::vector<double>{1e6}, before);
  CHECK(window.get() == Approx(static_cast<double>(before) / 2).epsilon(0.001));
}

TEST_CASE("settling is a part of the window, within bounds") {
  WindowLength window;
  CHECK(window.queue_settling() == WindowLength::kMinLength / 4);
  settle(window, {5});
  CHECK(window.queue_settling() == window.get() / 4);
  settle(window, {});
  CHECK(window.queue_settling() == kSecond);
}
