#include "signals/withheld_signals.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "tests/libcoz/signals/withheld_fixture.h"

using namespace coz;
using namespace withheld_fixture;

TEST_CASE("what a thread blocks in the kernel as it begins is blocked here, and again as it ends") {
  change_kernel_mask(SIG_BLOCK, bit_of(SIGUSR1) | bit_of(SIGHUP));
  {
    const Taken taken;
    CHECK(withheld::takes_part());
    CHECK(withheld::blocked() == bit_of(SIGUSR1));
    CHECK((kernel_mask() & (kOurs | bit_of(SIGHUP))) == bit_of(SIGHUP));
    withheld::end(0);
    CHECK((kernel_mask() & kOurs) == bit_of(SIGUSR1));
    CHECK(withheld::blocked() == 0);
    CHECK_FALSE(withheld::withhold(info_of(SIGUSR1)));
  }
  {
    const Taken taken;
    withheld::end(bit_of(SIGUSR1));
    CHECK((kernel_mask() & kOurs) == 0);
    CHECK(withheld::withhold(info_of(SIGUSR1)));
    withheld::begin(1, kOurs);  // which takes up what came
    CHECK(handled == 1);
  }
  CHECK_FALSE(withheld::takes_part());
  change_kernel_mask(SIG_UNBLOCK, bit_of(SIGUSR1) | bit_of(SIGHUP));
}

TEST_CASE("a blocked signal comes when it is unblocked, once, and as it was sent") {
  const Taken taken;
  withheld::set_blocked(bit_of(SIGUSR1));
  raise(SIGUSR1);
  raise(SIGUSR1);
  raise(SIGUSR2);
  CHECK(handled == 1);  // SIGUSR2
  CHECK(withheld::pending() == bit_of(SIGUSR1));
  withheld::set_blocked(0);
  CHECK(handled == 2);
  CHECK(handled_code == SI_TKILL);
  CHECK(withheld::pending() == 0);
  withheld::set_blocked(bit_of(SIGUSR1));
  withheld::set_blocked(0);
  CHECK(handled == 2);
}

TEST_CASE("what was sent to the process waits for whoever unblocks it") {
  const Taken taken;
  withheld::set_blocked(bit_of(SIGUSR1));
  // No other thread of the test takes it.
  const siginfo_t info = info_of(SIGUSR1);
  CHECK(withheld::withhold(info));
  CHECK(withheld::pending() == bit_of(SIGUSR1));
  std::atomic<bool> began{false};
  std::thread([&] {
    withheld::begin(2, kOurs);  // which it does not block
    began = true;
    withheld::end(0);
  }).join();
  CHECK(began);
  CHECK(handled == 1);
  CHECK(handled_code == SI_USER);
  CHECK(handled_by != gettid());
  CHECK(withheld::pending() == 0);
}

TEST_CASE(
    "a thread that does not block it gets what the process was sent, whoever was interrupted") {
  const Taken taken;
  std::atomic<int> other{0};
  std::atomic<bool> over{false};
  std::thread thread([&] {
    withheld::begin(2, kOurs);
    other = gettid();
    while (!over) usleep(500);
    withheld::end(0);
  });
  REQUIRE(comes_true([&] { return other != 0; }));
  withheld::set_blocked(bit_of(SIGUSR1));
  CHECK(withheld::withhold(info_of(SIGUSR1)));
  CHECK(comes_true([] { return handled == 1; }));
  CHECK(handled_by == other);
  over = true;
  thread.join();
}

