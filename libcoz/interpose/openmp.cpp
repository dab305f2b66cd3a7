// OpenMP by GCC's libgomp, whose threads wait by spinning, and by futex instructions of its own.
//
// A thread of a team waits from the end of its share of a parallel region until the next region,
// or, if it began the region, until all others have ended theirs: each share is run by run_share(),
// which knows both ends. Barriers, critical sections and locks are wrapped as those of POSIX are.
// Tasks are wrapped in openmp_tasks.cpp.
//
// A library that serves LLVM's interface, too, says itself what its threads do (openmp_tool.cpp);
// of it, only critical sections and locks are wrapped. Not known is `ordered`.
#include <cstdint>
#include <utility>

#include "interpose/blocking.h"
#include "interpose/export.h"
#include "interpose/openmp_waits.h"
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
void __kmpc_critical(void* place, int thread, void* section);
void __kmpc_critical_with_hint(void* place, int thread, void* section, unsigned hint);
void __kmpc_end_critical(void* place, int thread, void* section);
void omp_set_lock(void* lock);
void omp_unset_lock(void* lock);
void omp_set_lock_(void* lock);
void omp_unset_lock_(void* lock);
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
    return openmp::object(reinterpret_cast<std::uintptr_t>(this) ^ kind);
  }
};

// The innermost one whose share the thread runs.
thread_local constinit Region* current_region __attribute__((tls_model("initial-exec"))) = nullptr;

void begin_share(const Region& region) noexcept {
  auto delays = Session::current_delays();
  if (!delays) return;
  delays->called_from(reinterpret_cast<std::uintptr_t>(region.share));
  openmp::begin_share(*delays, region.begun());
}

void end_share(const Region& region) noexcept {
  if (auto delays = Session::current_delays()) openmp::arrive_at(*delays, region.ended());
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
    std::uintptr_t site;
    ~Afterwards() {
      auto now = Session::current_delays();  // a share may have forked
      if (!now) return;
      now->called_from(site);
      openmp::end_wait(*now);
    }
  } const afterwards{delays->site()};
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
    ~Meeting() { openmp::end_wait(delays); }
  } const meeting{*delays};
  openmp::arrive_at(*delays, current_region->barrier());
  return meet_others();
}

// A lock, or the place that names a critical section; nullptr for those without a name.
std::uintptr_t section_of(const void* place) noexcept {
  return openmp::object(reinterpret_cast<std::uintptr_t>(place) ^ 0xe7a8d5c3U);
}

template <typename Lock>
COZ_WRAPPER_PART void enter_section(const void* place, Lock lock) {
  auto delays = Session::current_delays();
  if (!delays) return lock();
  const std::uintptr_t object = section_of(place);
  delays->settle();
  delays->before_marked_wait(MarkedWait::kOfOpenMp);
  lock();
  if (!delays->is_in_marked_wait()) return;
  const bool waited = delays->was_released_meanwhile(object);
  delays->after_blocking(waited ? WakeSource::kThread : WakeSource::kNone, object);
}

template <typename Unlock>
COZ_WRAPPER_PART void leave_section(const void* place, Unlock unlock) {
  if (auto delays = Session::current_delays()) {
    delays->before_waking(section_of(place), ReleaseTime::kNoted);
  }
  unlock();
}

}  // namespace
}  // namespace coz

#define COZ_REGION(result, name, reductions, parameters, ...)                            \
  COZ_EXPORT result name parameters {                                                    \
    const coz::OpenMpLibrary& library = COZ_LIBRARY(name);                               \
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
    const coz::OpenMpLibrary& library = COZ_LIBRARY(name);                  \
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

// `name parameters` enters or leaves the section at `place`.
#define COZ_SECTION(name, does, place, parameters, ...)                                          \
  COZ_EXPORT void name parameters {                                                              \
    const coz::OpenMpLibrary& library = COZ_LIBRARY(name);                                       \
    coz::does(static_cast<const void*>(place), [&] { COZ_OPENMP(library, name)(__VA_ARGS__); }); \
  }
COZ_SECTION(GOMP_critical_start, enter_section, nullptr, ())
COZ_SECTION(GOMP_critical_end, leave_section, nullptr, ())
COZ_SECTION(GOMP_critical_name_start, enter_section, name, (void** name), name)
COZ_SECTION(GOMP_critical_name_end, leave_section, name, (void** name), name)
COZ_SECTION(__kmpc_critical, enter_section, section, (void* place, int thread, void* section),
            place, thread, section)
COZ_SECTION(__kmpc_critical_with_hint, enter_section, section,
            (void* place, int thread, void* section, unsigned hint), place, thread, section, hint)
COZ_SECTION(__kmpc_end_critical, leave_section, section, (void* place, int thread, void* section),
            place, thread, section)
COZ_SECTION(omp_set_lock, enter_section, lock, (void* lock), lock)
COZ_SECTION(omp_unset_lock, leave_section, lock, (void* lock), lock)
COZ_SECTION(omp_set_lock_, enter_section, lock, (void* lock), lock)  // as Fortran calls it
COZ_SECTION(omp_unset_lock_, leave_section, lock, (void* lock), lock)
