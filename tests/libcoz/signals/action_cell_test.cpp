#include "signals/action_cell.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

using namespace coz;

namespace {

void handle(int) {}

// Each field is that of the same number.
struct sigaction action_of(int number) {
  struct sigaction action = {};
  action.sa_handler = number % 2 == 0 ? SIG_IGN : handle;
  action.sa_flags = number;
  sigemptyset(&action.sa_mask);
  assign_bits(action.sa_mask, static_cast<SignalBits>(number));
  return action;
}

bool is_whole(const struct sigaction& action) {
  const int number = action.sa_flags;
  return bits_of(action.sa_mask) == static_cast<SignalBits>(number) &&
         (action.sa_handler == SIG_IGN) == (number % 2 == 0);
}

}  // namespace

TEST_CASE("an action is what was set last, and the default at first") {
  ActionCell cell;
  CHECK(cell.get().sa_handler == SIG_DFL);
  CHECK(cell.get().sa_flags == 0);
  for (const int number : {1, 2, 3}) {
    cell.set(action_of(number));
    CHECK(cell.get().sa_flags == number);
    CHECK(is_whole(cell.get()));
  }
}

TEST_CASE("setting an action leaves the thread's mask as it was") {
  const SignalBits before = change_kernel_mask(SIG_BLOCK, bit_of(SIGUSR1));
  ActionCell cell;
  cell.set(action_of(1));
  CHECK(change_kernel_mask(SIG_SETMASK, before) == (before | bit_of(SIGUSR1)));
}

TEST_CASE("an action is had as a whole while threads set others", "[threads]") {
  ActionCell cell;
  cell.set(action_of(1));
  std::atomic<bool> over{false};
  const auto sets = [&](int from) {
    for (int number = from; !over; number += 2) cell.set(action_of(number & 0xffffff));
  };
  std::thread even(sets, 2);
  std::thread odd(sets, 1);
  int torn = 0;
  for (int i = 0; i < 100'000; ++i) torn += is_whole(cell.get()) ? 0 : 1;
  over = true;
  even.join();
  odd.join();
  CHECK(torn == 0);
}
