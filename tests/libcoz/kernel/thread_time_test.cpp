#include "kernel/thread_time.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "common/raw_syscall.h"

using coz::hide_descriptors;
using coz::kMillisecond;
using coz::Nanoseconds;
using coz::parse_schedstat;
using coz::ThreadTime;

TEST_CASE("schedstat: time run, time waited, number of slices") {
  const auto time = parse_schedstat("103425 1095913 2\n");
  REQUIRE(time);
  CHECK(time->ran == 103425);
  CHECK(time->waited == 1095913);
  CHECK(time->slices == 2);
  CHECK(parse_schedstat("0 0 0\n")->ran == 0);
  CHECK(parse_schedstat("999999999999999999 1 2")->ran == 999999999999999999);
}

TEST_CASE("what is no schedstat is refused") {
  CHECK_FALSE(parse_schedstat(""));
  CHECK_FALSE(parse_schedstat("12"));
  CHECK_FALSE(parse_schedstat("12 \n"));
  CHECK_FALSE(parse_schedstat(" 12 13 2"));
  CHECK_FALSE(parse_schedstat("12 -13 2"));
  CHECK_FALSE(parse_schedstat("12 13"));
  CHECK_FALSE(parse_schedstat("12 13 "));
  CHECK_FALSE(parse_schedstat("9223372036854775808 1 2"));
  CHECK_FALSE(parse_schedstat("x y z"));
}

TEST_CASE("the time that this thread ran is read") {
  const int tid = static_cast<int>(coz::raw_syscall(SYS_gettid));
  const auto before = coz::read_thread_time(tid);
  if (!before || before->ran == 0) return;  // a kernel that does not count
  const Nanoseconds end = coz::now() + 3 * kMillisecond;
  while (coz::now() < end) {
  }
  // The kernel brings the time up to date at ticks, and when a thread stops running.
  usleep(1000);
  const auto after = coz::read_thread_time(tid);
  REQUIRE(after);
  CHECK(after->ran > before->ran);
  CHECK(after->waited >= before->waited);
  CHECK_FALSE(coz::read_thread_time(0));
}

TEST_CASE("a thread that runs is told from one that sleeps") {
  CHECK(coz::is_runnable(gettid()));
  std::atomic<int> tid{0};
  std::atomic<bool> ends{false};
  std::thread sleeper([&] {
    tid.store(gettid());
    tid.notify_one();
    ends.wait(false);
  });
  tid.wait(0);
  for (int i = 0; i < 10'000 && coz::is_runnable(tid.load()); ++i) usleep(1000);
  CHECK_FALSE(coz::is_runnable(tid.load()));
  ends.store(true);
  ends.notify_one();
  sleeper.join();
}

TEST_CASE("the processor time of the others holds that of threads that have ended") {
  const Nanoseconds before = coz::others_processor_time();
  std::thread([] {
    const Nanoseconds end =
        coz::thread_cpu_time(static_cast<int>(coz::raw_syscall(SYS_gettid))) + 5 * kMillisecond;
    while (coz::thread_cpu_time(static_cast<int>(coz::raw_syscall(SYS_gettid))) < end) {
    }
  }).join();
  CHECK(coz::others_processor_time() - before >= 5 * kMillisecond);
}

TEST_CASE("a thread with descriptors of its own neither sees nor takes those of the program") {
  int pipe_ends[2];
  REQUIRE(pipe(pipe_ends) == 0);
  const int kept = fcntl(pipe_ends[1], F_DUPFD_CLOEXEC, 100);
  std::atomic<int> opened{-1};
  bool is_hidden = false, sees_program = true, writes = false;
  std::thread([&] {
    std::array<int, 2> open_ones = {kept, STDERR_FILENO};
    is_hidden = hide_descriptors(open_ones);
    if (!is_hidden) return;
    sees_program = fcntl(pipe_ends[0], F_GETFD) >= 0;
    writes = fcntl(STDERR_FILENO, F_GETFD) >= 0 && write(kept, "x", 1) == 1;
    opened = open("/dev/null", O_RDONLY | O_CLOEXEC);
  }).join();
  close(kept);
  if (is_hidden) {
    CHECK_FALSE(sees_program);
    CHECK(writes);
    CHECK(opened >= 0);
    // Its copy of the pipe's writing end does not keep the pipe open.
    char byte = 0;
    CHECK(read(pipe_ends[0], &byte, 1) == 1);
    close(pipe_ends[1]);
    CHECK(read(pipe_ends[0], &byte, 1) == 0);
  } else {
    close(pipe_ends[1]);
  }
  close(pipe_ends[0]);
}
