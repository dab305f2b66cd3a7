// OpenMP by GCC's libgomp, whose threads wait by spinning, and by futex instructions of its own.
//
// A thread of a team waits from the end of its share of a parallel region until the next region,
// or, if it began the region, until all others have ended theirs: each share is run by run_share(),
// which knows both ends. Barriers and critical sections are wrapped as those of POSIX are. Samples
// in all these waits are in no target.
//
// Threads run tasks while they wait at barriers: a program that makes tasks is left alone from its
// first one on. So is one whose library serves LLVM's interface, too. Not known are `ordered` and
// locks (omp_set_lock).
#include <atomic>
#include <cstdint>
#include <utility>

#include "interpose/blocking.h"
#include "interpose/export.h"
#include "kernel/openmp_library.h"

extern "C" {
// As GCC calls them: no header declares them.
// clang-format off
void GOMP_parallel(void (*)(void*), void*, unsigned, unsigned);
unsigned GOMP_parallel_reductions(void (*)(void*), void*, unsigned, unsigned);
void GOMP_parallel_sections(void (*)(void*), void*, unsigned, unsigned, unsigned);
void GOMP_parallel_loop_static(void (*)(void*), void*, unsigned, long, long, long, long, unsigned);
void GOMP_parallel_loop_dynamic(void (*)(void*), void*, unsigned, long, long, long, long, unsigned);
void GOMP_parallel_loop_guided(void (*)(void*), void*, unsigned, long, long, long, long, unsigned);
void GOMP_parallel_loop_nonmonotonic_dynamic(void (*)(void*), void*, unsigned, long, long, long, long, unsigned);
void GOMP_parallel_loop_nonmonotonic_guided(void (*)(void*), void*, unsigned, long, long, long, long, unsigned);
void GOMP_parallel_loop_runtime(void (*)(void*), void*, unsigned, long, long, long, unsigned);
void GOMP_parallel_loop_nonmonotonic_runtime(void (*)(void*), void*, unsigned, long, long, long, unsigned);
void GOMP_parallel_loop_maybe_nonmonotonic_runtime(void (*)(void*), void*, unsigned, long, long, long, unsigned);
// clang-format on
void GOMP_barrier();
bool GOMP_barrier_cancel();
void GOMP_loop_end();
bool GOMP_loop_end_cancel();
void GOMP_sections_end();
bool GOMP_sections_end_cancel();
void GOMP_critical_start();
void GOMP_critical_end();
void GOMP_critical_name_start(void**);
void GOMP_critical_name_end(void**);
using CopyArguments = void (*)(void*, void*);
void GOMP_task(void (*)(void*), void*, CopyArguments, long, long, bool, unsigned, void**, int,
               void*);
void GOMP_taskloop(void (*)(void*), void*, CopyArguments, long, long, unsigned, unsigned long, int,
                   long, long, long);
void GOMP_taskloop_ull(void (*)(void*), void*, CopyArguments, long, long, unsigned, unsigned long,
                       int, unsigned long, unsigned long, unsigned long);
}

namespace coz {
namespace {

using Share = void (*)(void*);

// A parallel region, on the stack of the thread that begins it: it lasts until all have ended
// their shares.
struct Region {
  void* reductions;  // of task reductions: the library takes it from the beginning of the data
  Share share;
  void* data;
  const OpenMpLibrary* library;
  Region* const* creator;  // the address of its `current_region`

  // What the thread that begins it releases; what each thread does at the end of its share, and at
  // a barrier inside.
  std::uintptr_t begun() const noexcept { return object(0xb5ad4eceda1ce2a9U); }
  std::uintptr_t ended() const noexcept { return object(0xc58efd154ce32f6dU); }
  std::uintptr_t barrier() const noexcept { return object(0xd1310ba698dfb5acU); }

