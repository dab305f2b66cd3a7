#include "lifecycle/runtime.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <new>

#include "common/raw_syscall.h"
#include "interpose/last_thread.h"
#include "kernel/message.h"
#include "kernel/own_thread.h"
#include "kernel/real.h"
#include "sampling/call_chain.h"
#include "sampling/sample_cost.h"
#include "signals/sample_signal.h"

namespace coz {
namespace {

// Lines or functions of modules that come after the start: 128 MB of address space, for several
// times as many lines as the biggest programs have.
constexpr std::uint32_t kLaterTargets = 1U << 24;

// Seconds for the last records; they take milliseconds.
constexpr time_t kMaxEndTime = 10;

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

}  // namespace

constinit OwnPage<std::atomic<Runtime*>> Runtime::active_;
std::atomic<Runtime*> Runtime::forking_{nullptr};
std::atomic<Runtime*> Runtime::ended_early_{nullptr};
std::atomic<int> Runtime::process_{0};
thread_local constinit ThreadState* Runtime::thread_state_ = nullptr;

Runtime::Runtime(Config config, SharedState& shared)
    : config_(std::move(config)),
      shared_(shared),
      delay_environment_{
          shared.global_delay, shared.wakers, shared.pending, shared.selection,
          config_.period,      now,           pause_until,    kMaxSavedPeriods * config_.period},
      module_thread_(modules_),
      targets_(modules_, call_paths_, shared.regions, config_.granularity),
      samples_(shared.threads, config_.period),
      sampler_(modules_, targets_, {histogram_, speed_probe_, handler_time_}, shared.selection,
               samples_.pauses(), {find_frames, find_calling_frames}, config_.period),
      experimenter_(config_, shared, {targets_, call_paths_, modules_},
                    {samples_, histogram_, speed_probe_, handler_time_}, counters_, log_) {
  process_ = getpid();
  if (!config_.load) return;
  shared.amplification.turn_on();
  shared.points.amplify();
}

SharedState* Runtime::make_shared_state() {
  void* block = mmap(nullptr, sizeof(SharedState), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block != MAP_FAILED) return new (block) SharedState;
  message("no memory for the profiler (%s); the program runs unprofiled", strerror(errno));
  return nullptr;
}

void Runtime::start() {
  real::prepare();
  if (auto forked = Forked::from_environment()) return wait_for_fork(std::move(*forked));
  auto config = Config::from_environment();
  if (!config) return;
  if (SharedState* shared = make_shared_state()) start_with(std::move(*config), *shared);
}

void Runtime::start_with(Config config, SharedState& shared) {
  // A child's visits do not count as ours, though it makes them through the same pointers.
  keep_from_children(&shared, sizeof shared);
  keep_from_children(&active_, sizeof active_);
  // Never destroyed: threads may still run while the process goes down.
  alignas(Runtime) static unsigned char storage[sizeof(Runtime)];
  auto* runtime = new (storage) Runtime(std::move(config), shared);
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
  experimenter_.hand_over_descriptors();

  active_.value.store(this, std::memory_order_release);
  thread_begins(0, 0);
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

void* Runtime::run_experiments(void* self) {
  const OwnThread own;
  pthread_setname_np(pthread_self(), "coz");
  tighten_timer_slack();
  auto& runtime = *static_cast<Runtime*>(self);
  runtime.experimenter_.take_descriptors();
  runtime.experimenter_.run();
  runtime.experimenter_.wait_for_stop();
  const bool is_early = runtime.leave_program();
  runtime.experimenter_.finish();
  if (is_early) runtime.detach();
  return nullptr;
}

RunRecord Runtime::describe_run() const {
  RunRecord record;
  record.coz_version = config_.version;
  record.time = wall_clock();
  record.program = config_.program;
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

bool Runtime::is_in_own_process() noexcept { return raw_syscall(SYS_getpid) == process_; }

void Runtime::finish() {
  Runtime* runtime = active();
  if (!is_in_own_process()) return;
  if (runtime != nullptr && active_.value.compare_exchange_strong(runtime, nullptr)) {
    runtime->end();
    return;
  }
  // The last records may be on their way.
  runtime = ended_early_.exchange(nullptr);
  if (runtime != nullptr) runtime->join_experiments();
}

void Runtime::end() {
  module_thread_.stop();
  experimenter_.stop();
  join_experiments();
  samples_.stop();
}

// A handler of the program's may have called _exit amid malloc, whose lock is then held for ever:
// the thread, which writes the last records, may never get there.
void Runtime::join_experiments() {
  timespec limit = {};
  clock_gettime(CLOCK_MONOTONIC, &limit);
  limit.tv_sec += kMaxEndTime;
  COZ_REAL(pthread_clockjoin_np)(experiments_thread_, nullptr, CLOCK_MONOTONIC, &limit);
}

// In our thread, when profiling is to end. False: the program ends just now, and waits for us.
bool Runtime::leave_program() {
  ended_early_.store(this, std::memory_order_release);
  Runtime* runtime = this;
  if (!active_.value.compare_exchange_strong(runtime, nullptr)) {
    ended_early_.store(nullptr, std::memory_order_release);
    return false;
  }
  shared_.selection.clear();
  module_thread_.stop();
  return true;
}

// Threads that are in the middle of a wrapper or of a pause still use our state, which stays.
void Runtime::detach() {
  counters_.stop();
  if (!breakpoints_.disarm()) {
    message(
        "breakpoints stay in the code, which the system does not allow to be changed any more: "
        "visits to progress points still cost the program time");
  }
  // The program's descriptors are not this thread's: closing the event here would not end it.
  samples_.pause();
  samples_.stop();
}

void Runtime::end_samples_of_thread() noexcept {
  if (thread_state_ != nullptr) SampleSource::stop_thread(*thread_state_);
}

void Runtime::thread_begins(Nanoseconds inherited, SignalBits blocked) noexcept {
  static_assert(withheld::kMaxThreads >= ThreadRegistry::kSlots);
  ThreadState* thread = shared_.threads.claim(current_tid());
  if (thread == nullptr) {
    if (!warned_unsampled_.exchange(true)) {
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
  withheld::begin(thread->slot, our_signals(), blocked);
  if (!samples_.start_thread(*thread) && !warned_unsampled_.exchange(true)) {
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
    delays->arrived(amplification, thread_cpu_time(current_tid()));
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
  SampleSource::stop_thread(*thread);
  withheld::end(never_blocked());
  if (runtime != nullptr) {
    if (current_tid() == process_ && !exit_after_the_last()) {
      message(
          "the main thread has left, and no thread could be started that sees the last one end");
    }
    runtime->shared_.threads.release(*thread);
  }
}

void Runtime::before_fork() {
  Runtime* runtime = active();
  forking_.store(runtime, std::memory_order_relaxed);
  if (runtime != nullptr) runtime->module_thread_.before_fork();
}

void Runtime::after_fork() {
  if (Runtime* runtime = active()) runtime->module_thread_.after_fork();
}

void Runtime::in_forked_child() {
  Runtime* runtime = forking_.load(std::memory_order_relaxed);
  active_.value.store(nullptr, std::memory_order_relaxed);
  ended_early_.store(nullptr, std::memory_order_relaxed);
  thread_state_ = nullptr;
  withheld::in_forked_child(never_blocked());
  process_ = getpid();
  if (runtime == nullptr) {
    // It has ended before the program.
    if (sample_signal() != 0) give_back_signals();
    return;
  }
  runtime->module_thread_.in_forked_child();
  close_cost_event_in_forked_child();
  give_back_signals();
}

}  // namespace coz
