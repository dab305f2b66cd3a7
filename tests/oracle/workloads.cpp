#include "tests/oracle/workloads.h"

#include "tests/oracle/blocking.h"

namespace oracle {
namespace {

constexpr Time us(Nanoseconds mean, double variation = 0.3) {
  return {mean * kMicrosecond, variation};
}

void two_threads(World& world) {
  auto& barrier = world.make<Barrier>(std::size_t{2});
  world.spawn([&barrier](Thread& thread) {
    thread.compute(0, us(6700, 0.01));
    barrier.meet(thread);
    thread.visit();
  });
  world.spawn([&barrier](Thread& thread) {
    thread.compute(1, us(6400, 0.01));
    barrier.meet(thread);
  });
}

void barrier_phases(World& world) {
  auto& barrier = world.make<Barrier>(std::size_t{3});
  for (int i = 0; i < 3; ++i) {
    world.spawn([&barrier, i](Thread& thread) {
      thread.compute(0, us(900 - 200 * i));
      barrier.meet(thread);
      thread.compute(1, us(200 + 200 * i));
      barrier.meet(thread);
      if (i == 0) thread.visit();
    });
  }
}

// Threads that compute, then take a lock for a while.
void lock(World& world, int threads, Time outside, Time section,
          Mutex::Order order = Mutex::Order::kInTurn) {
  auto& mutex = world.make<Mutex>(order);
  for (int i = 0; i < threads; ++i) {
    world.spawn([&mutex, outside, section](Thread& thread) {
      thread.compute(0, outside);
      mutex.lock(thread);
      thread.compute(1, section);
      mutex.unlock(thread);
      thread.visit();
    });
  }
}

void light_lock(World& world) { lock(world, 2, us(900), us(100)); }
void short_section(World& world) { lock(world, 3, us(230), us(70)); }
void long_section(World& world) { lock(world, 3, us(3000), us(2000)); }
void four_threads(World& world) { lock(world, 4, us(300), us(150)); }
void four_threads_barging(World& world) {
  lock(world, 4, us(300), us(150), Mutex::Order::kBarging);
}

void brief_section(World& world) { lock(world, 2, us(45), us(5), Mutex::Order::kBarging); }

// One lock that is nearly always taken, two lines in its section.
void busy_lock(World& world, Mutex::Order order) {
  auto& mutex = world.make<Mutex>(order);
  for (int i = 0; i < 2; ++i) {
    world.spawn([&mutex](Thread& thread) {
      thread.compute(2, us(30));
      mutex.lock(thread);
      thread.compute(0, us(70));
      thread.compute(1, us(130));
      mutex.unlock(thread);
      thread.visit();
    });
  }
}
void busy_lock_in_turn(World& world) { busy_lock(world, Mutex::Order::kInTurn); }
void busy_lock_barging(World& world) { busy_lock(world, Mutex::Order::kBarging); }

void pipeline(World& world, int consumers, Time produce, Time consume, int capacity,
              Mutex::Order order = Mutex::Order::kInTurn) {
  auto& queue = world.make<BoundedQueue>(capacity, order);
  world.spawn([&queue, produce](Thread& thread) {
    thread.compute(0, produce);
    queue.put(thread);
  });
  for (int i = 0; i < consumers; ++i) {
    world.spawn([&queue, consume](Thread& thread) {
      queue.get(thread);
      thread.compute(1, consume);
      thread.visit();
    });
  }
}
void one_to_one(World& world) { pipeline(world, 1, us(400, 0.5), us(500, 0.5), 16); }
void one_to_two(World& world) { pipeline(world, 2, us(400, 0.5), us(1000, 0.5), 8); }
void one_to_two_barging(World& world) {
  pipeline(world, 2, us(400, 0.5), us(1000, 0.5), 8, Mutex::Order::kBarging);
}

// Two tokens go round three stages.
void semaphore_ring(World& world) {
  Semaphore* gates[] = {&world.make<Semaphore>(2), &world.make<Semaphore>(0),
                        &world.make<Semaphore>(0)};
  constexpr Time kStages[] = {us(300), us(600), us(250)};
  for (int i = 0; i < 3; ++i) {
    world.spawn(
        [&own = *gates[i], &next = *gates[(i + 1) % 3], i, time = kStages[i]](Thread& thread) {
          own.wait(thread);
          thread.compute(i, time);
          next.post(thread);
          if (i == 2) thread.visit();
        });
  }
}

void readers_and_writer(World& world) {
  auto& rwlock = world.make<RwLock>();
  for (int i = 0; i < 3; ++i) {
    world.spawn([&rwlock](Thread& thread) {
      thread.compute(0, us(300));
      rwlock.lock_shared(thread);
      thread.compute(1, us(200));
      rwlock.unlock(thread);
      thread.visit();
    });
  }
  world.spawn([&rwlock](Thread& thread) {
    thread.compute(3, us(500));
    rwlock.lock(thread);
    thread.compute(2, us(300));
    rwlock.unlock(thread);
  });
}

// A place for one request or reply, with the condition that announces it.
struct Mailbox {
  explicit Mailbox(World& world) : mutex(world), filled(world) {}

