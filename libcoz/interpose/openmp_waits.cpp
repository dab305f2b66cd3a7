#include "interpose/openmp_waits.h"

#include <utility>

#include "interpose/object_keys.h"
#include "thread/session.h"

namespace coz::openmp {
namespace {

// What the thread waits for; 0: nothing, as while it runs a task.
thread_local constinit std::uintptr_t awaited __attribute__((tls_model("initial-exec"))) = 0;

// Whoever creates or ends a task releases these.
std::uintptr_t task_created() noexcept { return object(0x9fb21c651e98df25U); }
std::uintptr_t task_ended() noexcept { return object(0xa24baed4963ee407U); }

void begin_wait(ThreadDelays& delays, std::uintptr_t object) noexcept {
  awaited = object;
  delays.before_marked_wait(MarkedWait::kOfOpenMp);
}

void end_wait(ThreadDelays& delays, bool by_thread, std::uintptr_t object) noexcept {
  awaited = 0;
  if (delays.is_in_marked_wait()) {
    delays.after_blocking(by_thread ? WakeSource::kThread : WakeSource::kNone, object);
  } else {
    delays.begin_segment();
  }
}

}  // namespace

std::uintptr_t object(std::uintptr_t number) noexcept { return own_key(made_name(number)); }

void arrive_at(ThreadDelays& delays, std::uintptr_t meeting) noexcept {
  delays.settle();
  delays.record(meeting);
  begin_wait(delays, meeting);
}

void await_tasks(ThreadDelays& delays) noexcept {
  delays.settle();
  begin_wait(delays, task_ended());
}

// The last one at a meeting has not waited.
void end_wait(ThreadDelays& delays) noexcept {
  const bool by_thread = awaited == task_ended() ? delays.was_released_meanwhile(awaited)
                                                 : delays.was_released(awaited);
  end_wait(delays, by_thread, awaited);
}

void begin_share(ThreadDelays& delays, std::uintptr_t begun) noexcept {
  end_wait(delays, true, begun);
}

void before_creating_tasks(ThreadDelays& delays) noexcept {
  delays.before_waking(task_created(), ReleaseTime::kNoted);
}

std::uintptr_t begin_task(std::uintptr_t site) noexcept {
  const std::uintptr_t interrupted = std::exchange(awaited, 0);
  auto delays = Session::current_delays();
  if (!delays) return interrupted;
  delays->called_from(site);
  end_wait(*delays, delays->was_released_meanwhile(task_created()), task_created());
  return interrupted;
}

void end_task(std::uintptr_t interrupted) noexcept {
  awaited = interrupted;
  auto delays = Session::current_delays();
  if (!delays) return;
  delays->before_waking(task_ended(), ReleaseTime::kNoted);
  if (interrupted == 0) return;
  if (interrupted != task_ended()) delays->record(interrupted);  // it arrives once more
  begin_wait(*delays, interrupted);
}

}  // namespace coz::openmp
