// Runs a part of a test in a forked child.
#ifndef TESTS_LIBCOZ_IN_CHILD_H
#define TESTS_LIBCOZ_IN_CHILD_H

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

// Returns the child's number; it has ended, and is waited for.
template <typename Body>
int run_in_child(Body body) {
  const int child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    body();
    _exit(0);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  return child;
}

// The child dies by SIGKILL after `body`. Until wait_for(child) it counts as a process.
template <typename Body>
int kill_child_after(Body body) {
  const int child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    body();
    kill(getpid(), SIGKILL);
  }
  siginfo_t ended{};
  REQUIRE(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) == 0);
  return child;
}

inline void wait_for(int child) { REQUIRE(waitpid(child, nullptr, 0) == child); }

#endif  // TESTS_LIBCOZ_IN_CHILD_H
