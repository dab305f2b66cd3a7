// A program as the model sees it: threads that compute, block and make progress, with a profiler
// that samples them.
//
// A line is an index; `kNoLine` stands for what is out of scope. It computes, or it waits. A run is
// made with one Treatment: none (the baseline), a line virtually faster (its samples or waits delay
// the others, by the rules under test), or a line really faster (it takes less time, and nobody is
// delayed).
//
// Assumed of the machine, unless Machine says otherwise: 30 µs from waking to running; pauses that
// take 18 µs more than asked for (70 µs with the timer slack of the classic tool) plus a random
// tenth of that, and 1 µs of processor time. Sampling costs nothing.
#ifndef TESTS_ORACLE_MODEL_H
#define TESTS_ORACLE_MODEL_H

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "experiment/core_waits.h"
#include "experiment/flow_reading.h"
#include "experiment/random.h"
#include "progress/point.h"
#include "tests/oracle/accounting.h"
#include "tests/oracle/scheduler.h"
#include "thread/thread_lives.h"

namespace oracle {

using Line = int;
inline constexpr Line kNoLine = -1;
// Of the progress point.
inline constexpr const char* kPointName = "item";

struct Treatment {
  enum class Kind { kNone, kVirtual, kReal };
  Kind kind = Kind::kNone;
  Line line = kNoLine;
  double speedup = 0;
};

enum class Rules { kOurs, kClassic };

struct Machine {
  Nanoseconds wake_up = 30 * kMicrosecond;
  Nanoseconds overshoot = 18 * kMicrosecond;
  Nanoseconds pause_cpu = 1 * kMicrosecond;
};

struct Settings {
  Machine machine;
  Rules rules = Rules::kOurs;
  Nanoseconds period = kMillisecond;
  double jitter = 0;  // of the period: each one is longer or shorter by up to this share
  std::uint64_t seed = 1;
  bool follows_waits = false;  // waits are targets, as with --waits
};

// How long something takes: uniform in mean · (1 ± variation).
struct Time {
  Nanoseconds mean;
  double variation = 0;
};

class World;

// One thread of the program. Its functions are called on its fiber.
class Thread {
 public:
  Thread(World& world, std::uint32_t slot);

  void compute(Line line, Time time);
  // A call such as read(): processor time that belongs to `line`, then a wait for the world
  // outside.
  void wait_for_outside(Line line, Time cpu, Time wait);
  // Line `site` waits for a device that needs `time` for it; `end`: when it has done so much.
  void wait_for_device(Line site, Time time, FunctionRef<Nanoseconds, Nanoseconds> end);
  // At the program's progress point.
  void visit() noexcept;

  // A new thread begins here: its first sample comes at a phase of its period.
  void begin(Nanoseconds inherited, std::uintptr_t kind) noexcept;

  // For blocking.h.
  Accounting& accounting() noexcept { return *accounting_; }
  void block() noexcept;
  void wake_up() noexcept;
  Nanoseconds now() const noexcept;
  void sleep_until(Nanoseconds deadline) noexcept;
  bool is_treated(Line line, Treatment::Kind kind) const noexcept;
  Nanoseconds draw(Line line, Time time) noexcept;
  void use_cpu(Line line, Nanoseconds duration) noexcept;
  const World& world() const noexcept { return world_; }
  std::uint32_t slot() const noexcept { return slot_; }

 private:
  friend class World;

  Nanoseconds next_period() noexcept;
  Nanoseconds pause_until(Nanoseconds deadline) noexcept;

  World& world_;
  std::uint32_t slot_;
  std::unique_ptr<Accounting> accounting_;
  Scheduler::FiberId fiber_ = 0;
  // One stream for each purpose: a treatment then leaves the work to be done as it was.
  std::vector<coz::Random> times_;  // by line + 1
  coz::Random pauses_;
  coz::Random periods_;
  Line line_ = kNoLine;  // where it is, or whence it called
  Nanoseconds ran_ = 0;  // pauses aside
  Nanoseconds to_sample_;
};

class World {
 public:
  // `cores` 0: one for each thread.
  World(const Settings& settings, const Treatment& treatment, int cores);

  // `body` is repeated for ever.
  void spawn(std::function<void(Thread&)> body);

  // An object of the program's, such as a mutex: lives as long as the world.
  template <typename Object, typename... Arguments>
  Object& make(Arguments&&... arguments) {
    auto object = std::make_shared<Object>(*this, std::forward<Arguments>(arguments)...);
    objects_.push_back(object);
    return *object;
  }
  // What stands for an object's address, the same in every run.
  std::uintptr_t next_address() noexcept { return next_address_ += 64; }

  void run_until(Nanoseconds end);
  coz::Point& point() noexcept { return point_; }

  // Between calls of run_until: what the experimenter does and sees.
  void select(const Treatment& treatment) noexcept;
  Nanoseconds now() const noexcept { return scheduler_.now(); }
  Nanoseconds period() const noexcept { return settings_.period; }
  Nanoseconds global_delay() const noexcept { return profiler_->global_delay(); }
  // 0: one for each thread.
  int cores() const noexcept { return cores_; }
  const Treatment& treatment() const noexcept { return treatment_; }
  const Machine& machine() const noexcept { return settings_.machine; }
  // Of all threads since the start.
  coz::CoreWaits core_waits() const;
  coz::FlowReading read_flows() const;
  // Since the start: by line + 1.
  const std::vector<std::uint64_t>& samples() const noexcept { return samples_; }

 private:
  friend class Thread;

  static Nanoseconds clock_now() noexcept;
  static Nanoseconds clock_sleep_until(Nanoseconds deadline) noexcept;
  static Clock clock() noexcept { return {clock_now, clock_sleep_until}; }
  std::unique_ptr<Profiler> make_profiler() const;

  Settings settings_;
  Treatment treatment_;
  int cores_;
  coz::Point point_;
  coz::ThreadLives lives_;
  std::uintptr_t next_address_ = 0x10000;
  std::vector<std::uint64_t> samples_;  // by line + 1
  // In this order: threads go before what they refer to.
  Scheduler scheduler_;
  std::unique_ptr<Profiler> profiler_;
  std::vector<std::shared_ptr<void>> objects_;
  std::vector<std::unique_ptr<Thread>> threads_;
};

}  // namespace oracle

#endif  // TESTS_ORACLE_MODEL_H
