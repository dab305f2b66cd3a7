#include "runtime.h"

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <new>

#include "breakpoint/jump_entry.h"
#include "interpose/jump_visit.h"
#include "interpose/real.h"
#include "interpose/sample_signal.h"
#include "os/raw_syscall.h"
#include "sample/call_chain.h"
#include "support/message.h"

namespace coz {
namespace {

// Lines or functions of modules that come after the start: 128 MB of address space, for several
// times as many lines as the biggest programs have.
constexpr std::uint32_t kLaterTargets = 1U << 24;

int current_tid() { return static_cast<int>(raw_syscall(SYS_gettid)); }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin < text.size()) {
    std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) end = text.size();
    if (end > begin) lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

// /proc/self/cmdline: arguments, each followed by a NUL.
std::vector<std::string> command_line() {
  std::vector<std::string> arguments;
  FILE* file = fopen("/proc/self/cmdline", "re");
  if (file == nullptr) return arguments;
  char* argument = nullptr;
  size_t room = 0;
  while (getdelim(&argument, &room, '\0', file) > 0) arguments.emplace_back(argument);
  free(argument);
  fclose(file);
  return arguments;
}

// False also when nobody can tell.
bool has_one_thread() {
  DIR* tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return false;
  int count = 0;
  while (const dirent* task = readdir(tasks)) count += task->d_name[0] != '.';
  closedir(tasks);
  return count == 1;
}

}  // namespace

std::atomic<Runtime*> Runtime::active_{nullptr};
thread_local constinit ThreadState* Runtime::thread_state_ = nullptr;

Runtime::Runtime(Config config, SharedState& shared)
    : config_(std::move(config)),
      shared_(shared),
      delay_environment_{
          shared.global_delay, shared.wakers, shared.pending, shared.selection,
          config_.period,      now,           pause_until,    kMostSavedPeriods * config_.period},
      module_thread_(modules_),
      targets_(modules_, call_paths_, shared.regions, config_.granularity),
      samples_(shared.threads, config_.period),
      sampler_(modules_, targets_, {histogram_, speed_probe_, handler_time_}, shared.selection,
               samples_.pauses(), {find_places, find_callers}, config_.period),
      experimenter_(config_, shared, {targets_, call_paths_, modules_},
                    {samples_, histogram_, speed_probe_, handler_time_}, counters_, log_),
      process_(getpid()) {
  if (!config_.load) return;
  shared.amplification.turn_on();
  shared.points.amplify();
}

void Runtime::start() {
  real::prepare();
  auto config = Config::from_environment();
  if (!config) return;
  void* block = mmap(nullptr, sizeof(SharedState), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block == MAP_FAILED) {
    message("no memory for the profiler (%s); the program runs unprofiled", strerror(errno));
    return;
  }
  // Never destroyed: threads may still run while the process goes down.
  alignas(Runtime) static unsigned char storage[sizeof(Runtime)];
  auto* runtime = new (storage) Runtime(std::move(*config), *new (block) SharedState);
  const std::optional<int> socket = runtime->config_.table_socket;
  if (!runtime->begin() && socket) raw_syscall(SYS_close, *socket);
}

bool Runtime::begin() {
  if (!log_.open(config_.output.c_str())) {
    message("cannot write %s (%s); the program runs unprofiled", config_.output.c_str(),
            strerror(errno));
    return false;
  }
  std::vector<std::string> problems;
  const bool by_function = config_.granularity == Granularity::kFunction;
  modules_.load(config_.line_tables, SourceScope(config_.source_scope),
                by_function ? Lineless::kFind : Lineless::kSkip, problems);
  for (const std::string& problem : problems) message("%s", problem.c_str());
  if (!reserve_memory()) {
    message("no memory to count samples (%s); the program runs unprofiled", strerror(errno));
    return false;
  }
  prepare_call_chains();
  // Before our thread is there, which shall have the descriptors of what counts them.
  prepare_points();

  // Before the trap event, which threads created later inherit, and with all signals blocked: the
  // profiler's own thread is neither sampled nor does it take the program's signals.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = pthread_create(&experiments_thread_, nullptr, run_experiments, this);
  const bool started = error == 0 && pthread_key_create(&thread_end_key_, thread_ends) == 0;
  if (started && config_.table_socket) watch_modules();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!started) {
    message("no thread for the experiments could be started (%s); the program runs unprofiled",
            strerror(error));
    return false;
  }

  std::string explanation;
  install_sample_handler();
  const bool sampling = samples_.start(config_.sampling, explanation);
  if (!explanation.empty()) message("%s", explanation.c_str());
  sampler_.drops_kernel_time(samples_.drops_kernel_time());
  set_sample_signal(sampling ? samples_.signal() : 0,
                    breakpoints_.is_empty() ? nullptr : &breakpoints_);
  arm_breakpoints();
  log_.append(describe_run());

  active_.store(this, std::memory_order_release);
  thread_begins(0);
  pthread_atfork(before_fork, after_fork, in_forked_child);
  atexit(finish);
  at_quick_exit(finish);
  return true;
}

