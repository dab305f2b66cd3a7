#include "lifecycle/runtime.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <new>

#include "common/raw_syscall.h"
#include "kernel/message.h"
#include "kernel/own_thread.h"
#include "kernel/process_state.h"
#include "kernel/real.h"
#include "lifecycle/forked_start.h"
#include "lifecycle/point_totals.h"
#include "lifecycle/run_record.h"
#include "lifecycle/tree_file.h"
#include "sampling/call_chain.h"
#include "signals/program_signals.h"
#include "signals/sample_handler.h"
#include "symbols/loader_listing.h"

namespace coz {
namespace {

// Lines or functions of modules that are loaded later: 256 MB of address space, for several times
// as many lines as the biggest programs have.
constexpr std::uint32_t kLaterTargets = 1U << 24;

// Seconds for the last records; they take milliseconds.
constexpr time_t kMaxEndTime = 10;

}  // namespace

Runtime* Runtime::runtime_ = nullptr;
std::atomic<Session*> Runtime::forking_{nullptr};
std::atomic<Runtime*> Runtime::ended_early_{nullptr};

Runtime::Runtime(Config config, SharedState& shared, SampleCounts& counts, SharedFile file)
    : config_(std::move(config)),
      // Return addresses differ from one execution to the next, and there is room for few.
      session_(shared, config_.period,
               {config_.waits != WaitTargets::kNone, !config_.load && !config_.is_executed,
                config_.busy_pauses},
               run_timer),
      module_thread_(modules_),
      targets_(modules_, call_paths_, shared.regions, shared.wait_sites, config_.granularity),
      counts_(counts),
      joint_(std::move(file)),
      waits_(modules_, targets_, counts_.histogram, shared.lock_waits, config_.waits,
             config_.period),
      samples_(shared.threads, shared.lives, config_.period),
      sampler_(modules_, targets_, counts_, shared.selection, samples_.pauses(),
               {find_frames, find_calling_frames}, config_.period),
      point_setup_(modules_, shared.points, sampler_),
      experimenter_(config_, shared, {targets_, call_paths_, modules_, waits_}, samples_, counts_,
                    point_setup_.counters(), log_),
      threads_(session_, samples_) {
  if (config_.load) shared.points.amplify();
  // A pause would stop the samples of this process only.
  if (config_.tree || !config_.joint.empty()) samples_.never_pause();
  if (config_.is_executed) samples_.begin_in_child();
  if (config_.tree) point_setup_.counters().follow_children();
}

namespace {

// nullptr, after a message, if there is no memory.
template <typename Object>
Object* make(Sharing sharing) {
  void* block = map_zeroed(sizeof(Object), sharing);
  if (block != nullptr) return new (block) Object;
  message("no memory for the profiler (%s); the program runs unprofiled", strerror(errno));
  return nullptr;
}

}  // namespace

SharedState* Runtime::make_shared_state(Sharing sharing) { return make<SharedState>(sharing); }

void Runtime::start_once() noexcept {
  constinit static std::atomic<bool> has_begun = false;
  if (has_begun.load(std::memory_order_relaxed) || gettid() != getpid()) return;
  has_begun.store(true, std::memory_order_relaxed);
  start();
}

void Runtime::start() {
  real::prepare();
  if (PointTotals::is_wanted() || ForkedStart::is_wanted()) return;
  auto config = Config::from_environment();
  if (!config) return;
  SharedFile file;
  SharedState* shared = nullptr;
  if (!config->tree_file.empty()) {
    shared = config->is_executed ? find_tree(*config, file) : begin_tree(*config, file);
  }
  if (config->tree_file.empty()) {
    shared = make_shared_state(config->tree ? Sharing::kShared : Sharing::kCopied);
  }
  if (shared != nullptr) start_with(std::move(*config), *shared, std::move(file));
}

void Runtime::start_with(Config config, SharedState& shared, SharedFile file) {
  SampleCounts* counts = make<SampleCounts>(config.tree ? Sharing::kShared : Sharing::kCopied);
  if (counts == nullptr) return;
  if (void* probe = file.is_open() ? file.map_next(sizeof(SpeedProbe)) : nullptr) {
    counts->speed_probe =
        config.is_executed ? static_cast<SpeedProbe*>(probe) : new (probe) SpeedProbe;
  }
  Session::keep_from_children();
  Session::set_own_process();
  if (config.tree) {
    if (!config.is_executed) shared.tree.begin(Session::own_process());
    if (!config.is_executed && config.tree_program) shared.tree.runs(*config.tree_program);
    Session::set_object_salt();
  } else {
    // A child makes its visits through the same pointers; they must not count as ours.
    keep_from_children(&shared.tree, sizeof shared - sizeof(JointState));
    if (config.joint.empty()) keep_from_children(&shared, sizeof(JointState));
  }
  if (!config.joint.empty()) Session::set_joint();
  // Never destroyed: threads may still run while the process ends.
  alignas(Runtime) static unsigned char storage[sizeof(Runtime)];
  runtime_ = new (storage) Runtime(std::move(config), shared, *counts, std::move(file));
  const std::optional<int> socket = runtime_->config_.table_socket;
  const bool is_executed = runtime_->config_.is_executed;
  if (is_executed ? runtime_->begin_executed() : runtime_->begin()) return;
  if (!is_executed) shared.tree.end();
  runtime_->joint_.file().close();
  if (socket) raw_syscall(SYS_close, *socket);
}

// The order matters: what counts visits is there before the experiments' thread, which takes its
// descriptors; and that thread before the trap event, which threads created later inherit.
bool Runtime::begin() {
  if (!log_.open(config_.output.c_str())) {
    message("cannot write %s (%s); the program runs unprofiled", config_.output.c_str(),
            strerror(errno));
    return false;
  }
  if (!joint_.join(config_, session_.shared) || !load_modules()) return false;
  if (!agree_on_targets()) return false;
  if (has_other_threads()) {
    message(
        "the program has threads that Coz did not see begin: they are neither sampled nor held "
        "up, so distrust the effects of lines that run beside them");
  }
  point_setup_.prepare(config_.points);
  if (!start_threads()) return false;
  start_sampling();
  log_.append(describe_run(config_, modules_, samples_, point_setup_.records()));
  experimenter_.hand_over_descriptors();
  Session::open(session_);
  threads_.begin_first();
  call_at_forks_and_end();
  return true;
}

bool Runtime::agree_on_targets() {
  const std::string program = modules_.build_id() + '\n' + std::to_string(targets_.count());
  return joint_.agree(config_, program, session_.shared);
}

void Runtime::call_at_forks_and_end() {
  pthread_atfork(before_fork, after_fork, in_forked_child);
  atexit(finish);
  at_quick_exit(finish);
}

bool Runtime::load_modules() {
  std::vector<std::string> problems;
  const bool by_function = config_.granularity == Granularity::kFunction;
  modules_.load(config_.line_tables, SourceScope(config_.source_scope),
                by_function ? Lineless::kFind : Lineless::kSkip,
                config_.tree_file.empty() ? Modules::Absent::kSkip : Modules::Absent::kNumber,
                problems);
  if (!config_.is_executed) {
    for (const std::string& problem : problems) message("%s", problem.c_str());
  }
  if (reserve_counts() && call_paths_.reserve(sharing()) &&
      (config_.companion_dose == 0 || session_.mixes.reserve(ThreadRegistry::kSlots))) {
    return true;
  }
  message("no memory to count samples (%s); the program runs unprofiled", strerror(errno));
  return false;
}

bool Runtime::reserve_counts() {
  if (joint_.is_on()) return counts_.histogram.reserve(targets_.count(), joint_.file());
  return counts_.histogram.reserve(targets_.count(), config_.table_socket ? kLaterTargets : 0,
                                   sharing());
}

bool Runtime::start_threads() {
  if (point_setup_.breakpoints() != nullptr) OwnThread::let_traps_come();
  int error = start_own_thread(experiments_thread_, run_experiments, this);
  if (error == 0) error = threads_.prepare();
  if (error != 0) {
    message("no thread for the experiments could be started (%s); the program runs unprofiled",
            strerror(error));
    return false;
  }
  if (config_.table_socket) watch_modules();
  return true;
}

void Runtime::watch_modules() {
  const auto make_room = [this](std::uint32_t lines, std::uint32_t functions) {
    return counts_.histogram.grow(targets_.count(lines, functions));
  };
  std::string reason;
  if (module_thread_.start(*config_.table_socket, SourceScope(config_.source_scope), make_room,
                           reason)) {
    return;
  }
  message("libraries that are loaded later cannot be profiled (%s)", reason.c_str());
}

void Runtime::start_sampling() {
  std::string explanation;
  install_sample_handler(take_sample);
  // With breakpoint instructions, SIGTRAP cannot be blocked in calls that have a mask of their own
  // (mask_of_wait), which a sample in the kernel would end. It would end waits of io_uring, too.
  const bool may_end_calls = point_setup_.breakpoints() != nullptr || is_loaded("/liburing");
  const KernelMode best = may_end_calls ? KernelMode::kExcluded : KernelMode::kIncluded;
  const bool sampling = samples_.start(config_.sampling, best, explanation);
  // The launched program has said why there is no better way.
  if (!explanation.empty() && !(sampling && config_.is_executed)) {
    message("%s", explanation.c_str());
  }
  sampler_.set_in_kernel(samples_.in_kernel());
  if (samples_.mode() == Sampling::kPerfTrap) sampler_.set_before_pausing(let_signals_come);
  set_sample_signal(sampling ? samples_.signal() : 0, point_setup_.breakpoints());
  point_setup_.arm();
}

void* Runtime::run_experiments(void* self) {
  const OwnThread own("coz");
  wake_on_time();
  auto& runtime = *static_cast<Runtime*>(self);
  runtime.session_.shared.tree.set_experimenter(static_cast<int>(raw_syscall(SYS_gettid)));
  runtime.experimenter_.take_descriptors();
  runtime.experimenter_.run();
  runtime.experimenter_.wait_for_stop();
  const bool is_early = runtime.leave_program();
  runtime.experimenter_.finish();
  if (runtime.config_.tree) runtime.end_tree();
  if (is_early) runtime.detach();
  return nullptr;
}

void Runtime::finish() {
  if (!Session::is_in_own_process()) return;
  // A thread that has been cancelled may end the process nevertheless; joining would act on it.
  int cancels = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancels);
  if (Session::close() != nullptr) {
    runtime_->end();
  } else if (Runtime* runtime = ended_early_.exchange(nullptr)) {
    runtime->join_experiments();  // which may still be writing the last records
  }
  pthread_setcancelstate(cancels, nullptr);
}

