#include "experiment/core_waits.h"

#include <catch2/catch.hpp>
#include <vector>

using coz::core_wait_between;
using coz::CoreWaits;
using coz::idle_part;
using coz::thread_use_between;

TEST_CASE("the waits of threads that lived all the time are added up") {
  const CoreWaits from{{{1, {100, 10}}, {2, {200, 20}}}, 300};
  const CoreWaits to{{{1, {1100, 15}}, {2, {1200, 320}}}, 2300};
  CHECK(core_wait_between(from, to, 0) == 305);
}

TEST_CASE("processors are idle as far as neither the program nor others fill them") {
  CHECK(idle_part(500, 2, 0, 8, 1000) ==
        Approx(0.75));  // outside virtual machines others are unknown
  CHECK(idle_part(500, 2, 6000, 8, 1000) ==
        Approx(0.25));  // others fill three quarters of the machine
  CHECK(idle_part(1500, 2, 1500, 32, 1000) == Approx(0.25));  // the program may use two of 32
  CHECK(idle_part(2100, 2, 0, 2, 1000) == 0);
}

TEST_CASE("what idle processors need to wake up is no wait for a processor") {
  const CoreWaits from{{{1, {0, 1000, 10}}, {2, {0, 0, 0}}}, 0};
  const CoreWaits to{{{1, {5'000'000, 4'001'000, 110}}, {2, {5'000'000, 9'000'000, 20}}},
                     10'000'000};
  CHECK(core_wait_between(from, to, 0) == 13'000'000);
  CHECK(core_wait_between(from, to, 0.5) == 1'500'000 + 8'500'000);
  CHECK(core_wait_between(from, to, 1) ==
        8'000'000);  // the first thread has waited for nothing else
}

TEST_CASE("a thread that began in between counts from its beginning") {
  const CoreWaits from{{{1, {100, 10}}}, 100};
  const CoreWaits to{{{1, {1100, 10}}, {2, {1000, 40}}}, 2100};
  CHECK(core_wait_between(from, to, 0) == 40);
}

TEST_CASE("threads that ended are taken to have waited like the rest") {
  const CoreWaits from{{{1, {100, 10}}, {2, {500, 5}}}, 600};
  const CoreWaits to{{{1, {1100, 60}}}, 2600};
  CHECK(core_wait_between(from, to, 0) == 100);
}

TEST_CASE("a thread number that was used again counts as a new thread") {
  const CoreWaits from{{{1, {5000, 900}}}, 5000};
  const CoreWaits to{{{1, {1000, 30}}}, 6000};
  CHECK(core_wait_between(from, to, 0) == 30);
}

TEST_CASE("a new thread with an old number may have run longer, and less often") {
  const CoreWaits from{{{1, {1000, 10, 900}}}, 1000};
  const CoreWaits to{{{1, {5000, 30, 2}}}, 6000};
  CHECK(core_wait_between(from, to, 0) == 30);
  CHECK(core_wait_between(from, to, 1) == 0);
}

TEST_CASE("if there are too many threads, those that are read stand for the others") {
  CoreWaits from, to;
  for (int tid = 1; tid <= static_cast<int>(CoreWaits::kMaxThreads); ++tid) {
    from.threads.push_back({tid, {0, 0}});
    to.threads.push_back({tid + 1, {10, 1}});  // one ended, another took its place in the list
  }
  to.processor_time = 2 * 630;
  CHECK(core_wait_between(from, to, 0) == 2 * 63);
}

TEST_CASE("if too little is known, there is no result") {
  CHECK_FALSE(core_wait_between({{{1, {0, 0}}}, 0}, {{{1, {0, 0}}}, 1000}, 0));
  CHECK_FALSE(core_wait_between({{{1, {0, 0}}}, 0}, {{{1, {90, 5}}}, 1000}, 0));
  CHECK_FALSE(core_wait_between({{}, 0}, {{}, 0}, 0));
}

TEST_CASE("threads that ended, or were too many to be read, leave the use unknown") {
  const CoreWaits from{{{1, {100, 0}}, {2, {100, 0}}}, 200};
  CHECK(thread_use_between(from, {{{1, {1100, 0}}}, 1250}, 0));
  CHECK_FALSE(thread_use_between(from, {{{1, {1100, 0}}}, 1400}, 0));
  CHECK_FALSE(thread_use_between(from, from, 0));
  CoreWaits many;
  for (int tid = 1; tid <= static_cast<int>(CoreWaits::kMaxThreads); ++tid) {
    many.threads.push_back({tid, {1000, 0}});
    many.processor_time += 1000;
  }
  CHECK_FALSE(thread_use_between({}, many, 0));
  many.threads.pop_back();
  CHECK(thread_use_between({}, many, 0));
}

TEST_CASE("waits of threads that did nothing else do not count") {
  const CoreWaits from{{{1, {0, 0}}, {2, {0, 0}}, {3, {0, 0}}}, 0};
  const CoreWaits to{{{1, {1000, 0}, 40}, {2, {1000, 0}, 2}, {3, {1, 0}, 5000}}, 2001};
  CHECK(thread_use_between(from, to, 0)->waited == 42);
}

TEST_CASE("threads that do not wait for each other are told one by one") {
  constexpr auto kMs = 1'000'000;
  const CoreWaits from{{{1, {kMs, 0}, 0, 5, 11}, {2, {0, 0}, 0, 0, 12}, {3, {0, 0}, 0, 0, 13}},
                       kMs};
  const auto use = [&](coz::Nanoseconds core_wait, coz::Nanoseconds thread_wait, double idle) {
    const CoreWaits to{{{1, {11 * kMs, core_wait, 20}, thread_wait, 9, 11},
                        {2, {8 * kMs, 4 * kMs, 2}, 0, 3, 12},
                        {3, {kMs / 10, 0}, 0, 0, 13}},
                       19 * kMs + kMs / 10};
    return thread_use_between(from, to, idle)->each;
  };
  const auto each = use(6 * kMs, 0, 0);
  REQUIRE(each.size() == 2);  // the third does no work
  CHECK(each[0].thread == 11);
  CHECK(each[0].ran == 10 * kMs);
  CHECK(each[0].core_wait == 6 * kMs);
  CHECK(each[0].target_samples == 4);
  CHECK(each[1].thread == 12);
  CHECK(use(6 * kMs, 0, 0.5)[0].core_wait == 6 * kMs - 10 * 50'000);  // idle cores wake up
  CHECK(use(6 * kMs, kMs / 4, 0).size() == 2);
  CHECK(use(6 * kMs, kMs, 0).empty());  // they wait for each other
}

TEST_CASE("one thread that works beside others is told, but not that of a program of one") {
  const CoreWaits one{{{1, {0, 0}}}, 0};
  CHECK(thread_use_between(one, {{{1, {1000, 60}}}, 1000}, 0)->each.empty());
  const CoreWaits two{{{1, {0, 0}}, {2, {0, 0}}}, 0};
  CHECK(thread_use_between(two, {{{1, {1000, 60}}, {2, {1, 0}}}, 1001}, 0)->each.size() == 1);
}
