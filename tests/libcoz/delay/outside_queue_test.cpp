// Queues in front of something outside the program: how many requests it serves at a time is found
// out, and requests end when they would if it were held up by pauses.
#include "delay/outside_queue.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "delay/outside_queues.h"

namespace {

using coz::kMicrosecond;
using coz::Nanoseconds;
using coz::OutsideQueue;
using coz::OutsideQueues;

using Draw = std::function<Nanoseconds(std::mt19937&)>;

Nanoseconds in_us(double time) { return static_cast<Nanoseconds>(time * kMicrosecond); }
Draw always(double time) {
  return [=](std::mt19937&) { return in_us(time); };
}
// Within 30 % of `mean`, as evenly distributed.
Draw varied(double mean) {
  return [=](std::mt19937& random) {
    return in_us(std::uniform_real_distribution<>(0.7 * mean, 1.3 * mean)(random));
  };
}
Draw exponential(double mean) {
  return [=](std::mt19937& random) {
    return in_us(std::exponential_distribution<>(1 / mean)(random));
  };
}

// Threads that ask something outside, which serves `servers` requests at a time, wait, and go on
// for a while. 0: as many as there are.
struct Threads {
  std::size_t number;
  std::size_t servers;
  Draw service;
  Draw between;
  Nanoseconds waking = 0;
  // The delay that all have served at a time: effective time has stood still for as long.
  std::function<Nanoseconds(Nanoseconds)> local = [](Nanoseconds) { return Nanoseconds{0}; };
};

// How many servers are found after each wait, from the hundredth on; and the largest extension.
struct Found {
  std::vector<std::uint32_t> servers;
  Nanoseconds extension = 0;
};

Found run(const Threads& threads, unsigned seed = 1, int waits = 2000) {
  std::mt19937 random(seed);
  auto queue = std::make_unique<OutsideQueue>();
  struct Thread {
    Nanoseconds next;  // when it asks, or when its wait ends
    bool waits = false;
    OutsideQueue::Request request{};
  };
  std::vector<Thread> all(threads.number);
  for (Thread& thread : all) thread.next = kMicrosecond + threads.between(random);
  std::vector<Nanoseconds> free(threads.servers);
  Found found;
  for (int done = 0; done < waits;) {
    Thread& thread = *std::min_element(
        all.begin(), all.end(), [](const auto& a, const auto& b) { return a.next < b.next; });
    const Nanoseconds now = thread.next;
    if (thread.waits) {
      const Nanoseconds end = queue->finish(thread.request, now);
      found.extension = std::max(found.extension, end - now);
      if (++done >= 100) found.servers.push_back(queue->servers());
      thread.next = end + threads.between(random);
    } else {
      thread.request = queue->come(now, threads.local(now));
      Nanoseconds begin = now;
      Nanoseconds end = begin + threads.service(random);
      if (!free.empty()) {
        Nanoseconds& server = *std::min_element(free.begin(), free.end());
        end += std::max(server, begin) - begin;
        server = end;
      }
      thread.next = end + threads.waking;
    }
    thread.waits = !thread.waits;
  }
  return found;
}

double share_of(const Found& found, std::uint32_t servers) {
  const auto as_many = std::count(found.servers.begin(), found.servers.end(), servers);
  return static_cast<double>(as_many) / static_cast<double>(found.servers.size());
}

}  // namespace

TEST_CASE("an outside queue finds out how many requests are served at a time") {
  const auto [name, threads] = GENERATE(table<std::string, Threads>({
      {"one, two threads", {2, 1, varied(800), varied(900)}},
      {"one, mostly free", {2, 1, varied(400), varied(1500)}},
      {"one, fixed times", {2, 1, always(800), varied(900)}},
      {"one, eight threads", {8, 1, varied(300), varied(900)}},
      {"two of four", {4, 2, varied(800), varied(300)}},
      {"four of six", {6, 4, varied(4000), varied(500)}},
  }));
  INFO(name);
  for (const unsigned seed : {1U, 2U, 3U}) {
    CHECK(share_of(run(threads, seed), static_cast<std::uint32_t>(threads.servers)) > 0.9);
  }
}

TEST_CASE("waits that have nothing to do with each other are no queue") {
  const auto [name, threads] = GENERATE(table<std::string, Threads>({
      {"fixed sleeps", {2, 0, always(1000), varied(500)}},
      {"fixed sleeps, little between", {4, 0, always(1000), varied(20)}},
      {"varied sleeps", {2, 0, varied(1000), varied(500)}},
      {"varied sleeps of many", {8, 0, varied(1000), varied(500)}},
      {"random times", {3, 0, exponential(1000), exponential(300)}},
      {"random times of many", {12, 0, exponential(1000), exponential(300)}},
      {"one thread", {1, 0, varied(1000), varied(500)}},
  }));
  INFO(name);
  for (const unsigned seed : {1U, 2U, 3U}) {
    CHECK(share_of(run(threads, seed), 0) > 0.97);
  }
}