  void put(Thread& thread) {
    mutex.lock(thread);
    full = true;
    filled.signal(thread);
    mutex.unlock(thread);
  }
  void take(Thread& thread) {
    mutex.lock(thread);
    while (!full) filled.wait(thread, mutex);
    full = false;
    mutex.unlock(thread);
  }

  Mutex mutex;
  Condition filled;
  bool full = false;
};

// The client prepares the next request while the server works on this one.
void hand_off(World& world) {
  auto& requests = world.make<Mailbox>();
  auto& replies = world.make<Mailbox>();
  world.spawn([&requests, &replies](Thread& thread) {
    requests.put(thread);
    thread.compute(0, us(400));
    replies.take(thread);
    thread.compute(1, us(200));
    thread.visit();
  });
  world.spawn([&requests, &replies](Thread& thread) {
    requests.take(thread);
    thread.compute(2, us(500));
    replies.put(thread);
  });
}

// Work for a crowd: all wake at once, and then wait for each other to take their part.
struct Pool {
  explicit Pool(World& world) : mutex(world, Mutex::Order::kBarging), filled(world), done(world) {}

  Mutex mutex;
  Condition filled;
  Condition done;
  int to_take = 0;
  int to_finish = 0;
};

void fork_and_join(World& world) {
  constexpr int kWorkers = 4;
  auto& pool = world.make<Pool>();
  world.spawn([&pool](Thread& thread) {
    thread.compute(0, us(300));
    pool.mutex.lock(thread);
    pool.to_take = pool.to_finish = kWorkers;
    pool.filled.broadcast(thread);
    while (pool.to_finish > 0) pool.done.wait(thread, pool.mutex);
    pool.mutex.unlock(thread);
    thread.visit();
  });
  for (int i = 0; i < kWorkers; ++i) {
    world.spawn([&pool](Thread& thread) {
      pool.mutex.lock(thread);
      while (pool.to_take == 0) pool.filled.wait(thread, pool.mutex);
      thread.compute(1, us(50));
      --pool.to_take;
      pool.mutex.unlock(thread);
      thread.compute(2, us(400));
      pool.mutex.lock(thread);
      if (--pool.to_finish == 0) pool.done.signal(thread);
      pool.mutex.unlock(thread);
    });
  }
}

// Threads that begin and end a round together, and run the same two lines in between: a long code
// segment.
void shares(World& world, int threads, Time first, Time second) {
  auto& begin = world.make<Barrier>(static_cast<std::size_t>(threads));
  auto& end = world.make<Barrier>(static_cast<std::size_t>(threads));
  for (int i = 0; i < threads; ++i) {
    world.spawn([&begin, &end, i, first, second](Thread& thread) {
      if (i == 0) thread.compute(0, us(500));
      begin.meet(thread);
      thread.compute(1, first);
      thread.compute(2, second);
      end.meet(thread);
      if (i == 0) thread.visit();
    });
  }
}

void two_shares_of_5_ms(World& world) { shares(world, 2, us(2000), us(3000)); }
void four_shares_of_2_5_ms(World& world) { shares(world, 4, us(700), us(1800)); }
void four_shares_of_5_ms(World& world) { shares(world, 4, us(1500), us(3500)); }
void four_shares_of_12_ms(World& world) { shares(world, 4, us(4000), us(8000)); }
void four_shares_of_30_ms(World& world) { shares(world, 4, us(10'000), us(20'000)); }

// Idle threads that look after their work by the clock, beside one that computes.
void wait_by_the_clock(World& world) {
  auto& pool = world.make<Pool>();
  for (int i = 0; i < 6; ++i) {
    world.spawn([&pool](Thread& thread) {
      pool.mutex.lock(thread);
      pool.filled.wait_in_vain(thread, pool.mutex, 2 * kMillisecond);
      thread.compute(1, us(20));
      pool.mutex.unlock(thread);
      thread.visit();
    });
  }
  world.spawn([](Thread& thread) { thread.compute(0, us(1000)); });
}

// read(), 300 µs of it at work and the rest waiting, beside a thread that computes.
void io_and_compute(World& world) {
  auto& barrier = world.make<Barrier>(std::size_t{2});
  world.spawn([&barrier](Thread& thread) {
    thread.wait_for_outside(0, us(300), us(1500));
    barrier.meet(thread);
    thread.visit();
  });
  world.spawn([&barrier](Thread& thread) {
    thread.compute(1, us(1700));
    barrier.meet(thread);
  });
}

void io_pipeline(World& world) {
  auto& queue = world.make<BoundedQueue>(8);
  world.spawn([&queue](Thread& thread) {
    thread.wait_for_outside(0, us(300), us(600));
    queue.put(thread);
  });
  world.spawn([&queue](Thread& thread) {
    queue.get(thread);
    thread.compute(1, us(1000));
    thread.visit();
  });
}

// Threads that live for one piece of work each, `count` side by side; main does as much before.
void short_threads(World& world, int count, Nanoseconds work) {
  constexpr std::uintptr_t kKind = 0x400800;
  std::vector<ShortThread*> threads;
  for (int i = 0; i < count; ++i) {
    threads.push_back(
        &world.make<ShortThread>(kKind, [work](Thread& thread) { thread.compute(1, us(work)); }));
  }
  world.spawn([threads, work](Thread& thread) {
    thread.compute(0, us(work));
    for (ShortThread* each : threads) each->create(thread);
    for (ShortThread* each : threads) each->join(thread);
    thread.visit();
  });
}
void threads_of_50_us(World& world) { short_threads(world, 1, 50); }
void threads_of_500_us(World& world) { short_threads(world, 1, 500); }
void threads_of_2_ms(World& world) { short_threads(world, 1, 2000); }
void threads_of_6_ms(World& world) { short_threads(world, 1, 6000); }
void two_threads_of_50_us(World& world) { short_threads(world, 2, 50); }
void two_threads_of_200_us(World& world) { short_threads(world, 2, 200); }
void two_threads_of_2_ms(World& world) { short_threads(world, 2, 2000); }

// Four threads at a barrier, two cores.
void few_cores(World& world) {
  auto& barrier = world.make<Barrier>(std::size_t{4});
  for (int i = 0; i < 4; ++i) {
    world.spawn([&barrier, i](Thread& thread) {
      thread.compute(i == 0 ? 0 : 1, us(4000, 0.1));
      barrier.meet(thread);
      if (i == 0) thread.visit();
    });
  }
}

}  // namespace

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> all = {
      {"two threads, barrier", {"6.7 ms", "6.4 ms"}, two_threads},
      {"barrier, two phases", {"first", "second"}, barrier_phases},
      {"lock, light", {"outside", "section"}, light_lock},
      {"lock, short section", {"outside", "section"}, short_section},
      {"lock, long section", {"outside", "section"}, long_section},
      {"lock, brief section", {"outside", "section"}, brief_section},
      {"lock, 4 threads", {"outside", "section"}, four_threads},
      {"lock, 4 threads, barging", {"outside", "section"}, four_threads_barging},
      {"lock, busy", {"70 us", "130 us", "outside"}, busy_lock_in_turn},
      {"lock, busy, barging", {"70 us", "130 us", "outside"}, busy_lock_barging},
      {"pipeline 1:1", {"producer", "consumer"}, one_to_one},
      {"pipeline 1:2", {"producer", "consumer"}, one_to_two},
      {"pipeline 1:2, barging", {"producer", "consumer"}, one_to_two_barging},
      {"semaphore ring", {"first", "second", "third"}, semaphore_ring},
      {"readers and a writer", {"outside", "read", "write", "prepare"}, readers_and_writer},
      {"hand-off by condition", {"prepare", "finish", "serve"}, hand_off},
      {"fork and join, condition", {"prepare", "take", "work"}, fork_and_join},
      {"two shares of 5 ms", {"alone", "first", "second"}, two_shares_of_5_ms},
      {"four shares of 2.5 ms", {"alone", "first", "second"}, four_shares_of_2_5_ms},
      {"four shares of 5 ms", {"alone", "first", "second"}, four_shares_of_5_ms},
      {"four shares of 12 ms", {"alone", "first", "second"}, four_shares_of_12_ms},
      {"four shares of 30 ms", {"alone", "first", "second"}, four_shares_of_30_ms},
      {"waiting by the clock", {"elsewhere", "look"}, wait_by_the_clock},
      {"I/O beside compute", {"read", "compute"}, io_and_compute},
      {"I/O pipeline", {"read", "handle"}, io_pipeline},
      {"threads of 50 us", {"main", "thread"}, threads_of_50_us},
      {"threads of 0.5 ms", {"main", "thread"}, threads_of_500_us},
      {"threads of 2 ms", {"main", "thread"}, threads_of_2_ms},
      {"threads of 6 ms", {"main", "thread"}, threads_of_6_ms},
      {"two threads of 50 us", {"main", "threads"}, two_threads_of_50_us},
      {"two threads of 0.2 ms", {"main", "threads"}, two_threads_of_200_us},
      {"two threads of 2 ms", {"main", "threads"}, two_threads_of_2_ms},
      {"4 threads on 2 cores", {"thread 1", "threads 2-4"}, few_cores, 2, true},
  };
  return all;
}

}  // namespace oracle
