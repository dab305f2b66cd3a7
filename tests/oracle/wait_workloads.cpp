#include "tests/oracle/wait_workloads.h"

#include "tests/oracle/blocking.h"

namespace oracle {
namespace {

constexpr Line kFirst = 0, kOther = 1, kWork = 2, kSection = 3;

constexpr Time us(Nanoseconds mean, double variation = 0.3) {
  return {mean * kMicrosecond, variation};
}

// Threads that work, then hold one lock.
std::function<void(World&)> one_lock(int threads, Time work, Time section) {
  return [=](World& world) {
    auto& mutex = world.make<Mutex>();
    for (int i = 0; i < threads; ++i) {
      world.spawn([&mutex, work, section](Thread& thread) {
        if (work.mean > 0) thread.compute(kWork, work);
        mutex.hold(thread, kFirst, kSection, section);
        thread.visit();
      });
    }
  };
}

void barging(World& world) {
  auto& mutex = world.make<Mutex>(Mutex::Order::kBarging);
  for (int i = 0; i < 3; ++i) {
    world.spawn([&mutex](Thread& thread) {
      thread.compute(kWork, us(300));
      mutex.lock(thread, kFirst);
      thread.compute(kSection, us(300));
      mutex.unlock(thread);
      thread.visit();
    });
  }
}

// Two locks one after the other, each with a line of its own that waits.
void two_locks(World& world) {
  auto& first = world.make<Mutex>();
  auto& second = world.make<Mutex>();
  for (int i = 0; i < 3; ++i) {
    world.spawn([&](Thread& thread) {
      thread.compute(kWork, us(500));
      first.hold(thread, kFirst, kSection, us(300));
      second.hold(thread, kOther, kSection, us(200));
      thread.visit();
    });
  }
}

// The second lock is taken while the first is held.
void nested(World& world) {
  auto& outer = world.make<Mutex>();
  auto& inner = world.make<Mutex>();
  for (int i = 0; i < 3; ++i) {
    world.spawn([&, i](Thread& thread) {
      thread.compute(kWork, us(400));
      if (i < 2) outer.lock(thread, kFirst);
      if (i < 2) thread.compute(kSection, us(150));
      inner.lock(thread, kOther);
      thread.compute(kSection, us(200));
      inner.unlock(thread);
      if (i < 2) thread.compute(kSection, us(100));
      if (i < 2) outer.unlock(thread);
      thread.visit();
    });
  }
}

// One of three threads writes, the others read: for so long, after so much work.
std::function<void(World&)> readers_and_writer(Time work, Time reading, Time writing) {
  return [=](World& world) {
    auto& lock = world.make<RwLock>();
    for (int i = 0; i < 3; ++i) {
      world.spawn([&lock, i, work, reading, writing](Thread& thread) {
        thread.compute(kWork, work);
        if (i == 0) {
          lock.lock(thread, kFirst);
        } else {
          lock.lock_shared(thread, kFirst);
        }
        thread.compute(kSection, i == 0 ? writing : reading);
        lock.unlock(thread);
        thread.visit();
      });
    }
  };
}

// Two threads meet after each round: one of them alone holds the lock for long.
void beside_a_barrier(World& world) {
  auto& mutex = world.make<Mutex>();
  auto& barrier = world.make<Barrier>(std::size_t{2});
  for (int i = 0; i < 2; ++i) {
    world.spawn([&, i](Thread& thread) {
      thread.compute(kWork, us(500 + 300 * i, 0.1));
      mutex.hold(thread, kFirst, kSection, us(1000 - 300 * i, 0.1));
      barrier.meet(thread);
      if (i == 0) thread.visit();
    });
  }
}

// Threads that read from a device of this depth, and work on what they have read.
std::function<void(World&)> device(int threads, std::size_t depth, Time read, Time work) {
  return [=](World& world) {
    auto& device = world.make<Device>(depth);
    for (int i = 0; i < threads; ++i) {
      world.spawn([&device, read, work](Thread& thread) {
        device.read(thread, kFirst, read);
        thread.compute(kWork, work);
        thread.visit();
      });
    }
  };
}

// Reads one block while another thread works on the last.
void overlapping(World& world) {
  auto& device = world.make<Device>(std::size_t{1});
  auto& barrier = world.make<Barrier>(std::size_t{2});
  world.spawn([&](Thread& thread) {
    device.read(thread, kFirst, us(1500));
    barrier.meet(thread);
    thread.visit();
  });
  world.spawn([&](Thread& thread) {
    thread.compute(kWork, us(1000));
    barrier.meet(thread);
  });
}

void reading_ahead(World& world) {
  auto& device = world.make<Device>(std::size_t{1});
  auto& queue = world.make<BoundedQueue>(8);
  world.spawn([&](Thread& thread) {
    device.read(thread, kFirst, us(1200));
    queue.put(thread);
  });
  world.spawn([&](Thread& thread) {
    queue.get(thread);
    thread.compute(kWork, us(800));
    thread.visit();
  });
}

WaitWorkload waits(std::string name, std::function<void(World&)> build) {
  return {{std::move(name), {"wait", "", "work", "section"}, std::move(build)}};
}
WaitWorkload without(std::string name, std::function<void(World&)> build, Line waits = 1) {
  return {{std::move(name), {"wait", "wait 2", "work", "section"}, std::move(build)}, waits, true};
}

}  // namespace

const std::vector<WaitWorkload>& wait_workloads() {
  static const std::vector<WaitWorkload> all = {
      waits("lock, 2 threads, always held", one_lock(2, us(0), us(1000))),
      waits("lock, 2 threads, 90 %", one_lock(2, us(300), us(1000))),
      waits("lock, 2 threads, 50 %", one_lock(2, us(900), us(300))),
      waits("lock, 2 threads, 10 %", one_lock(2, us(1900), us(100))),
      waits("lock, 4 threads, always held", one_lock(4, us(0), us(500))),
      waits("lock, 4 threads, 90 %", one_lock(4, us(900), us(300))),
      waits("lock, 4 threads, 50 %", one_lock(4, us(1400), us(200))),
      waits("lock, 4 threads, short", one_lock(4, us(100), us(40))),
      waits("lock, 3 threads, long", one_lock(3, us(4000), us(3000))),
      without("lock, barging", barging),
      without("readers and a writer", readers_and_writer(us(300), us(300), us(300))),
      without("readers and a slow writer", readers_and_writer(us(200), us(100), us(900))),
      without("slow readers", readers_and_writer(us(200), us(900), us(100))),
      {{"two locks", {"wait", "wait 2", "work", "section"}, two_locks}, 2},
      without("nested locks", nested, 2),
      waits("lock beside a barrier", beside_a_barrier),
      waits("device, depth 1", device(2, 1, us(800), us(500))),
      waits("device, depth 4", device(6, 4, us(2000), us(500))),
      waits("device, one thread", device(1, 1, us(1000), us(1000))),
      waits("reads beside computing", overlapping),
      waits("reading ahead", reading_ahead),
  };
  return all;
}

std::vector<Comparison> compare_waits(const WaitWorkload& workload, const Settings& given,
                                      Nanoseconds length) {
  Settings settings = given;
  settings.follows_waits = true;
  std::vector<double> shorter(std::begin(kShorter), std::end(kShorter));
  if (workload.only_without) shorter = {1.0};
  return compare(workload.program, settings, length, workload.waits, shorter);
}

}  // namespace oracle