 private:
  std::uintptr_t object(std::uintptr_t kind) const noexcept {
    return own_key(reinterpret_cast<std::uintptr_t>(this) ^ kind);
  }
};

// The innermost one whose share the thread runs.
thread_local constinit Region* current_region __attribute__((tls_model("initial-exec"))) = nullptr;

std::atomic<bool> makes_tasks{false};

// A thread that waits now may run the task, and is at work then: its next sample ends its wait.
void before_first_task() noexcept {
  if (makes_tasks.exchange(true)) return;
  const Session* session = Session::active();
  if (session == nullptr) return;
  session->shared.threads.for_each([](ThreadState& thread) { thread.delay.tasks_exist = true; });
}

// The last thread to arrive did not wait.
WakeSource wake_source_at(const ThreadDelays& delays, std::uintptr_t meeting) noexcept {
  return delays.was_released(meeting) ? WakeSource::kThread : WakeSource::kNone;
}

void arrive_at(ThreadDelays& delays, std::uintptr_t meeting) noexcept {
  delays.settle();
  delays.record(meeting);
  if (makes_tasks.load()) return;
  delays.before_marked_wait(MarkedWait::kWithTasks);
  // Another thread may have made the first task just now, and not have seen this one wait.
  if (makes_tasks.load() && delays.is_in_marked_wait()) {
    delays.after_blocking(WakeSource::kNone, kNoObject);
  }
}

void leave(ThreadDelays& delays, std::uintptr_t meeting) noexcept {
  if (delays.is_in_marked_wait()) delays.after_blocking(wake_source_at(delays, meeting), meeting);
}

void begin_share(const Region& region) noexcept {
  auto delays = Session::current_delays();
  if (!delays) return;
  delays->called_from(reinterpret_cast<std::uintptr_t>(region.share));
  if (delays->is_in_marked_wait()) {
    delays->after_blocking(WakeSource::kThread, region.begun());
  } else {
    delays->begin_segment();
  }
}

void end_share(const Region& region) noexcept {
  if (auto delays = Session::current_delays()) arrive_at(*delays, region.ended());
}

void run_share(void* passed) {
  Region& region = *static_cast<Region*>(passed);
  if (region.creator != &current_region) begin_share(region);
  Region* const outer = std::exchange(current_region, &region);
  region.share(region.data);
  current_region = outer;
  end_share(region);
}

// `begin(share, data)` is the real call.
template <typename Begin>
COZ_WRAPPER_PART auto run_region(const OpenMpLibrary& library, Share share, void* data,
                                 void* reductions, Begin begin) {
  auto delays = Session::current_delays();
  if (!delays || library.has_other_callers()) return begin(share, data);
  Region region{reductions, share, data, &library, &current_region};
  struct Afterwards {
    const Region& region;
    std::uintptr_t site;
    ~Afterwards() {
      auto now = Session::current_delays();  // a share may have forked
      if (!now) return;
      now->called_from(site);
      leave(*now, region.ended());
    }
  } const afterwards{region, delays->site()};
  delays->called_from(reinterpret_cast<std::uintptr_t>(share));  // this code segment is its share
  delays->before_waking(region.begun(), ReleaseTime::kNoted);
  return begin(run_share, static_cast<void*>(&region));
}

template <typename Meet>
COZ_WRAPPER_PART auto meet(const OpenMpLibrary& library, Meet meet_others) {
  auto delays = Session::current_delays();
  if (!delays || current_region == nullptr || current_region->library != &library) {
    return meet_others();
  }
  struct Meeting {
    ThreadDelays& delays;
    std::uintptr_t object;
    ~Meeting() { leave(delays, object); }
  } const meeting{*delays, current_region->barrier()};
  arrive_at(*delays, meeting.object);
  return meet_others();
}

// `name`: nullptr for the critical sections without one.
std::uintptr_t critical_section(void* const* name) noexcept {
  return own_key(reinterpret_cast<std::uintptr_t>(name) ^ 0xe7a8d5c3U);
}

template <typename Lock>
COZ_WRAPPER_PART void enter_critical(void* const* name, Lock lock) {
  auto delays = Session::current_delays();
  if (!delays || current_region == nullptr) return lock();
  const std::uintptr_t object = critical_section(name);
  delays->settle();
  delays->before_marked_wait();
  lock();
  if (!delays->is_in_marked_wait()) return;
  const bool waited = delays->was_released_meanwhile(object);
  delays->after_blocking(waited ? WakeSource::kThread : WakeSource::kNone, object);
}

template <typename Unlock>
COZ_WRAPPER_PART void leave_critical(void* const* name, Unlock unlock) {
  auto delays = Session::current_delays();
  if (delays && current_region != nullptr) {
    delays->before_waking(critical_section(name), ReleaseTime::kNoted);
  }
  unlock();
}

}  // namespace
}  // namespace coz