bool Runtime::reserve_memory() {
  return histogram_.reserve(targets_.count(), config_.table_socket ? kLaterTargets : 0) &&
         call_paths_.reserve();
}

// All signals are blocked.
void Runtime::watch_modules() {
  const auto make_room = [this](std::uint32_t lines, std::uint32_t functions) {
    return histogram_.grow(targets_.count(lines, functions));
  };
  std::string reason;
  if (module_thread_.start(*config_.table_socket, SourceScope(config_.source_scope), make_room,
                           reason)) {
    return;
  }
  message("libraries that are loaded later cannot be profiled (%s)", reason.c_str());
}

void Runtime::prepare_points() {
  std::vector<std::string> problems;
  for (const PlacedPoint& placed : parse_placed_points(config_.points, problems)) {
    CountedBy by = placed.by;
    const bool counts = prepare_point(placed, by);
    placed_points_.push_back({placed.name, kind_name(placed.kind), counts ? name_of(by) : "none"});
  }
  for (const std::string& problem : problems) message("%s", problem.c_str());
  if (!wanted_breakpoints_.empty()) prepare_breakpoints();
}

void Runtime::prepare_breakpoints() {
  // None of our own threads is there yet. This one is in our constructor, which the dynamic linker
  // has called; another may be anywhere, between the instructions that a jump takes the place of.
  if (has_one_thread()) {
    breakpoints_.use_jumps(prepare_jump_entry(count_jump_visit, time_jump_visit));
  }
  for (const auto& refusal : breakpoints_.prepare(std::move(wanted_breakpoints_))) {
    lose_breakpoint(refusal);
  }
  for (const auto& place : breakpoints_.not_by_jump()) {
    const char* name = place.point->name;
    message("%s: no jump can be set at %#lx; a breakpoint instruction counts its visits instead",
            name, static_cast<unsigned long>(place.address));
    set_counted_by(name, name_of(CountedBy::kBreakpoint));
  }
}

void Runtime::lose_breakpoint(const Breakpoints::Refusal& refusal) {
  const char* name = refusal.wanted.point->name;
  message("%s: no breakpoint can be set at %#lx (%s); visits there are not counted", name,
          static_cast<unsigned long>(refusal.wanted.address), refusal.reason);
  set_counted_by(name, "none");
}

void Runtime::set_counted_by(const char* name, const char* by) {
  for (PointRecord& record : placed_points_) {
    if (record.name == name) record.by = by;
  }
}

// False when its visits cannot be counted. `by` becomes what counts them.
bool Runtime::prepare_point(const PlacedPoint& placed, CountedBy& by) {
  const char* name = placed.name.c_str();
  if (by == CountedBy::kSamples) {
    const auto line = modules_.find_line(placed.name);
    Point* point = line ? shared_.points.find_or_add(placed.kind, name) : nullptr;
    if (point == nullptr) {
      message("%s is not a line of what is loaded; its samples are not counted", name);
      return false;
    }
    point->marks_visits.store(true, std::memory_order_relaxed);
    sampler_.add_point(*line, *point);
    return true;
  }
  const auto loading = find_loading(placed.binary.c_str());
  Point* point = loading ? shared_.points.find_or_add(placed.kind, name) : nullptr;
  if (point == nullptr) {
    message("%s: %s is not loaded at the start; its visits are not counted", name,
            placed.binary.c_str());
    return false;
  }
  std::vector<std::uintptr_t> addresses;
  for (const std::uint64_t address : placed.addresses) {
    addresses.push_back(loading->load_bias + address);
    if (addresses.back() < loading->begin || addresses.back() >= loading->end) {
      message("%s: %s has no code at %#lx; its visits are not counted", name, placed.binary.c_str(),
              static_cast<unsigned long>(address));
      return false;
    }
  }
  if (by == CountedBy::kHardware) {
    const long error = counters_.add(*point, addresses);
    if (error == 0) {
      for (const std::uintptr_t address : addresses) breakpoints_.keep_in_place(address);
      return true;
    }
    message("%s: no hardware breakpoint (%s); a breakpoint instruction counts its visits instead",
            name, strerror(static_cast<int>(-error)));
    by = CountedBy::kBreakpoint;
  }
  point->marks_visits.store(true, std::memory_order_relaxed);
  for (const std::uintptr_t address : addresses) {
    wanted_breakpoints_.push_back({address, point, by == CountedBy::kJump});
  }
  return true;
}

void Runtime::arm_breakpoints() {
  for (const auto& refusal : breakpoints_.arm()) lose_breakpoint(refusal);
}

void* Runtime::run_experiments(void* self) {
  pthread_setname_np(pthread_self(), "coz");
  tighten_timer_slack();
  auto& runtime = *static_cast<Runtime*>(self);
  runtime.experimenter_.run();
  return nullptr;
}

