#include "tests/oracle/model.h"

#include <algorithm>
#include <cmath>

#include "tests/oracle/classic_accounting.h"
#include "tests/oracle/coz_accounting.h"

namespace oracle {
namespace {

constexpr Nanoseconds kClassicOvershoot = 70 * kMicrosecond;
constexpr std::size_t kMaxLines = 8;
// Not 0: as the time since when a thread waits, that stands for "does not wait".
constexpr Nanoseconds kStart = 1;

// The profiler is given functions without an argument for the world.
World* running = nullptr;

Nanoseconds rounded(double time) noexcept { return static_cast<Nanoseconds>(std::llround(time)); }

}  // namespace

Thread::Thread(World& world, std::uint32_t slot)
    : world_(world),
      slot_(slot),
      accounting_(world.profiler_->profile_thread(slot)),
      pauses_(world.settings_.seed * 1000003 + slot * 1009 + 1),
      periods_(world.settings_.seed * 1000003 + slot * 1009 + 2) {
  for (std::uint64_t stream = 0; stream <= kMaxLines; ++stream) {
    times_.emplace_back(world.settings_.seed * 1000003 + slot * 1009 + 3 + stream);
  }
  // Threads are not sampled in step.
  to_sample_ = 1 + rounded(static_cast<double>(world.settings_.period) * periods_.fraction());
}

void Thread::begin(Nanoseconds inherited, std::uintptr_t kind) noexcept {
  accounting_->begin(inherited, kind);
  to_sample_ = world_.lives_.draw_phase(world_.settings_.period);
}

void Thread::compute(Line line, Time time) { use_cpu(line, draw(line, time)); }

void Thread::wait_for_outside(Line line, Time cpu, Time wait) {
  const Nanoseconds busy = draw(line, cpu);
  const Nanoseconds waits = draw(kNoLine, wait);
  accounting_->wait_for_outside(false, [&] {
    use_cpu(line, busy);
    world_.scheduler_.sleep_until(world_.scheduler_.now() + waits);
  });
}

void Thread::wait_for_device(Line site, Time time, FunctionRef<Nanoseconds, Nanoseconds> end) {
  const Nanoseconds drawn = draw(site, time);
  accounting_->wait_for_outside(is_treated(site, Treatment::Kind::kVirtual),
                                [&] { world_.scheduler_.sleep_until(end(drawn)); });
}

bool Thread::is_treated(Line line, Treatment::Kind kind) const noexcept {
  return world_.treatment_.kind == kind && world_.treatment_.line == line && line != kNoLine;
}

void Thread::visit() noexcept {
  world_.point_.visit([this] { return accounting_->effective_now(); });
}

void Thread::block() noexcept { world_.scheduler_.block(); }

void Thread::wake_up() noexcept {
  world_.scheduler_.wake(fiber_, world_.settings_.machine.wake_up);
}

Nanoseconds Thread::now() const noexcept { return world_.scheduler_.now(); }

void Thread::sleep_until(Nanoseconds deadline) noexcept { world_.scheduler_.sleep_until(deadline); }

Nanoseconds Thread::draw(Line line, Time time) noexcept {
  const double share = 2 * times_[static_cast<std::size_t>(line) + 1].fraction() - 1;
  double drawn = static_cast<double>(time.mean) * (1 + time.variation * share);
  if (is_treated(line, Treatment::Kind::kReal)) drawn *= 1 - world_.treatment_.speedup;
  return rounded(drawn);
}

void Thread::use_cpu(Line line, Nanoseconds duration) noexcept {
  line_ = line;
  while (duration > 0) {
    const Nanoseconds step = std::min(duration, to_sample_);
    world_.scheduler_.use_cpu(step);
    ran_ += step;
    duration -= step;
    to_sample_ -= step;
    if (to_sample_ > 0) continue;
    to_sample_ = next_period();
    ++world_.samples_[static_cast<std::size_t>(line) + 1];
    const double speedup =
        is_treated(line, Treatment::Kind::kVirtual) ? world_.treatment_.speedup : 0;
    accounting_->sampled(rounded(speedup * static_cast<double>(world_.settings_.period)));
  }
}

Nanoseconds Thread::next_period() noexcept {
  const double share = 2 * periods_.fraction() - 1;
  return std::max<Nanoseconds>(1, rounded(static_cast<double>(world_.settings_.period) *
                                          (1 + world_.settings_.jitter * share)));
}

// A sample that falls due here finds the thread busy.
Nanoseconds Thread::pause_until(Nanoseconds deadline) noexcept {
  use_cpu(line_, world_.settings_.machine.pause_cpu);
  ran_ -= world_.settings_.machine.pause_cpu;
  const Nanoseconds mean = world_.settings_.rules == Rules::kClassic
                               ? kClassicOvershoot
                               : world_.settings_.machine.overshoot;
  const double extra = -0.1 * std::log(1 - pauses_.fraction());
  world_.scheduler_.sleep_until(deadline + mean + rounded(static_cast<double>(mean) * extra));
  return world_.scheduler_.now();
}

World::World(const Settings& settings, const Treatment& treatment, int cores)
    : settings_(settings),
      treatment_(treatment),
      cores_(cores),
      samples_(kMaxLines + 1),
      scheduler_(cores, kStart),
      profiler_(make_profiler()) {
  profiler_->select(treatment.speedup);
}

std::unique_ptr<Profiler> World::make_profiler() const {
  if (settings_.rules == Rules::kClassic) return std::make_unique<ClassicProfiler>(clock());
  return std::make_unique<CozProfiler>(clock(), settings_.period, settings_.follows_waits);
}

void World::spawn(std::function<void(Thread&)> body) {
  const auto slot = static_cast<std::uint32_t>(threads_.size());
  threads_.push_back(std::make_unique<Thread>(*this, slot));
  Thread& thread = *threads_.back();
  thread.fiber_ = scheduler_.spawn([&thread, body = std::move(body)] {
    for (;;) body(thread);
  });
}

void World::run_until(Nanoseconds end) {
  running = this;
  scheduler_.run_until(end);
}

void World::select(const Treatment& treatment) noexcept {
  treatment_ = treatment;
  profiler_->select(treatment.speedup);
}

coz::FlowReading World::read_flows() const {
  coz::FlowReading reading;
  reading.time = scheduler_.now();
  reading.delay = global_delay();
  reading.visits.push_back({kPointName, point_.visits()});
  for (const auto& thread : threads_) {
    const coz::DelayState* state = thread->accounting_->state();
    if (state != nullptr) reading.add(state->slot + 1, *state, thread->ran_);
  }
  return reading;
}

coz::CoreWaits World::core_waits() const {
  coz::CoreWaits waits;
  for (const auto& thread : threads_) {
    const coz::ThreadTime time{scheduler_.ran(thread->fiber_), scheduler_.waited(thread->fiber_)};
    const coz::DelayState* state = thread->accounting_->state();
    waits.processor_time += time.ran;
    waits.threads.push_back({static_cast<int>(thread->slot_) + 1, time,
                             state == nullptr ? 0 : state->thread_wait.load(),
                             state == nullptr ? 0 : state->target_samples.load(),
                             thread->slot_ + 1});
  }
  return waits;
}

Nanoseconds World::clock_now() noexcept { return running->scheduler_.now(); }

Nanoseconds World::clock_sleep_until(Nanoseconds deadline) noexcept {
  // The first fiber is the caller of run_until.
  return running->threads_[running->scheduler_.current() - 1]->pause_until(deadline);
}

}  // namespace oracle