void Runtime::end() {
  if (is_child_) {
    leave_tree();
    return;
  }
  module_thread_.stop();
  experimenter_.stop();
  join_experiments();
  // Other ranks may go on, and would obey the last window for ever.
  if (!config_.follows) session_.shared.selection.clear();
  samples_.stop();
}

// A handler of the program may have called _exit inside malloc, whose lock is then held for ever:
// the thread, which writes the last records, may never end.
void Runtime::join_experiments() {
  timespec limit = {};
  clock_gettime(CLOCK_MONOTONIC, &limit);
  limit.tv_sec += kMaxEndTime;
  COZ_REAL(pthread_clockjoin_np)(experiments_thread_, nullptr, CLOCK_MONOTONIC, &limit);
}

// In the experiments' thread, when profiling is to end. False: the program ends just now, and waits
// for this thread.
bool Runtime::leave_program() {
  ended_early_.store(this, std::memory_order_release);
  if (Session::close() == nullptr) {
    ended_early_.store(nullptr, std::memory_order_release);
    return false;
  }
  if (!config_.follows) session_.shared.selection.clear();
  module_thread_.stop();
  return true;
}

// Threads that are inside a wrapper or a pause still use our state, which stays.
void Runtime::detach() {
  point_setup_.stop();
  // This thread has descriptors of its own: to close the event here would not end it.
  samples_.disable();
  samples_.stop();
}