TEST_CASE("where nothing is delayed, no wait is prolonged") {
  const auto served_before = [](Nanoseconds) { return in_us(5000); };
  for (const Nanoseconds waking : {Nanoseconds{0}, 60 * kMicrosecond}) {
    for (const std::size_t servers : {1U, 2U}) {
      const Found found = run({4, servers, varied(800), varied(900), waking, served_before});
      CHECK(share_of(found, static_cast<std::uint32_t>(servers)) > 0.9);
      CHECK(found.extension == 0);
    }
  }
}

TEST_CASE("however long time is delayed, waits are prolonged by a few delays at most") {
  // A delay of 500 us every 10 ms.
  const auto local = [](Nanoseconds now) { return now / in_us(10000) * in_us(500); };
  for (const std::size_t servers : {1U, 2U}) {
    const Found found = run({4, servers, varied(800), varied(900), 0, local}, 1, 10000);
    CHECK(found.extension > in_us(100));
    CHECK(found.extension <= in_us(6 * 500));
  }
}

TEST_CASE("a queue is found where waits were short before") {
  auto queue = std::make_unique<OutsideQueue>();
  std::mt19937 random(1);
  Nanoseconds now = 1000;
  for (int i = 0; i < 100; ++i) {
    const OutsideQueue::Request alone = queue->come(now, 0);
    queue->finish(alone, now + in_us(100));
    now += in_us(1000);
  }
  CHECK(queue->servers() == 0);
  std::vector<OutsideQueue::Request> waiting(8, queue->come(now, 0));
  for (std::size_t i = 1; i < waiting.size(); ++i) waiting[i] = queue->come(now, 0);
  for (std::size_t i = 0; i < 400; ++i) {
    now += varied(100)(random);
    queue->finish(waiting[i % 8], now);
    waiting[i % 8] = queue->come(now, 0);
  }
  CHECK(queue->servers() == 1);
}

TEST_CASE("a request waits for what is served before it in effective time") {
  auto queue = std::make_unique<OutsideQueue>();
  // Two threads in turn, each of which comes while the other's request is served.
  std::mt19937 random(1);
  Nanoseconds now = 1000;
  Nanoseconds end = 0;
  OutsideQueue::Request before = queue->come(now, 0);
  end = now + in_us(800);
  for (int i = 0; i < 200; ++i) {
    now = end - varied(400)(random);
    const OutsideQueue::Request next = queue->come(now, 0);
    queue->finish(before, end);
    before = next;
    end += in_us(800);
  }
  queue->finish(before, end);
  REQUIRE(queue->servers() == 1);

  // One asks, and is served until 800.
  const Nanoseconds start = end + in_us(10000);
  const OutsideQueue::Request first = queue->come(start, 0);
  CHECK(queue->finish(first, start + in_us(800)) == start + in_us(800));
  // Another runs a line that is 75 % faster until 1000. In effective time it asks at 250, has to
  // wait until 800, and is served until 1600: 1350 after it came.
  const OutsideQueue::Request second = queue->come(start + in_us(1000), in_us(750));
  const Nanoseconds served = start + in_us(1800);
  CHECK(queue->finish(second, served) == start + in_us(1000 + 1350));
  // Once it has been free for long, nothing is left of that.
  const OutsideQueue::Request third = queue->come(start + in_us(9000), in_us(750));
  CHECK(queue->finish(third, start + in_us(9800)) == start + in_us(9800));
}

TEST_CASE("a wait that is itself sped up is not prolonged") {
  auto queue = std::make_unique<OutsideQueue>();
  Nanoseconds now = 1000;
  std::mt19937 random(1);
  OutsideQueue::Request before = queue->come(now, 0);
  for (int i = 0; i < 200; ++i) {
    const Nanoseconds end = now + in_us(800);
    const OutsideQueue::Request next = queue->come(end - varied(400)(random), 0);
    queue->finish(before, end);
    before = next;
    now = end;
  }
  REQUIRE(queue->servers() == 1);
  before.local = in_us(700);
  before.is_sped_up = true;
  CHECK(queue->finish(before, now + in_us(800)) == now + in_us(800));
}

TEST_CASE("each call that waits has a queue, and those given up are forgotten") {
  auto queues = std::make_unique<OutsideQueues>();
  const auto one = queues->come(0x1000, 1, 0);
  const auto other = queues->come(0x2000, 2, 0);
  CHECK(one.place != other.place);
  CHECK(one.request.ahead == 0);
  CHECK(other.request.ahead == 0);
  CHECK(queues->come(0x1000, 3, 0).request.ahead == 1);
  queues->give_up(one);
  CHECK(queues->come(0x1000, 4, 0).request.ahead == 1);
  CHECK(queues->finish(OutsideQueues::Request{}, 5) == 5);
}

TEST_CASE("a call for which there is no room has no queue") {
  auto queues = std::make_unique<OutsideQueues>();
  int without = 0;
  for (std::uintptr_t site = 1; site <= 1000; ++site) {
    without += queues->come(site * 0x40, 1, 0).place == 0;
  }
  CHECK(without == 1000 - 256);
}
