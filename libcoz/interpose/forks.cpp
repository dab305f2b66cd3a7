// Forking: a child may be profiled with its parent (--tree), or be the process to profile
// (COZ_FORKED). _Fork() and clone() have no wrapper, since in the child of a signal handler nothing
// else may be called.
#include <fcntl.h>
#include <pty.h>
#include <unistd.h>

#include "interpose/export.h"
#include "kernel/real.h"
#include "lifecycle/forked_start.h"
#include "lifecycle/runtime.h"
#include "thread/session.h"

namespace {

// `call` returns 0 in the child. The parent pays before, as a thread does that creates another, and
// the child begins with what it has served. The parent's state is in memory that both share, so
// that the child must leave it alone.
template <typename Call>
COZ_WRAPPER_PART auto fork_by(Call call) {
  auto delays = coz::Session::current_delays();
  if (!delays || !coz::Runtime::takes_children()) {
    const auto result = call();
    if (result == 0) coz::ForkedStart::in_child();
    return result;
  }
  delays->settle();
  const coz::Nanoseconds served = delays->local();
  const std::uintptr_t site = delays->site();
  const auto result = call();
  if (result == 0) {
    coz::Runtime::join_tree(served, site);
  } else {
    delays->begin_segment();
  }
  return result;
}

// Standard input, output and errors lead nowhere. False: with errno.
bool become_silent() noexcept {
  const int null = open("/dev/null", O_RDWR);
  if (null < 0) return false;
  for (int standard = 0; standard <= 2; ++standard) dup2(null, standard);
  if (null > 2) close(null);
  return true;
}

}  // namespace

COZ_EXPORT pid_t fork() noexcept {
  return fork_by([] { return COZ_REAL(fork)(); });
}

// As libc does it. Its own would end the parent past our wrapper of _exit(), and with it what is
// not written yet.
COZ_EXPORT int daemon(int keeps_folder, int keeps_descriptors) noexcept {
  const pid_t child = fork();
  if (child < 0) return -1;
  if (child > 0) _exit(0);
  if (setsid() < 0) return -1;
  if (keeps_folder == 0) static_cast<void>(!chdir("/"));
  return keeps_descriptors != 0 || become_silent() ? 0 : -1;
}

COZ_EXPORT int forkpty(int* controller, char* name, const termios* settings,
                       const winsize* size) noexcept {
  return fork_by([=] { return COZ_REAL(forkpty)(controller, name, settings, size); });
}
