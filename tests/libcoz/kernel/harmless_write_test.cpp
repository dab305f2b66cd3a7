#include "kernel/harmless_write.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>

namespace {

sigset_t only_pipe() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  return set;
}

bool is_pending() {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, SIGPIPE) == 1;
}

bool is_blocked() {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  return sigismember(&mask, SIGPIPE) == 1;
}

}  // namespace

TEST_CASE("a write to a pipe without readers just fails") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  CHECK(coz::harmless_write(ends[1], "ab", 2) == 2);
  close(ends[0]);
  errno = 77;
  CHECK(coz::harmless_write(ends[1], "ab", 2) == -EPIPE);
  CHECK(errno == 77);
  CHECK_FALSE(is_pending());
  CHECK_FALSE(is_blocked());
  SECTION("where the program has the signal blocked, it finds none of ours") {
    const sigset_t set = only_pipe();
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    CHECK(coz::harmless_write(ends[1], "ab", 2) == -EPIPE);
    CHECK_FALSE(is_pending());
    CHECK(is_blocked());
    raise(SIGPIPE);
    CHECK(coz::harmless_write(ends[1], "ab", 2) == -EPIPE);
    CHECK(is_pending());  // its own
    int number = 0;
    sigwait(&set, &number);
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  }
  close(ends[1]);
}
