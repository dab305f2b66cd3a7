// The runtime where processes come and go: forks, and the processes of a tree (--tree).
#include <string.h>

#include <cerrno>
#include <functional>
#include <string>

#include "kernel/message.h"
#include "kernel/own_thread.h"
#include "kernel/process_state.h"
#include "lifecycle/forked_start.h"
#include "lifecycle/runtime.h"
#include "lifecycle/tree_file.h"
#include "sampling/sample_cost.h"
#include "signals/program_signals.h"
#include "signals/sample_handler.h"
#include "unwind/stack_walk.h"

namespace coz {

bool Runtime::begin_executed() {
  SharedState& shared = session_.shared;
  const std::string& program = config_.tree_programs[*config_.tree_program];
  shared.tree.runs(*config_.tree_program);
  if (is_elsewhere(shared.tree) || !load_modules()) return false;
  if (!modules_.are_those_loaded()) {
    if (shared.tree.may_say()) {
      message("%s has changed since coz run read it; it runs unprofiled", program.c_str());
    }
    return false;
  }
  if (!agree_on_targets() || threads_.prepare() != 0) return false;
  is_child_ = true;
  const Nanoseconds served = leave_former_program(shared);
  start_sampling();
  Session::open(session_);
  // Its first thread begins alike in all its executions.
  threads_.begin(served, std::hash<std::string>()(program), SampleSource::Age::kForked);
  call_at_forks_and_end();
  return true;
}

void Runtime::join_tree(Nanoseconds inherited, std::uintptr_t kind) noexcept {
  const int saved = errno;
  Runtime& runtime = *runtime_;
  ProcessTree& tree = runtime.session_.shared.tree;
  Session::set_own_process();
  // A handler may have interrupted malloc, which a timer's thread needs.
  const bool starts_thread = runtime.samples_.mode() == Sampling::kTimer;
  if (tree.has_ended() || is_elsewhere(tree) || (starts_thread && is_in_signal_handler())) {
    program_signals.in_forked_child();
    errno = saved;
    return;
  }
  Session::set_object_salt();
  OwnThread::in_forked_child();
  runtime.is_child_ = true;
  tree.join();
  if (const long error = runtime.samples_.start_in_child(); error != 0) {
    message("no samples can be taken in process %d (%s): its delays count, but not what it runs",
            Session::own_process(), strerror(static_cast<int>(-error)));
  }
  Session::open(runtime.session_);
  runtime.threads_.begin(inherited, kind, SampleSource::Age::kForked);
  errno = saved;
}

// In a child that ends by itself.
void Runtime::leave_tree() noexcept {
  const int process = Session::own_process();
  samples_.stop();
  if (ThreadState* thread = Session::registered_thread()) {
    threads_.end_with_process(*thread);
  }
  // Slots of other threads are given back by the experimenter, since they still run.
  session_.shared.tree.leave(processor_time_of(process));
}

// In the first process, when all records are written.
void Runtime::end_tree() {
  ProcessTree& tree = session_.shared.tree;
  tree.end();
  for (std::size_t i = 0; i < config_.tree_programs.size(); ++i) {
    if (tree.has_run(i)) continue;
    message("no process has executed %s (-b), so nothing is known of its lines",
            config_.tree_programs[i].c_str());
  }
}

// In the sample handler. True: there is no first process any more, and no profiling here.
bool Runtime::has_tree_ended() noexcept {
  if (!is_child_ || !session_.shared.tree.look(now(), is_missing)) return false;
  if (Session::close() != nullptr) samples_.stop_in_handler();
  return true;
}

void Runtime::before_fork() {
  Session* session = Session::active();
  forking_.store(session, std::memory_order_relaxed);
  if (session == nullptr) return;
  if (runtime_->config_.tree && !runtime_->is_child_) runtime_->module_thread_.wait_for_lines();
  runtime_->module_thread_.before_fork();
}

void Runtime::after_fork() {
  if (Runtime* runtime = active()) runtime->module_thread_.after_fork();
}

void Runtime::in_forked_child() {
  const bool was_active = forking_.load(std::memory_order_relaxed) != nullptr;
  Session::close();
  ended_early_.store(nullptr, std::memory_order_relaxed);
  Session::set_thread(nullptr);
  if (was_active && runtime_->config_.tree) {
    runtime_->threads_.forget_parent();  // join_tree() follows
  } else {
    Session::set_own_process();
    program_signals.in_forked_child();
  }
  // Otherwise profiling had ended before.
  if (!was_active) return;
  runtime_->module_thread_.in_forked_child();
  close_cost_event_in_forked_child();
}

}  // namespace coz
