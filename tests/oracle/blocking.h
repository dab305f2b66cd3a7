// What threads of the model block on. Each call goes through the accounting of its thread, as the
// wrappers of libc do (libcoz/interpose); waiting threads are served in turn unless said otherwise.
#ifndef TESTS_ORACLE_BLOCKING_H
#define TESTS_ORACLE_BLOCKING_H

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "tests/oracle/model.h"

namespace oracle {

class Mutex {
 public:
  enum class Order {
    kInTurn,   // handed over to the one that has waited longest
    kBarging,  // free when released: whoever comes first has it, as with pthread_mutex_t
  };
  explicit Mutex(World& world, Order order = Order::kInTurn)
      : address_(world.next_address()), order_(order) {}

  // `site`: the line that waits. If waits there are really 100 % shorter, nobody is excluded.
  void lock(Thread& thread, Line site = kNoLine);
  void unlock(Thread& thread);

  // lock(), compute(), unlock(); for waits that really are shorter by any part. See
  // wait_workloads.h for what that means. Only with Order::kInTurn.
  void hold(Thread& thread, Line site, Line line, Time time);

 private:
  friend class Condition;

  bool try_take(Thread& thread) noexcept;
  WakeSource take(Thread& thread);
  void give_back();

  std::uintptr_t address_;
  Order order_;
  bool taken_ = false;
  coz::LockHolder holder_ = 0;
  Nanoseconds free_at_ = 0;  // where waits are really shorter: when the last to come releases it
  // Glibc's lock word at 2: whoever has waited leaves it so, without knowing if others still do.
  bool may_be_waited_for_ = false;
  std::deque<Thread*> waiting_;
};

class Condition {
 public:
  explicit Condition(World& world) : address_(world.next_address()) {}

  void wait(Thread& thread, Mutex& mutex);
  // For so long, in which nobody signals.
  void wait_in_vain(Thread& thread, Mutex& mutex, Nanoseconds duration);
  void signal(Thread& thread);
  void broadcast(Thread& thread);

 private:
  std::uintptr_t address_;
  std::deque<Thread*> waiting_;
};

class Barrier {
 public:
  Barrier(World& world, std::size_t threads) : address_(world.next_address()), threads_(threads) {}

  void meet(Thread& thread);

 private:
  std::uintptr_t address_;
  std::size_t threads_;
  std::deque<Thread*> waiting_;
};

class Semaphore {
 public:
  Semaphore(World& world, int value) : address_(world.next_address()), value_(value) {}

  void wait(Thread& thread);
  void post(Thread& thread);

 private:
  std::uintptr_t address_;
  int value_;
  std::deque<Thread*> waiting_;
};

// Something outside the program that serves a few requests at a time, in turn.
class Device {
 public:
  Device(World&, std::size_t depth) : free_at_(depth) {}

  // Line `site` waits for it.
  void read(Thread& thread, Line site, Time time);

 private:
  std::vector<Nanoseconds> free_at_;
};

class RwLock {
 public:
  explicit RwLock(World& world) : address_(world.next_address()) {}

  // `site`: as of Mutex::lock(); then for all that take this lock.
  void lock_shared(Thread& thread, Line site = kNoLine) { lock(thread, false, site); }
  void lock(Thread& thread, Line site = kNoLine) { lock(thread, true, site); }
  void unlock(Thread& thread);

 private:
  struct Waiting {
    Thread* thread;
    bool writes;
  };
  void lock(Thread& thread, bool writes, Line site);
  bool is_free(bool writes) const noexcept;
  void take(const Thread& thread, bool writes) noexcept;

  std::uintptr_t address_;
  int readers_ = 0;
  bool written_ = false;
  bool excludes_ = true;
  coz::LockHolder writer_ = 0;
  std::deque<Waiting> waiting_;
};

// A thread for each piece of work: created, and joined. One at a time.
class ShortThread {
 public:
  ShortThread(World& world, std::uintptr_t kind, std::function<void(Thread&)> work);

  void create(Thread& parent);
  void join(Thread& parent);

 private:
  void live(Thread& thread);

  std::uintptr_t address_;
  std::uintptr_t kind_;
  std::function<void(Thread&)> work_;
  Nanoseconds inherited_ = 0;
  bool lives_ = false;
  Thread* idle_ = nullptr;
  Thread* joining_ = nullptr;
};

// As programs write it: a mutex and two conditions. The items themselves don't matter.
class BoundedQueue {
 public:
  BoundedQueue(World& world, int capacity, Mutex::Order order = Mutex::Order::kInTurn)
      : mutex_(world, order), not_full_(world), not_empty_(world), capacity_(capacity) {}

  void put(Thread& thread);
  void get(Thread& thread);

 private:
  Mutex mutex_;
  Condition not_full_;
  Condition not_empty_;
  int capacity_;
  int items_ = 0;
};

}  // namespace oracle

#endif  // TESTS_ORACLE_BLOCKING_H
