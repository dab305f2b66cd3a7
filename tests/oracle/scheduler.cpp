#include "tests/oracle/scheduler.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace oracle {
namespace {

constexpr std::size_t kStackBytes = 64 * 1024;
// How long a fiber keeps its core when others wait for one: what Linux gives by default.
constexpr Nanoseconds kTurn = 3 * kMillisecond;
// How much less than another a fiber must have had to take its core when it wakes up.
constexpr Nanoseconds kToPreempt = 1 * kMillisecond;
// How much less than others a fiber has had at most, however long it slept.
constexpr Nanoseconds kMostLag = 3 * kMillisecond;

// The one that runs: a context takes no argument of a pointer's size.
Scheduler* running = nullptr;

}  // namespace

Scheduler::Scheduler(int cores, Nanoseconds start)
    : now_(start), cores_for_all_(cores == 0), free_cores_(cores) {
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
  const Nanoseconds end = fiber.ran + duration;
  while (fiber.ran < end) {
    const Nanoseconds left = end - fiber.ran;
    fiber.runs_since = now_;
    plan(current_, now_ + (cores_for_all_ ? left : std::min(left, fiber.turn_left)));
    switch_to_next();
    if (fiber.runs_since == kNever) continue;  // preempted, and back
    stop_running(fiber);
    if (cores_for_all_ || fiber.turn_left > 0) continue;
    if (ready_.empty()) {
      fiber.turn_left = kTurn;
    } else {
      give_core();
      wait_for_core(current_);
      switch_to_next();
    }
  }
}

void Scheduler::stop_running(Fiber& fiber) noexcept {
  const Nanoseconds ran = now_ - fiber.runs_since;
  fiber.runs_since = kNever;
  fiber.ran += ran;
  fiber.had += ran;
  fiber.turn_left -= ran;
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

void Scheduler::plan(FiberId fiber, Nanoseconds time) {
  fibers_[fiber]->next_event = planned_;
  events_.push({time, planned_++, fiber});
}

// The fiber that has nothing to do looks itself for the next one: one switch an event, or none.
void Scheduler::switch_to_next() noexcept {
  Event event = events_.top();
  while (event.order != fibers_[event.fiber]->next_event) {
    events_.pop();
    event = events_.top();
  }
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
  raise_least_had();
  fiber.had = std::max(fiber.had, least_had_ - kMostLag);
  if (free_cores_ > 0) {
    --free_cores_;
    fiber.turn_left = kTurn;
  } else if (!preempt_another()) {
    wait_for_core(current_);
    switch_to_next();  // give_core hands one over
  }
}

void Scheduler::wait_for_core(FiberId fiber) noexcept {
  fibers_[fiber]->waits_since = now_;
  ready_.push_back(fiber);
}

// Takes the core of the one that has had most, if that is much more.
bool Scheduler::preempt_another() noexcept {
  FiberId most = 0;
  Nanoseconds most_had = self().had + kToPreempt;
  for (FiberId id = 1; id < fibers_.size(); ++id) {
    const Fiber& fiber = *fibers_[id];
    if (fiber.runs_since == kNever) continue;
    const Nanoseconds had = fiber.had + now_ - fiber.runs_since;
    if (had <= most_had) continue;
    most = id;
    most_had = had;
  }
  if (most == 0) return false;
  Fiber& other = *fibers_[most];
  stop_running(other);
  other.next_event = planned_++;  // none
  wait_for_core(most);
  self().turn_left = kTurn;
  return true;
}

// To what the one has had that has had least, of those that run or wait for a core.
void Scheduler::raise_least_had() noexcept {
  std::optional<Nanoseconds> least;
  for (const auto& fiber : fibers_) {
    const bool runs = fiber->runs_since != kNever;
    if (!runs && fiber->waits_since == kNever) continue;
    const Nanoseconds had = fiber->had + (runs ? now_ - fiber->runs_since : 0);
    least = std::min(had, least.value_or(had));
  }
  least_had_ = std::max(least_had_, least.value_or(0));
}

void Scheduler::give_core() noexcept {
  if (cores_for_all_) return;
  if (ready_.empty()) {
    ++free_cores_;
    return;
  }
  const auto least = std::min_element(ready_.begin(), ready_.end(), [this](FiberId a, FiberId b) {
    return fibers_[a]->had < fibers_[b]->had;
  });
  Fiber& next = *fibers_[*least];
  next.waited += now_ - next.waits_since;
  next.waits_since = kNever;
  next.turn_left = kTurn;
  plan(*least, now_);
  ready_.erase(least);
}

Nanoseconds Scheduler::ran(FiberId id) const noexcept {
  const Fiber& fiber = *fibers_[id];
  return fiber.ran + (fiber.runs_since == kNever ? 0 : now_ - fiber.runs_since);
}

Nanoseconds Scheduler::waited(FiberId id) const noexcept {
  const Fiber& fiber = *fibers_[id];
  return fiber.waited + (fiber.waits_since == kNever ? 0 : now_ - fiber.waits_since);
}

}  // namespace oracle
