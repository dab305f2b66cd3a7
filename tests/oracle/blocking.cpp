#include "tests/oracle/blocking.h"

#include <algorithm>
#include <utility>

namespace oracle {
namespace {

std::uintptr_t caller(void* address) { return reinterpret_cast<std::uintptr_t>(address); }

coz::LockHolder id_of(const Thread& thread) { return thread.slot() + 1; }

Thread* take_first(std::deque<Thread*>& waiting) {
  Thread* first = waiting.front();
  waiting.pop_front();
  return first;
}

}  // namespace

[[gnu::noinline]] void Mutex::lock(Thread& thread, Line site) {
  if (thread.is_treated(site, Treatment::Kind::kReal)) return;
  thread.accounting().called_from(caller(__builtin_return_address(0)));
  thread.accounting().acquire_lock(
      address_, coz::LockUse::kAlone, thread.is_treated(site, Treatment::Kind::kVirtual),
      [this] { return holder_; }, [&] { return try_take(thread); }, [&] { return take(thread); });
}

void Mutex::hold(Thread& thread, Line site, Line line, Time time) {
  const Nanoseconds length = thread.draw(line, time);
  if (!thread.is_treated(site, Treatment::Kind::kReal)) {
    lock(thread, site);
    thread.use_cpu(line, length);
    unlock(thread);
    return;
  }
  const Nanoseconds arrival = thread.now();
  Nanoseconds wait = 0;
  if (free_at_ > arrival) {
    const Nanoseconds whole = free_at_ - arrival + thread.world().machine().wake_up;
    wait = static_cast<Nanoseconds>((1 - thread.world().treatment().speedup) *
                                    static_cast<double>(whole));
  }
  free_at_ = arrival + wait + length;
  if (wait > 0) thread.sleep_until(arrival + wait);
  thread.use_cpu(line, length);
}

[[gnu::noinline]] void Mutex::unlock(Thread& thread) {
  if (holder_ != id_of(thread)) return;  // nobody is excluded
  thread.accounting().called_from(caller(__builtin_return_address(0)));
  thread.accounting().release_mutex(
      address_, [this] { return may_be_waited_for_; }, [this] { give_back(); });
}

bool Mutex::try_take(Thread& thread) noexcept {
  if (taken_) return false;
  taken_ = true;
  holder_ = id_of(thread);
  may_be_waited_for_ = false;
  return true;
}

WakeSource Mutex::take(Thread& thread) {
  if (try_take(thread)) return WakeSource::kThread;  // pthread_mutex_lock can't tell either
  do {
    may_be_waited_for_ = true;
    waiting_.push_back(&thread);
    thread.block();
  } while (order_ == Order::kBarging && !try_take(thread));
  holder_ = id_of(thread);
  may_be_waited_for_ = true;
  return WakeSource::kThread;
}

void Mutex::give_back() {
  const bool handed_over = order_ == Order::kInTurn && !waiting_.empty();
  if (!handed_over) taken_ = false;
  holder_ = 0;
  if (!waiting_.empty()) take_first(waiting_)->wake_up();
}

[[gnu::noinline]] void Condition::wait(Thread& thread, Mutex& mutex) {
  thread.accounting().called_from(caller(__builtin_return_address(0)));
  const auto call = [&](Nanoseconds) {
    waiting_.push_back(&thread);
    mutex.give_back();
    thread.block();
    mutex.take(thread);
    mutex.may_be_waited_for_ = true;
    return WakeSource::kThread;
  };
  thread.accounting().wait_for_condition(
      {address_, mutex.address_}, [&] { return mutex.may_be_waited_for_; }, call,
      [] { return Nanoseconds{0}; });
}

// By how much the kernel wakes a thread late, unless it asks for less, as pauses do.
constexpr Nanoseconds kTimerSlack = 50 * kMicrosecond;

[[gnu::noinline]] void Condition::wait_in_vain(Thread& thread, Mutex& mutex, Nanoseconds duration) {
  thread.accounting().called_from(caller(__builtin_return_address(0)));
  const Nanoseconds deadline = thread.now() + duration;
  const auto call = [&](Nanoseconds later) {
    mutex.give_back();
    thread.sleep_until(deadline + later + kTimerSlack);
    mutex.take(thread);
    mutex.may_be_waited_for_ = true;
    return WakeSource::kExternal;
  };
  thread.accounting().wait_for_condition(
      {address_, mutex.address_}, [&] { return mutex.may_be_waited_for_; }, call,
      [&] { return deadline; });
}

[[gnu::noinline]] void Condition::signal(Thread& thread) {
  thread.accounting().called_from(caller(__builtin_return_address(0)));
  thread.accounting().signal_condition(address_, [this] {
    if (!waiting_.empty()) take_first(waiting_)->wake_up();
  });
}

[[gnu::noinline]] void Condition::broadcast(Thread& thread) {
  thread.accounting().called_from(caller(__builtin_return_address(0)));
  thread.accounting().signal_condition(address_, [this] {
    while (!waiting_.empty()) take_first(waiting_)->wake_up();
  });
}

[[gnu::noinline]] void Barrier::meet(Thread& thread) {
  thread.accounting().called_from(caller(__builtin_return_address(0)));
  thread.accounting().meet(address_, [&] {
    if (waiting_.size() + 1 == threads_) {
      while (!waiting_.empty()) take_first(waiting_)->wake_up();
      return WakeSource::kNone;
    }
    waiting_.push_back(&thread);
    thread.block();
    return WakeSource::kThread;
  });
}

[[gnu::noinline]] void Semaphore::wait(Thread& thread) {
  thread.accounting().called_from(caller(__builtin_return_address(0)));
  const auto attempt = [this] {
    if (value_ == 0) return false;
    --value_;
    return true;
  };
  const auto call = [&] {
    if (attempt()) return WakeSource::kThread;
    waiting_.push_back(&thread);
    thread.block();
    return WakeSource::kThread;
  };
  thread.accounting().acquire(address_, attempt, call);
}

[[gnu::noinline]] void Semaphore::post(Thread& thread) {
  thread.accounting().called_from(caller(__builtin_return_address(0)));
  thread.accounting().release(address_, [this] {
    if (waiting_.empty()) {
      ++value_;
    } else {
      take_first(waiting_)->wake_up();
    }
  });
}

[[gnu::noinline]] void Device::read(Thread& thread, Line site, Time time) {
  thread.accounting().called_from(caller(__builtin_return_address(0)));
  thread.wait_for_device(site, time, [&](Nanoseconds length) {
    Nanoseconds& free_at = *std::min_element(free_at_.begin(), free_at_.end());
    return free_at = std::max(free_at, thread.now()) + length;
  });
}

bool RwLock::is_free(bool writes) const noexcept { return !written_ && (!writes || readers_ == 0); }

void RwLock::take(const Thread& thread, bool writes) noexcept {
  written_ = writes;
  if (writes) writer_ = id_of(thread);
  if (!writes) ++readers_;
}

[[gnu::noinline]] void RwLock::lock(Thread& thread, bool writes, Line site) {
  excludes_ = !thread.is_treated(site, Treatment::Kind::kReal);
  if (!excludes_) return;
  thread.accounting().called_from(caller(__builtin_return_address(0)));
  const auto attempt = [&] {
    if (!waiting_.empty() || !is_free(writes)) return false;
    take(thread, writes);
    return true;
  };
  const auto call = [&] {
    if (attempt()) return WakeSource::kThread;
    waiting_.push_back({&thread, writes});
    thread.block();
    return WakeSource::kThread;
  };
  thread.accounting().acquire_lock(
      address_, writes ? coz::LockUse::kAlone : coz::LockUse::kShared,
      thread.is_treated(site, Treatment::Kind::kVirtual), [this] { return writer_; }, attempt,
      call);
}

[[gnu::noinline]] void RwLock::unlock(Thread& thread) {
  if (!excludes_) return;
  thread.accounting().called_from(caller(__builtin_return_address(0)));
  thread.accounting().release_rwlock(address_, [this] {
    if (written_) {
      written_ = false;
      writer_ = 0;
    } else {
      --readers_;
    }
    while (!waiting_.empty() && is_free(waiting_.front().writes)) {
      take(*waiting_.front().thread, waiting_.front().writes);
      waiting_.front().thread->wake_up();
      waiting_.pop_front();
    }
  });
}

ShortThread::ShortThread(World& world, std::uintptr_t kind, std::function<void(Thread&)> work)
    : address_(world.next_address()), kind_(kind), work_(std::move(work)) {
  world.spawn([this](Thread& thread) { live(thread); });
}

// One fiber stands for all of them, one after the other.
void ShortThread::live(Thread& thread) {
  if (!lives_) {
    idle_ = &thread;
    thread.block();
  }
  thread.begin(inherited_, kind_);
  work_(thread);
  thread.accounting().end(address_);
  lives_ = false;
  if (joining_ != nullptr) std::exchange(joining_, nullptr)->wake_up();
}

[[gnu::noinline]] void ShortThread::create(Thread& parent) {
  constexpr Time kCost{25 * kMicrosecond};
  parent.accounting().called_from(caller(__builtin_return_address(0)));
  parent.accounting().create([&](Nanoseconds inherited) {
    inherited_ = inherited;
    parent.compute(kNoLine, kCost);
    lives_ = true;
    if (idle_ != nullptr) std::exchange(idle_, nullptr)->wake_up();
    parent.compute(kNoLine, kCost);
  });
}

[[gnu::noinline]] void ShortThread::join(Thread& parent) {
  parent.accounting().called_from(caller(__builtin_return_address(0)));
  const auto wait = [&] {
    joining_ = &parent;
    parent.block();
    return WakeSource::kThread;
  };
  parent.accounting().acquire(address_, [this] { return !lives_; }, wait);
}

void BoundedQueue::put(Thread& thread) {
  mutex_.lock(thread);
  while (items_ == capacity_) not_full_.wait(thread, mutex_);
  ++items_;
  not_empty_.signal(thread);
  mutex_.unlock(thread);
}

void BoundedQueue::get(Thread& thread) {
  mutex_.lock(thread);
  while (items_ == 0) not_empty_.wait(thread, mutex_);
  --items_;
  not_full_.signal(thread);
  mutex_.unlock(thread);
}

}  // namespace oracle
