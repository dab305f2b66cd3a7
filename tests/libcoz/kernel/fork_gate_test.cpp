#include "kernel/fork_gate.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

using coz::ForkGate;

TEST_CASE("the gate is closed while the program forks", "[fork_gate]") {
  ForkGate gate;
  CHECK(gate.enter());
  gate.leave();
  gate.before_fork();
  gate.before_fork();
  CHECK_FALSE(gate.enter());
  gate.after_fork();
  CHECK_FALSE(gate.enter());
  gate.after_fork();
  CHECK(gate.enter());
}

TEST_CASE("a fork waits for a limited time", "[fork_gate]") {
  ForkGate gate;
  REQUIRE(gate.enter());
  const coz::Nanoseconds start = coz::now();
  gate.before_fork();
  const coz::Nanoseconds waited = coz::now() - start;
  CHECK(waited >= ForkGate::kMaxWait);
  CHECK(waited < coz::kSecond);
}

TEST_CASE("forks and stays inside exclude each other", "[fork_gate][threads]") {
  ForkGate gate;
  std::atomic<bool> done{false}, forking{false};
  std::atomic<int> together{0}, entered{0};
  std::thread inside([&] {
    while (!done) {
      if (!gate.enter()) continue;
      ++entered;
      if (forking) ++together;
      gate.leave();
    }
  });
  for (int i = 0; i < 2000 || entered == 0; ++i) {
    gate.before_fork();
    forking = true;
    forking = false;
    gate.after_fork();
  }
  done = true;
  inside.join();
  CHECK(together == 0);
}