#define COZ_LIBRARY coz::OpenMpLibrary::of(__builtin_return_address(0))
#define COZ_OPENMP(library, name) \
  (reinterpret_cast<decltype(&::name)>((library).address(coz::OpenMpLibrary::k_##name)))

#define COZ_REGION(result, name, reductions, parameters, ...)                            \
  COZ_EXPORT result name parameters {                                                    \
    const coz::OpenMpLibrary& library = COZ_LIBRARY;                                     \
    return coz::run_region(library, share, data, reductions,                             \
                           [=, &library](coz::Share run, void* passed) {                 \
                             return COZ_OPENMP(library, name)(run, passed, __VA_ARGS__); \
                           });                                                           \
  }
#define COZ_LOOP(name)                                                                         \
  COZ_REGION(void, name, nullptr,                                                              \
             (coz::Share share, void* data, unsigned threads, long start, long end, long step, \
              long chunk, unsigned flags),                                                     \
             threads, start, end, step, chunk, flags)
#define COZ_RUNTIME_LOOP(name)                                                                 \
  COZ_REGION(void, name, nullptr,                                                              \
             (coz::Share share, void* data, unsigned threads, long start, long end, long step, \
              unsigned flags),                                                                 \
             threads, start, end, step, flags)
#define COZ_MEETING(result, name)                                           \
  COZ_EXPORT result name() {                                                \
    const coz::OpenMpLibrary& library = COZ_LIBRARY;                        \
    return coz::meet(library, [&] { return COZ_OPENMP(library, name)(); }); \
  }

COZ_REGION(void, GOMP_parallel, nullptr,
           (coz::Share share, void* data, unsigned threads, unsigned flags), threads, flags)
COZ_REGION(unsigned, GOMP_parallel_reductions, *static_cast<void**>(data),
           (coz::Share share, void* data, unsigned threads, unsigned flags), threads, flags)
COZ_REGION(void, GOMP_parallel_sections, nullptr,
           (coz::Share share, void* data, unsigned threads, unsigned count, unsigned flags),
           threads, count, flags)
COZ_LOOP(GOMP_parallel_loop_static)
COZ_LOOP(GOMP_parallel_loop_dynamic)
COZ_LOOP(GOMP_parallel_loop_guided)
COZ_LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
COZ_LOOP(GOMP_parallel_loop_nonmonotonic_guided)
COZ_RUNTIME_LOOP(GOMP_parallel_loop_runtime)
COZ_RUNTIME_LOOP(GOMP_parallel_loop_nonmonotonic_runtime)
COZ_RUNTIME_LOOP(GOMP_parallel_loop_maybe_nonmonotonic_runtime)
COZ_MEETING(void, GOMP_barrier)
COZ_MEETING(bool, GOMP_barrier_cancel)
COZ_MEETING(void, GOMP_loop_end)
COZ_MEETING(bool, GOMP_loop_end_cancel)
COZ_MEETING(void, GOMP_sections_end)
COZ_MEETING(bool, GOMP_sections_end_cancel)

COZ_EXPORT void GOMP_task(coz::Share task, void* data, CopyArguments copy, long size, long align,
                          bool is_deferred, unsigned flags, void** depend, int priority,
                          void* detach) {
  coz::before_first_task();
  COZ_OPENMP(COZ_LIBRARY, GOMP_task)
  (task, data, copy, size, align, is_deferred, flags, depend, priority, detach);
}
COZ_EXPORT void GOMP_taskloop(coz::Share task, void* data, CopyArguments copy, long size,
                              long align, unsigned flags, unsigned long tasks, int priority,
                              long start, long end, long step) {
  coz::before_first_task();
  COZ_OPENMP(COZ_LIBRARY, GOMP_taskloop)
  (task, data, copy, size, align, flags, tasks, priority, start, end, step);
}
COZ_EXPORT void GOMP_taskloop_ull(coz::Share task, void* data, CopyArguments copy, long size,
                                  long align, unsigned flags, unsigned long tasks, int priority,
                                  unsigned long start, unsigned long end, unsigned long step) {
  coz::before_first_task();
  COZ_OPENMP(COZ_LIBRARY, GOMP_taskloop_ull)
  (task, data, copy, size, align, flags, tasks, priority, start, end, step);
}

COZ_EXPORT void GOMP_critical_start() {
  const coz::OpenMpLibrary& library = COZ_LIBRARY;
  coz::enter_critical(nullptr, [&] { COZ_OPENMP(library, GOMP_critical_start)(); });
}
COZ_EXPORT void GOMP_critical_end() {
  const coz::OpenMpLibrary& library = COZ_LIBRARY;
  coz::leave_critical(nullptr, [&] { COZ_OPENMP(library, GOMP_critical_end)(); });
}
COZ_EXPORT void GOMP_critical_name_start(void** name) {
  const coz::OpenMpLibrary& library = COZ_LIBRARY;
  coz::enter_critical(name, [&] { COZ_OPENMP(library, GOMP_critical_name_start)(name); });
}
COZ_EXPORT void GOMP_critical_name_end(void** name) {
  const coz::OpenMpLibrary& library = COZ_LIBRARY;
  coz::leave_critical(name, [&] { COZ_OPENMP(library, GOMP_critical_name_end)(name); });
}
