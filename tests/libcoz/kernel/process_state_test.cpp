#include "kernel/process_state.h"

#include <catch2/catch.hpp>

#include "kernel/shared_lock.h"
#include "kernel/zeroed_memory.h"
#include "tests/libcoz/in_child.h"

namespace {

int own_number = 0;

// A child that waits to be ended.
class Child {
 public:
  template <typename Body>
  explicit Child(Body body) : process_(fork()) {
    if (process_ != 0) return;
    body();
    for (;;) pause();
  }
  ~Child() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int process() const { return process_; }

 private:
  int process_;
};

// Other processes take their time.
template <typename Condition>
bool comes_true(Condition condition) {
  for (int i = 0; i < 10'000; ++i) {
    if (condition()) return true;
    usleep(1000);
  }
  return false;
}

}  // namespace

TEST_CASE("a process that was killed has ended before anybody waits for it") {
  const int child = kill_child_after([] {});
  CHECK(coz::has_ended(child));
  CHECK_FALSE(coz::is_missing(child));
  CHECK_FALSE(coz::holds_own_number(child, &own_number));
  wait_for(child);
  CHECK(coz::has_ended(child));
  CHECK(coz::is_missing(child));
  CHECK_FALSE(coz::has_ended(getpid()));
  CHECK_FALSE(coz::is_missing(getpid()));
  CHECK_FALSE(coz::is_missing(getpid(), getpid()));
  CHECK(coz::is_missing(getpid(), getppid()));
}

// [native]: an emulator cannot read the memory of another process.
TEST_CASE("a process holds its number until it executes another program", "[native]") {
  const Child stays([] { own_number = getpid(); });
  CHECK(comes_true([&] { return coz::holds_own_number(stays.process(), &own_number); }));
  const Child leaves([] {
    own_number = getpid();
    execl("/bin/sleep", "sleep", "100", nullptr);
  });
  CHECK(comes_true([&] { return !coz::holds_own_number(leaves.process(), &own_number); }));
  CHECK_FALSE(coz::has_ended(leaves.process()));
}

TEST_CASE("the processor time of another process can be read") {
  const Child child([] {
    for (;;) own_number = own_number + 1;
  });
  CHECK(comes_true([&] { return coz::processor_time_of(child.process()) > 0; }));
  CHECK(coz::processor_time_of(kill_child_after([] {})) >= 0);
}

TEST_CASE("a lock that processes share is taken from one that was killed with it") {
  auto* lock =
      new (coz::map_zeroed(sizeof(coz::SharedLock), coz::Sharing::kShared)) coz::SharedLock;
  const bool is_waited_for = GENERATE(false, true);
  const int child = kill_child_after([&] { lock->lock(); });
  if (is_waited_for) wait_for(child);
  lock->lock();
  lock->unlock();
  lock->lock();
  lock->unlock();
  if (!is_waited_for) wait_for(child);
}