TEST_CASE("a thread that waits gets what is pending, what is sent to it, and what another got") {
  const Taken taken;
  const sigset_t wanted = set_of(bit_of(SIGUSR1));
  const timespec limit = {20, 0};
  siginfo_t info = {};
  withheld::set_blocked(bit_of(SIGUSR1));
  raise(SIGUSR1);
  {
    withheld::Wait wait(bit_of(SIGUSR1), 0);
    CHECK_FALSE(wait.may_miss());
    CHECK(wait.take(info) == SIGUSR1);
    CHECK(wait.take(info) == 0);
    raise(SIGUSR1);  // stays in the kernel
    CHECK(sigtimedwait(&wanted, &info, &limit) == SIGUSR1);
    std::thread([] {
      withheld::begin(2, kOurs);
      withheld::set_blocked(bit_of(SIGUSR1));
      CHECK(withheld::withhold(info_of(SIGUSR1)));
      withheld::end(0);
    }).join();
    CHECK(sigtimedwait(&wanted, &info, &limit) == SIGUSR1);
    CHECK(withheld::is_knock(info));
    CHECK(wait.take(info) == SIGUSR1);
    raise(SIGUSR1);
  }
  // What came last and was not waited for any more.
  CHECK(handled == 0);
  CHECK(withheld::pending() == bit_of(SIGUSR1));
}

TEST_CASE("one that may not be blocked in the kernel is withheld while it is waited for") {
  const Taken taken;
  withheld::set_blocked(bit_of(SIGUSR1));
  withheld::Wait wait(bit_of(SIGUSR1), bit_of(SIGUSR1));
  CHECK(wait.may_miss());
  raise(SIGUSR1);
  siginfo_t info = {};
  CHECK(wait.take(info) == SIGUSR1);
  CHECK(info.si_code == SI_TKILL);
}

TEST_CASE("a call with a mask of its own is ended by what that unblocks") {
  const Taken taken;
  withheld::set_blocked(bit_of(SIGUSR1));
  raise(SIGUSR1);
  const sigset_t none = set_of(0);
  {
    const withheld::Mask mask(0, 0);
    CHECK_FALSE(mask.has_come());
    CHECK(handled == 0);  // not before the call
    CHECK(sigsuspend(&none) == -1);
    CHECK(handled == 1);
  }
  CHECK(withheld::blocked() == bit_of(SIGUSR1));
  raise(SIGUSR1);
  CHECK(handled == 1);
}

TEST_CASE("what may not be blocked in the kernel comes before the call, which is not made then") {
  const Taken taken;
  withheld::set_blocked(bit_of(SIGUSR1));
  raise(SIGUSR1);
  {
    const withheld::Mask mask(0, bit_of(SIGUSR1));
    CHECK(mask.has_come());
    CHECK(handled == 1);
  }
  const withheld::Mask mask(0, bit_of(SIGUSR1));
  CHECK_FALSE(mask.has_come());
}

TEST_CASE("a new thread inherits what is blocked") {
  const Taken taken;
  withheld::set_blocked(bit_of(SIGUSR2));
  SignalBits in_thread = 0;
  {
    const withheld::InKernel kernel(0);
    std::thread([&] {
      withheld::begin(2, kOurs);
      in_thread = withheld::blocked();
      withheld::end(0);
    }).join();
  }
  CHECK(in_thread == bit_of(SIGUSR2));
  CHECK((kernel_mask() & kOurs) == 0);
}

TEST_CASE("a knock that another signal of its number has taken the place of is no loss") {
  const Taken taken;
  withheld::set_blocked(bit_of(SIGUSR1));
  raise(SIGUSR1);
  change_kernel_mask(SIG_BLOCK, bit_of(SIGUSR1));
  raise(SIGUSR1);  // pending in the kernel, where there is one at most
  withheld::set_blocked(0);
  CHECK(handled == 0);
  change_kernel_mask(SIG_UNBLOCK, bit_of(SIGUSR1));
  CHECK(handled == 2);
}

TEST_CASE("a thread that has gone without a word is passed over") {
  const Taken taken;
  std::thread([] {
    withheld::begin(0, kOurs);
    change_kernel_mask(SIG_BLOCK, kOurs);  // what end() would do
  }).join();
  withheld::set_blocked(bit_of(SIGUSR1));
  CHECK(withheld::withhold(info_of(SIGUSR1)));
  CHECK(withheld::pending() == bit_of(SIGUSR1));
  withheld::set_blocked(0);
  CHECK(handled == 1);
}

