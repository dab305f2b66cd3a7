#include "tests/oracle/scheduler.h"

#include <algorithm>
#include <utility>

namespace oracle {
namespace {

constexpr std::size_t kStackBytes = 64 * 1024;
// How long a fiber keeps its core when others wait for one: what Linux gives by default.
constexpr Nanoseconds kTurn = 3 * kMillisecond;

// The one that runs: a context takes no argument of a pointer's size.
Scheduler* running = nullptr;

}  // namespace

Scheduler::Scheduler(int cores) : cores_for_all_(cores == 0), free_cores_(cores) {
  fibers_.push_back(std::make_unique<Fiber>());
}

Scheduler::~Scheduler() = default;

Scheduler::FiberId Scheduler::spawn(std::function<void()> body) {
  auto fiber = std::make_unique<Fiber>();
  fiber->body = std::move(body);
  fiber->stack = std::make_unique<std::byte[]>(kStackBytes);
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp = fiber->stack.get();
  fiber->context.uc_stack.ss_size = kStackBytes;
  fiber->context.uc_link = nullptr;
  makecontext(&fiber->context, &Scheduler::enter, 0);
  fibers_.push_back(std::move(fiber));
  plan(fibers_.size() - 1, now_);
  return fibers_.size() - 1;
}

void Scheduler::enter() noexcept {
  running->take_core();
  running->self().body();
  std::terminate();
}

void Scheduler::run_until(Nanoseconds end) {
  running = this;
  plan(0, end);
  switch_to_next();
}

void Scheduler::use_cpu(Nanoseconds duration) noexcept {
  Fiber& fiber = self();
  while (duration > 0) {
    const Nanoseconds step = cores_for_all_ ? duration : std::min(duration, fiber.turn_left);
    plan(current_, now_ + step);
    switch_to_next();
    duration -= step;
    if (cores_for_all_) continue;
    fiber.turn_left -= step;
    if (fiber.turn_left > 0) continue;
    if (ready_.empty()) {
      fiber.turn_left = kTurn;
    } else {
      give_core();
      take_core();
    }
  }
}

void Scheduler::sleep_until(Nanoseconds deadline) noexcept {
  plan(current_, std::max(deadline, now_));
  give_core();
  switch_to_next();
  take_core();
}

void Scheduler::block() noexcept {
  give_core();
  switch_to_next();
  take_core();
}

void Scheduler::wake(FiberId fiber, Nanoseconds latency) noexcept { plan(fiber, now_ + latency); }

void Scheduler::plan(FiberId fiber, Nanoseconds time) { events_.push({time, planned_++, fiber}); }

// The fiber that has nothing to do looks itself for the next one: one switch an event, or none.
void Scheduler::switch_to_next() noexcept {
  const Event event = events_.top();
  events_.pop();
  now_ = event.time;
  if (event.fiber == current_) return;
  Fiber& from = self();
  current_ = event.fiber;
  swapcontext(&from.context, &self().context);
}

void Scheduler::take_core() noexcept {
  if (cores_for_all_) return;
  Fiber& fiber = self();
  if (free_cores_ > 0) {
    --free_cores_;
  } else {
    ready_.push_back(current_);
    switch_to_next();  // give_core hands one over
  }
  fiber.turn_left = kTurn;
}

void Scheduler::give_core() noexcept {
  if (cores_for_all_) return;
  if (ready_.empty()) {
    ++free_cores_;
    return;
  }
  plan(ready_.front(), now_);
  ready_.pop_front();
}

}  // namespace oracle
