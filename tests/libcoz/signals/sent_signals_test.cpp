// What a thread sends to one that is sampled: withheld::send().
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "tests/libcoz/signals/withheld_fixture.h"

using namespace coz;
using namespace withheld_fixture;

TEST_CASE(
    "what a thread is sent here comes though another of its number is pending in the kernel") {
  const Taken taken;
  std::atomic<int> other{0};
  std::atomic<pthread_t> handle_of_other{0};
  std::atomic<bool> open{false};
  std::atomic<bool> over{false};
  std::thread thread([&] {
    withheld::begin(2, kOurs);
    change_kernel_mask(SIG_BLOCK, kOurs);
    handle_of_other = pthread_self();
    other = gettid();
    while (!open) usleep(500);
    change_kernel_mask(SIG_UNBLOCK, kOurs);
    while (!over) usleep(500);
    withheld::end(0);
  });
  REQUIRE(comes_true([&] { return other != 0; }));
  CHECK(tgkill(getpid(), other, SIGUSR1) == 0);
  CHECK(withheld::send(other, info_of(SIGUSR1, SI_TKILL)));
  CHECK(withheld::send_to_handle(handle_of_other, info_of(SIGUSR2, SI_QUEUE)));
  CHECK(withheld::send(other, info_of(SIGUSR2, SI_TKILL)));  // is pending already
  open = true;
  CHECK(comes_true([] { return handled >= 3; }));
  CHECK(handled_by == other);
  over = true;
  thread.join();
  CHECK(handled == 3);
  CHECK_FALSE(withheld::send(other, info_of(SIGUSR1, SI_TKILL)));
  CHECK_FALSE(withheld::send_to_handle(handle_of_other, info_of(SIGUSR1, SI_TKILL)));
  CHECK_FALSE(withheld::is_any_pending());
}

TEST_CASE("what a thread sends itself is handled at once, or blocked, or waited for") {
  const Taken taken;
  CHECK(withheld::send(gettid(), info_of(SIGUSR1, SI_TKILL)));
  CHECK(handled == 1);
  CHECK(handled_code == SI_TKILL);
  withheld::set_blocked(bit_of(SIGUSR1));
  CHECK(withheld::send(gettid(), info_of(SIGUSR1, SI_TKILL)));
  CHECK(handled == 1);
  CHECK(withheld::pending() == bit_of(SIGUSR1));
  siginfo_t info = {};
  withheld::Wait wait(bit_of(SIGUSR1), 0);
  CHECK(wait.take(info) == SIGUSR1);
  CHECK(withheld::send(gettid(), info_of(SIGUSR1, SI_TKILL)));
  const sigset_t wanted = set_of(bit_of(SIGUSR1));
  CHECK(sigwaitinfo(&wanted, &info) == SIGUSR1);
  CHECK(withheld::is_knock(info));
  CHECK(wait.take(info) == SIGUSR1);
}

TEST_CASE("one that is sent to a thread that went without a word is the kernel's") {
  const Taken taken;
  std::atomic<int> gone{0};
  std::thread([&] {
    withheld::begin(0, kOurs);
    change_kernel_mask(SIG_BLOCK, kOurs);
    gone = gettid();
  }).join();
  CHECK_FALSE(withheld::send(gone, info_of(SIGUSR1, SI_TKILL)));
  CHECK_FALSE(withheld::is_any_pending());
}
