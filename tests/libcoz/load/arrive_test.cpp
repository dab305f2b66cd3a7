// Arrivals and delays together: who is charged, and who pays.
#include "load/arrive.h"

#include <catch2/catch.hpp>
#include <memory>

#include "tests/libcoz/delay/delays_world.h"

using namespace delays_world;

namespace {

struct Requests {
  Requests(World& world, std::uint32_t slot) : delays(state, world.environment) {
    state.slot = slot;
  }
  Nanoseconds local() const { return state.clock.local(); }
  void arrive(coz::Amplification& amplification) {
    coz::arrive(delays, arrivals, amplification, state.slot, 0);
  }

  coz::DelayState state;
  coz::ArrivalClock arrivals;
  ThreadDelays delays;
};

}  // namespace

TEST_CASE("an arrival charges its thread without a pause, and the others pay") {
  World world;
  Requests a(world, 1);
  Requests b(world, 2);
  const auto amplification = std::make_unique<coz::Amplification>();
  amplification->set_delay(kMillisecond);
  a.arrivals.start_at(0);
  a.arrive(*amplification);
  CHECK(sleeps == 0);
  CHECK(a.local() == kMillisecond);
  CHECK(world.global.get() == kMillisecond);
  b.delays.catch_up();
  CHECK(b.local() == kMillisecond);
  CHECK(slept == kMillisecond);
}

TEST_CASE("threads with as many arrivals each do not pay for each other") {
  World world;
  Requests a(world, 1);
  Requests b(world, 2);
  const auto amplification = std::make_unique<coz::Amplification>();
  amplification->set_delay(kMillisecond);
  for (int i = 0; i < 5; ++i) {
    clock_now += 10 * kMillisecond;
    a.arrive(*amplification);
    b.arrive(*amplification);
  }
  CHECK(world.global.get() == 5 * kMillisecond);
  a.delays.catch_up();
  b.delays.catch_up();
  CHECK(sleeps == 0);
}

TEST_CASE("an arrival at a delay of 0 is counted, and changes nothing") {
  World world;
  Requests a(world, 1);
  const auto amplification = std::make_unique<coz::Amplification>();
  a.arrive(*amplification);
  clock_now += 10 * kMillisecond;
  a.arrive(*amplification);
  CHECK(a.local() == 0);
  CHECK(world.global.get() == 0);
  CHECK(amplification->counts().arrivals == 2);
  CHECK(amplification->counts().between == 10 * kMillisecond);
}

TEST_CASE("an arrival inside a wrapped call is charged when that call is over") {
  World world;
  Requests a(world, 1);
  const auto amplification = std::make_unique<coz::Amplification>();
  amplification->set_delay(kMillisecond);
  a.state.busy = true;
  a.arrive(*amplification);
  CHECK(a.local() == 0);
  a.state.busy = false;
  a.delays.catch_up();
  CHECK(a.local() == kMillisecond);
  CHECK(amplification->counts().charged == kMillisecond);
}