void Runtime::take_sample(void* context, const SampleSignal& signal) noexcept {
  ThreadState* thread = Session::registered_thread();
  if (thread == nullptr) return;
  Runtime* runtime = active();
  if (runtime == nullptr) {
    SampleSource::stop_thread(*thread);
    return;
  }
  if (runtime->has_tree_ended()) return;
  int samples = runtime->samples_.takes(*thread, signal);
  if (samples == 0) return;
  thread->in_handler.store(true, std::memory_order_relaxed);
  ThreadDelays delays(thread->delay, runtime->session_.delays);
  for (; samples > 0; --samples) {
    ++thread->samples;
    runtime->sampler_.sample(context, signal.is_late, *thread, delays);
  }
  thread->in_handler.store(false, std::memory_order_relaxed);
}

void Runtime::hold_samples(bool holds) noexcept {
  if (!Session::is_in_own_process()) return;
  if (Runtime* runtime = active()) runtime->samples_.hold(holds);
  // A thread's own event lives on when the profiler has stopped, until its next sample.
  if (ThreadState* thread = Session::registered_thread()) SampleSource::hold(*thread, holds);
}

void Runtime::run_timer(bool runs) noexcept {
  Runtime* runtime = active();
  ThreadState* thread = Session::registered_thread();
  if (runtime != nullptr && thread != nullptr) runtime->samples_.run_timer(*thread, runs);
}

void Runtime::kernel_call_returns(ThreadState& thread, Nanoseconds start,
                                  Nanoseconds end) noexcept {
  Runtime* runtime = active();
  // The handler, which a handler of the program's may have interrupted, counts the same periods.
  if (runtime == nullptr || thread.in_handler.load(std::memory_order_relaxed)) return;
  ThreadDelays delays(thread.delay, runtime->session_.delays);
  runtime->sampler_.kernel_call_returns(thread, delays, start, end);
}

void Runtime::take_missed_ticks(ThreadState& thread) noexcept {
  if (Runtime* runtime = active()) runtime->samples_.take_missed_ticks(thread);
}

Waits::Wait Runtime::enter_wait(ThreadDelays& delays, WaitClass wait_class, const AwaitedLock* lock,
                                Nanoseconds deadline) noexcept {
  Runtime* runtime = active();
  if (runtime == nullptr) return {};
  return runtime->waits_.enter(wait_class, lock, deadline, delays);
}

// Also when profiling has ended meanwhile: the runtime is never destroyed.
void Runtime::leave_wait(ThreadDelays& delays, const Waits::Wait& wait) noexcept {
  if (wait.target != kNoTarget) runtime_->waits_.leave(wait, delays);
}

}  // namespace coz
