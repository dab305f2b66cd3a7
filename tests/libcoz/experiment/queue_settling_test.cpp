#include "experiment/queue_settling.h"

#include <catch2/catch.hpp>
#include <utility>
#include <vector>

using coz::FlowResult;
using coz::kMillisecond;
using coz::kSecond;
using coz::Nanoseconds;
using coz::QueueSettling;
using coz::ThreadFlow;

namespace {

constexpr std::uint32_t kTarget = 7;
constexpr std::uint32_t kOther = 8;
constexpr Nanoseconds kHalf = 75 * kMillisecond;

// Two stages: thread 1 puts into a queue, thread 2 takes out.
FlowResult half_of(Nanoseconds first_ran, Nanoseconds first_waited, Nanoseconds second_ran,
                   Nanoseconds second_waited) {
  FlowResult half;
  half.duration = kHalf;
  half.threads.resize(2);
  half.threads[0].thread = 1;
  half.threads[0].ran = first_ran;
  if (first_waited > 0) half.threads[0].waits.push_back({100, 2, first_waited});
  half.threads[1].thread = 2;
  half.threads[1].ran = second_ran;
  if (second_waited > 0) half.threads[1].waits.push_back({101, 1, second_waited});
  return half;
}

const FlowResult kFull = half_of(45 * kMillisecond, 30 * kMillisecond, kHalf, 0);
const FlowResult kEmpty = half_of(kHalf, 0, 30 * kMillisecond, 45 * kMillisecond);
const FlowResult kDrains = half_of(kHalf, 0, kHalf, 0);

void observe(QueueSettling& settling, std::uint32_t target, const FlowResult& half, int times) {
  for (int i = 0; i < times; ++i) settling.observe(target, half);
}

}  // namespace

TEST_CASE("a queue at which nobody waits is not in steady state") {
  QueueSettling settling;
  observe(settling, kTarget, kFull, 10);
  CHECK(settling.is_steady(kFull));
  CHECK(settling.is_steady(kEmpty));
  CHECK_FALSE(settling.is_steady(kDrains));
}

TEST_CASE("a thread that pauses all the time still counts") {
  QueueSettling settling;
  observe(settling, kTarget, kFull, 10);
  CHECK_FALSE(settling.is_steady(half_of(0, 0, kHalf, 0)));
}

TEST_CASE("a wait that nobody is known to have ended ties all threads") {
  QueueSettling settling;
  observe(settling, kTarget, kFull, 10);
  FlowResult half = kDrains;
  half.threads[1].waits.push_back({0, 0, 20 * kMillisecond});
  CHECK(settling.is_steady(half));
}

TEST_CASE("a wait that goes on ties a thread to the one that it usually waits for") {
  // Thread 3 takes what thread 2 puts into a second queue.
  FlowResult full = kFull;
  full.threads.push_back({3, 30 * kMillisecond, 0, {{102, 2, 45 * kMillisecond}}});
  QueueSettling settling;
  observe(settling, kTarget, full, 10);
  FlowResult half = kFull;
  half.threads[0].waits = {{0, 0, 30 * kMillisecond}};
  half.threads.push_back({3, kHalf, 0, {}});
  CHECK_FALSE(settling.is_steady(half));
  half.threads[2].waits.push_back({0, 0, 45 * kMillisecond});
  CHECK(settling.is_steady(half));
}

TEST_CASE("a thread that takes from several queues in turn keeps pace with all of them") {
  // Threads 1 and 2 put into queues of their own, from which thread 3 takes; all run all the time.
  constexpr std::uint64_t kRoom = 40;
  constexpr std::uint64_t kItem = 88;
  const auto half_with = [](std::vector<ThreadFlow::Wait> first,
                            std::vector<ThreadFlow::Wait> third) {
    FlowResult half;
    half.duration = kHalf;
    half.threads = {
        {1, kHalf, 0, std::move(first)}, {2, kHalf, 0, {}}, {3, kHalf, 0, std::move(third)}};
    return half;
  };
  const Nanoseconds wait = kHalf / 4;
  FlowResult full = half_with({{100, 3, wait, kRoom}}, {});
  full.threads[1].waits = {{200, 3, wait, kRoom}};
  QueueSettling settling;
  observe(settling, kTarget, full, 10);
  CHECK(settling.is_steady(full));
  // It has waited for both at the queues' items, and does for one now.
  settling.observe(kTarget, half_with({}, {{101, 1, wait, kItem}, {201, 2, wait, kItem}}));
  CHECK(settling.is_steady(half_with({}, {{101, 1, wait, kItem}})));
  CHECK(settling.is_steady(half_with({}, {{0, 0, wait}})));
  // Another still drains its queue.
  CHECK_FALSE(settling.is_steady(half_with({{100, 3, wait, kRoom}}, {})));
}

TEST_CASE("a role in which threads wait for each other both ways ties only those who waited") {
  // A pipeline of three, whose queues have one condition each.
  constexpr std::uint64_t kRole = 40;
  const Nanoseconds wait = kHalf / 4;
  FlowResult half;
  half.duration = kHalf;
  half.threads = {{1, kHalf, 0, {{100, 2, wait, kRole}}},
                  {2, kHalf, 0, {{100, 1, wait, kRole}, {200, 3, wait, kRole}}},
                  {3, kHalf, 0, {{200, 2, wait, kRole}}}};
  QueueSettling settling;
  observe(settling, kTarget, half, 10);
  half.threads[1].waits = {{100, 1, wait, kRole}};
  half.threads[2].waits = {};
  CHECK_FALSE(settling.is_steady(half));
}