RunRecord Runtime::describe_run() const {
  RunRecord record;
  record.coz_version = config_.version;
  record.time = wall_clock();
  const char* program = getenv("COZ_PROGRAM");
  record.program = program == nullptr ? "" : program;
  record.arguments = command_line();
  if (!record.arguments.empty()) record.arguments.erase(record.arguments.begin());
  record.build_id = modules_.build_id();
  record.sampling = samples_.mode_name();
  record.period = config_.period;
  record.seed = config_.seed;
  cpu_set_t cores;
  record.cores = sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores)
                                                                 : sysconf(_SC_NPROCESSORS_ONLN);
  record.granularity = name_of(config_.granularity);
  record.scope = lines_of(config_.source_scope);
  record.end_to_end = config_.end_to_end;
  for (const TargetName& name : config_.fixed_targets) record.fixed.push_back(location_of(name));
  record.fixed_speedup = config_.fixed_speedup;
  record.speedups = config_.speedups;
  if (config_.load && config_.load->is_known()) record.arrival_speedup = config_.load->delay({});
  record.points = placed_points_;
  return record;
}

void Runtime::finish() {
  Runtime* runtime = active();
  // A child made by vfork shares our memory, but is not the process that is profiled.
  if (runtime == nullptr || raw_syscall(SYS_getpid) != runtime->process_) return;
  if (!active_.compare_exchange_strong(runtime, nullptr)) return;
  runtime->end();
}

void Runtime::end() {
  module_thread_.stop();
  experimenter_.stop();
  COZ_REAL(pthread_join)(experiments_thread_, nullptr);
  experimenter_.finish();
  samples_.stop();
}

void Runtime::thread_begins(Nanoseconds inherited) noexcept {
  ThreadState* thread = shared_.threads.claim(current_tid());
  if (thread == nullptr) {
    if (!told_unsampled_.exchange(true)) {
      message("more than %u threads at once: the further ones run unprofiled",
              ThreadRegistry::kSlots);
    }
    return;
  }
  thread->clock.start_at(inherited);
  thread->arrivals.start_at(now() - inherited);
  thread->kernel.start_at(thread_cpu_time(current_tid()), config_.period);
  thread->pauses_seen = samples_.pauses().count();
  pthread_setspecific(thread_end_key_, thread);
  thread_state_ = thread;
  if (!samples_.start_thread(*thread) && !told_unsampled_.exchange(true)) {
    message(
        "no perf event for a further thread (%s): threads like it take no samples. Raise the "
        "limit with: ulimit -n 65536",
        strerror(-thread->event));
  }
}

void Runtime::arrive(const Point& point, std::optional<ThreadDelays>& delays) noexcept {
  Runtime* runtime = active();
  if (runtime == nullptr || !runtime->shared_.points.is_arrival(point)) return;
  Amplification& amplification = runtime->shared_.amplification;
  if (delays) {
    delays->arrived(amplification);
  } else if (thread_state_ == nullptr) {
    amplification.count_unprofiled();
  }
}

void Runtime::kernel_call_returns(ThreadState& thread, Nanoseconds start,
                                  Nanoseconds end) noexcept {
  Runtime* runtime = active();
  // In the handler it is the unwinder that calls.
  if (runtime == nullptr || thread.in_handler.load(std::memory_order_relaxed)) return;
  ThreadDelays delays(thread, runtime->delay_environment_);
  runtime->sampler_.kernel_call_returns(thread, delays, start, end);
}

// Runs as the thread's last act, whether it returned, called pthread_exit or was cancelled.
void Runtime::thread_ends(void* self) {
  auto* thread = static_cast<ThreadState*>(self);
  Runtime* runtime = active();
  if (runtime != nullptr && thread == thread_state_) {
    ThreadDelays delays(*thread, runtime->delay_environment_);
    thread->blocked.store(false, std::memory_order_relaxed);
    delays.before_ending(static_cast<std::uintptr_t>(pthread_self()));
  }
  thread_state_ = nullptr;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (runtime != nullptr) {
    runtime->samples_.stop_thread(*thread);
    runtime->shared_.threads.release(*thread);
  }
}

void Runtime::before_fork() {
  if (Runtime* runtime = active()) runtime->module_thread_.before_fork();
}

void Runtime::after_fork() {
  if (Runtime* runtime = active()) runtime->module_thread_.after_fork();
}

void Runtime::in_forked_child() {
  Runtime* runtime = active_.exchange(nullptr);
  thread_state_ = nullptr;
  if (runtime == nullptr) return;
  runtime->module_thread_.in_forked_child();
  // The program still counts visits through pointers into the shared block: give the child a
  // block of its own at the same place.
  void* block = &runtime->shared_;
  void* own = mmap(block, sizeof(SharedState), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  // Without memory for it the child's visits count with the parent's; it runs on all the same.
  static_cast<void>(own);
}

}  // namespace coz
