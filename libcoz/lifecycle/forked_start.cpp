#include "lifecycle/forked_start.h"

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

bool is_pipe(const Forked& forked) noexcept {
  struct stat status{};
  return forked.pipe >= 0 && fstat(forked.pipe, &status) == 0 && S_ISFIFO(status.st_mode) &&
         status.st_ino == forked.inode;
}

}  // namespace

ForkedStart::Waiting* ForkedStart::waiting_ = nullptr;

SharedState* ForkedStart::registries() noexcept {
  if (Session* session = Session::active()) return &session->shared;
  return waiting_ == nullptr ? nullptr : &waiting_->shared;
}

bool ForkedStart::is_wanted() {
  auto forked = Forked::from_environment();
  if (!forked) return false;
  // In a program that has executed itself anew the number may be another file's.
  if (!is_pipe(*forked)) forked->pipe = -1;
  if (forked->pipe >= 0) forked->pipe = move_high(forked->pipe);
  remember_loadings();
  SharedState* shared = Runtime::make_shared_state();
  // For as long as the process lives.
  if (shared != nullptr) waiting_ = new Waiting{std::move(*forked), *shared};
  return true;
}

void ForkedStart::in_child() noexcept {
  if (waiting_ == nullptr) return;
  const Waiting& waiting = *waiting_;
  waiting.shared.points.release_lock();
  waiting.shared.operations.release_lock();
  waiting.shared.regions.release_lock();
  if (--waiting_->forked.generations > 0) return;
  waiting_ = nullptr;
  const int saved = errno;
  // In programs of one thread fork() does not take malloc's locks, and a handler may have
  // interrupted malloc.
  if (!is_in_signal_handler()) {
    if (const auto answer = request_attach_at(waiting.forked.socket_path)) {
      waiting.shared.points.forget_visits();
      waiting.shared.operations.forget();
      Runtime::start_with(Config::from_attach_answer(*answer), waiting.shared);
    }
  }
  // Only now: without the pipe, `coz run` knows that no process is left that may still ask. The
  // program may have closed it.
  if (is_pipe(waiting.forked)) raw_syscall(SYS_close, waiting.forked.pipe);
  errno = saved;
}

}  // namespace coz