TEST_CASE("short waits tie nobody") {
  QueueSettling settling;
  observe(settling, kTarget, kFull, 10);
  CHECK_FALSE(settling.is_steady(half_of(kHalf, kHalf / 50, kHalf, 0)));
}

TEST_CASE("threads that hardly ever run are left out") {
  QueueSettling settling;
  FlowResult half = kFull;
  half.threads.push_back({3, kHalf / 1000, 0, {}});
  observe(settling, kTarget, half, 10);
  CHECK_FALSE(settling.is_steady(kDrains));
  FlowResult beside = half;
  beside.threads.back().ran = kHalf;  // now it does, but it did not before
  CHECK(settling.is_steady(beside));
}

TEST_CASE("a thread that hardly ever runs ties those on both sides of it") {
  // Thread 3 takes what thread 1 puts into a queue, waits for a device, and puts it into the one
  // before thread 2.
  FlowResult steady = kDrains;
  steady.threads.push_back({3, kHalf / 1000, 0, {{100, 1, 50 * kMillisecond}}});
  FlowResult drains = steady;
  steady.threads[1].waits.push_back({101, 3, 40 * kMillisecond});
  QueueSettling settling;
  observe(settling, kTarget, steady, 10);
  CHECK(settling.is_steady(steady));
  CHECK_FALSE(settling.is_steady(drains));
}

TEST_CASE("a thread that hardly ever runs ties nobody if nobody waits for it") {
  FlowResult half = kFull;
  half.threads.push_back(
      {3, kHalf / 1000, 0, {{102, 1, 20 * kMillisecond}, {102, 2, 20 * kMillisecond}}});
  QueueSettling settling;
  observe(settling, kTarget, half, 10);
  half.threads[0].waits.clear();
  CHECK_FALSE(settling.is_steady(half));
}

TEST_CASE("a stage that hardly ever runs counts if others wait for it") {
  constexpr Nanoseconds kHardly = kHalf / 1000;
  QueueSettling settling;
  observe(settling, kTarget, half_of(kHardly, 30 * kMillisecond, kHalf, 0), 9);
  CHECK(settling.is_steady(half_of(kHardly, 0, kHalf, 0)));
  observe(settling, kTarget, half_of(kHardly, 0, 30 * kMillisecond, 45 * kMillisecond), 9);
  CHECK_FALSE(settling.is_steady(half_of(kHardly, 0, kHalf, 0)));
}

TEST_CASE("programs whose stages never wait are always in steady state") {
  QueueSettling settling;
  observe(settling, kTarget, kDrains, 40);
  CHECK(settling.is_steady(kDrains));
  CHECK_FALSE(settling.is_slow(kTarget));
  CHECK(settling.limit(kTarget, 100 * kSecond) == 0);
}

TEST_CASE("settling counts in effective time where threads wait for each other") {
  constexpr Nanoseconds kLength = 40 * kMillisecond;
  QueueSettling settling;
  CHECK(settling.rest(kLength, 0, 0) == kLength);
  CHECK(settling.rest(kLength, kLength, kLength) == 0);
  observe(settling, kTarget, kFull, 1);
  CHECK(settling.rest(kLength, kLength, 0) == 0);
  CHECK(settling.rest(kLength, kLength, kLength / 2) == kLength / 2);
  CHECK(settling.rest(kLength, 2 * kLength, kLength) == 0);
  CHECK(settling.rest(kLength, QueueSettling::kMaxStretch * kLength,
                      QueueSettling::kMaxStretch * kLength) == 0);
}

TEST_CASE("half of a window's delay is added to its length where threads wait for each other") {
  constexpr Nanoseconds kLength = 150 * kMillisecond;
  QueueSettling settling;
  CHECK(settling.rest_of_window(kLength, kLength, kLength) == 0);
  observe(settling, kTarget, kFull, 1);
  CHECK(settling.rest_of_window(kLength, 0, 0) == kLength);
  CHECK(settling.rest_of_window(kLength, kLength, 0) == 0);
  CHECK(settling.rest_of_window(kLength, kLength, kLength / 2) == kLength / 4);
  CHECK(settling.rest_of_window(kLength, kLength, kLength) == kLength / 2);
  CHECK(settling.rest_of_window(kLength, 2 * kLength, 4 * kLength) == 0);
}

TEST_CASE("only targets whose windows were often transient wait for steady state") {
  QueueSettling settling;
  observe(settling, kOther, kFull, 20);
  observe(settling, kTarget, kFull, 10);
  observe(settling, kTarget, kDrains, 6);
  CHECK(settling.is_slow(kTarget));
  CHECK_FALSE(settling.is_slow(kOther));
  CHECK(settling.limit(kOther, 100 * kSecond) == 0);
  CHECK(settling.limit(kTarget, 100 * kSecond) == QueueSettling::kLimit);
}

TEST_CASE("waiting takes at most a part of the time") {
  QueueSettling settling;
  observe(settling, kTarget, kFull, 10);
  observe(settling, kTarget, kDrains, 6);
  Nanoseconds elapsed = 3 * kSecond;
  Nanoseconds waited = 0;
  for (int i = 0; i < 200; ++i) {
    const Nanoseconds limit = settling.limit(kTarget, elapsed);
    settling.waited(limit);
    waited += limit;
    elapsed += limit + 150 * kMillisecond;
    REQUIRE(static_cast<double>(waited) <= QueueSettling::kMaxShare * static_cast<double>(elapsed));
  }
}