TEST_CASE("ignored, it is pending no more") {
  const Taken taken;
  withheld::set_blocked(kOurs);
  raise(SIGUSR1);
  raise(SIGUSR2);
  withheld::forget(bit_of(SIGUSR1));
  withheld::set_blocked(0);
  CHECK(handled == 1);
}

TEST_CASE("a forked child blocks in the kernel, and has nothing pending") {
  const Taken taken;
  withheld::set_blocked(bit_of(SIGUSR1));
  raise(SIGUSR1);
  const pid_t child = fork();
  if (child == 0) {
    withheld::in_forked_child(0);
    const bool holds = !withheld::takes_part() && withheld::pending() == 0 &&
                       (kernel_mask() & kOurs) == bit_of(SIGUSR1);
    _exit(holds ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("who does not come to it is no end: all that do not block it are asked") {
  const Taken taken;
  std::atomic<int> busy{0};
  std::atomic<int> free{0};
  std::atomic<bool> over{false};
  // It blocks the signal in the kernel, as in a handler of its own.
  std::thread first([&] {
    withheld::begin(2, kOurs);
    change_kernel_mask(SIG_BLOCK, kOurs);
    busy = gettid();
    while (!over) usleep(500);
    withheld::end(0);
  });
  std::thread second([&] {
    withheld::begin(3, kOurs);
    free = gettid();
    while (!over) usleep(500);
    withheld::end(0);
  });
  REQUIRE(comes_true([&] { return busy != 0 && free != 0; }));
  withheld::set_blocked(bit_of(SIGUSR1));
  CHECK(withheld::withhold(info_of(SIGUSR1)));
  CHECK(comes_true([] { return handled == 1; }));
  CHECK(handled_by == free);
  over = true;
  first.join();
  second.join();
}

TEST_CASE("a thread that is not the program's passes on what it gets, to whoever unblocks it") {
  const Taken taken;
  withheld::set_blocked(bit_of(SIGUSR1));
  const auto profilers = [] {
    const withheld::OutOfProgram none;
    CHECK_FALSE(withheld::takes_part());
    raise(SIGUSR1);  // is nobody's
    CHECK(withheld::withhold(info_of(SIGUSR1)));
  };
  std::thread(profilers).join();
  CHECK(handled == 0);
  CHECK(withheld::pending() == bit_of(SIGUSR1));
  withheld::set_blocked(0);
  CHECK(handled == 1);
  std::thread(profilers).join();
  CHECK(comes_true([] { return handled == 2; }));
  CHECK(handled_by == gettid());
}

TEST_CASE("a call has begun for a moment, if nothing but what is ours can end it") {
  const Taken taken;
  CHECK_FALSE(withheld::call_has_begun());
  withheld::set_blocked(bit_of(SIGUSR1));
  {
    withheld::Mask mask(0, 0);
    CHECK_FALSE(withheld::call_has_begun());
    mask.before_call(0);
    CHECK(withheld::call_has_begun());
    usleep(2000);
    CHECK_FALSE(withheld::call_has_begun());
    raise(SIGUSR1);  // ours
    mask.before_call(0);
    CHECK(withheld::call_has_begun());
    const SignalBits before = change_kernel_mask(SIG_BLOCK, bit_of(SIGHUP));
    raise(SIGHUP);
    mask.before_call(0);  // which unblocks it
    CHECK_FALSE(withheld::call_has_begun());
    mask.before_call(bit_of(SIGHUP));
    CHECK(withheld::call_has_begun());
    const sigset_t hang_up = set_of(bit_of(SIGHUP));
    CHECK(sigwaitinfo(&hang_up, nullptr) == SIGHUP);
    change_kernel_mask(SIG_SETMASK, before);
  }
  CHECK_FALSE(withheld::call_has_begun());
  // Where nothing was blocked, nothing can have come before.
  withheld::set_blocked(0);
  withheld::Mask mask(0, 0);
  mask.before_call(0);
  CHECK_FALSE(withheld::call_has_begun());
}
