// Where a child of the program is to be profiled (COZ_FORKED): the program itself waits for it, and
// the child asks `coz run`, which takes one at a time (runtime.h, lifecycle/attach_request.h).
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "common/high_descriptor.h"
#include "common/raw_syscall.h"
#include "lifecycle/runtime.h"
#include "unwind/stack_walk.h"

namespace coz {
namespace {

constexpr int kMaxFrames = 256;

bool is_pipe(const Forked& forked) noexcept {
  struct stat status{};
  return forked.pipe >= 0 && fstat(forked.pipe, &status) == 0 && S_ISFIFO(status.st_mode) &&
         status.st_ino == forked.inode;
}

// A handler may have interrupted malloc, whose state it may fork, but not use. That is so in
// programs of one thread, for which fork() does not take malloc's locks.
[[gnu::noinline]] bool is_in_signal_handler() noexcept {
  StackWalk walk(current_registers(), true);
  for (int frame = 0; frame < kMaxFrames && walk.step(); ++frame) {
    if (walk.is_interrupted()) return true;
  }
  return false;
}

}  // namespace

Runtime::Waiting* Runtime::waiting_ = nullptr;

SharedState* Runtime::registries() noexcept {
  if (Runtime* runtime = active()) return &runtime->shared_;
  return waiting_ == nullptr ? nullptr : &waiting_->shared;
}

// Before main.
void Runtime::wait_for_fork(Forked forked) {
  // Not there in a program that has executed itself anew: the number may be another file's.
  if (!is_pipe(forked)) forked.pipe = -1;
  if (forked.pipe >= 0) forked.pipe = move_high(forked.pipe);
  remember_loadings();
  SharedState* shared = make_shared_state();
  // For as long as the process lives.
  if (shared != nullptr) waiting_ = new Waiting{std::move(forked), *shared};
}

// No other thread is there.
void Runtime::forked() noexcept {
  if (waiting_ == nullptr) return;
  const Waiting& waiting = *waiting_;
  waiting.shared.points.release_lock();
  waiting.shared.regions.release_lock();
  if (--waiting_->forked.generations > 0) return;
  waiting_ = nullptr;
  const int saved = errno;
  if (!is_in_signal_handler()) {
    if (const auto claim = request_attach_at(waiting.forked.claims)) {
      waiting.shared.points.forget_visits();
      start_with(Config::from_attach_answer(*claim), waiting.shared);
    }
  }
  // Not before: without it, nobody who may still ask is left. The program may have closed it.
  if (is_pipe(waiting.forked)) raw_syscall(SYS_close, waiting.forked.pipe);
  errno = saved;
}

}  // namespace coz
