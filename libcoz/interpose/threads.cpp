// Creating and joining threads. Small stacks get room for the sample handler. A destructor of
// thread-specific data notices the end of a thread (lifecycle/thread_lifecycle.h).
#include <pthread.h>
#include <stdlib.h>
#include <threads.h>

#include "interpose/blocking.h"
#include "interpose/export.h"
#include "interpose/small_stack.h"
#include "kernel/real.h"
#include "unwind/machine.h"
#include "unwind/stack_walk.h"

namespace coz {
namespace {

// What a new thread is to run. `Result` is void* for POSIX, int for C11.
template <typename Result>
struct Start {
  Result (*routine)(void*);
  void* argument;
  Nanoseconds inherited;
  std::uintptr_t kind;
};

// Threads that begin with the same routine, and are created at the same place in the program, do
// the same. std::thread and the like have one routine for all threads, and create them in a
// function of their library: so the place is that of the call of the function that called the
// wrapper.
COZ_WRAPPER_PART std::uintptr_t kind_of(std::uintptr_t routine) noexcept {
  StackWalk walk(current_registers(), true);
  walk.step() && walk.step();
  constexpr std::uintptr_t kOdd = 0x9e3779b97f4a7c15U;
  return routine * kOdd + walk.registers().pc;
}

template <typename Result>
Result begin_thread(void* passed) {
  const Start start = *static_cast<Start<Result>*>(passed);
  free(passed);
  if (Runtime* runtime = Runtime::active()) runtime->threads().begin(start.inherited, start.kind);
  return start.routine(start.argument);
}

// `create(routine, argument)` is the real call. `no_memory` is what it returns for want of memory.
template <typename Result, typename Create>
COZ_WRAPPER_PART int create_thread(Result (*routine)(void*), void* argument, int no_memory,
                                   Create create) {
  auto delays = Session::current_delays();
  const Session* session = Session::active();
  ThreadState* parent = Session::current_thread();
  if (session == nullptr || (parent != nullptr && !delays)) return create(routine, argument);
  auto* start = static_cast<Start<Result>*>(malloc(sizeof(Start<Result>)));
  if (start == nullptr) return no_memory;
  if (parent == nullptr) {
    // One on a small stack of the program's own, say: what it creates is a thread like others.
    const auto kind = reinterpret_cast<std::uintptr_t>(routine);
    *start = {routine, argument, session->delays.global.get(), kind};
    const int result = create(begin_thread<Result>, start);
    if (result != 0) free(start);
    return result;
  }
  if (Runtime* runtime = Runtime::active()) runtime->threads().before_creating(*parent);
  const std::uintptr_t kind = kind_of(reinterpret_cast<std::uintptr_t>(routine));
  const int result = rules::create(*delays, [&](Nanoseconds served) {
    *start = {routine, argument, served, kind};
    return create(begin_thread<Result>, start);
  });
  if (result != 0) free(start);
  return result;
}

// A thread that ended long ago did not wake the caller, which must not take over its delays; so the
// attempt comes first. Joining is a cancellation point even if it need not wait.
template <typename Join>
COZ_WRAPPER_PART int join_thread(pthread_t thread, void** result, Join join) {
  auto delays = Session::current_delays();
  if (!delays) return join();
  pthread_testcancel();
  return rules::acquire(
      *delays, own_key(thread), [=] { return pthread_tryjoin_np(thread, result); }, is_busy, join,
      wake_source_of_error_number);
}

static_assert(thrd_success == 0);

}  // namespace
}  // namespace coz

COZ_EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*routine)(void*), void* argument) {
  coz::Runtime::start_once();
  const coz::SmallStack stack(attributes);
  if (stack.is_too_small()) {
    // Not registered, it is not sampled either: the handler goes back at once.
    return COZ_REAL(pthread_create)(thread, attributes, routine, argument);
  }
  return coz::create_thread(routine, argument, EAGAIN, [&](void* (*begin)(void*), void* start) {
    const int error = COZ_REAL(pthread_create)(thread, stack.attributes(), begin, start);
    if (error == 0 || stack.attributes() == attributes) return error;
    // There may have been memory for the stack that the program asked for.
    return COZ_REAL(pthread_create)(thread, attributes, begin, start);
  });
}

COZ_EXPORT int thrd_create(thrd_t* thread, thrd_start_t routine, void* argument) {
  coz::Runtime::start_once();
  return coz::create_thread(routine, argument, thrd_nomem, [=](thrd_start_t begin, void* start) {
    return COZ_REAL(thrd_create)(thread, begin, start);
  });
}

COZ_EXPORT int pthread_join(pthread_t thread, void** result) {
  return coz::join_thread(thread, result, [=] { return COZ_REAL(pthread_join)(thread, result); });
}

COZ_EXPORT int pthread_timedjoin_np(pthread_t thread, void** result, const timespec* time) {
  return coz::join_thread(thread, result,
                          [=] { return COZ_REAL(pthread_timedjoin_np)(thread, result, time); });
}

COZ_EXPORT int pthread_clockjoin_np(pthread_t thread, void** result, clockid_t clock,
                                    const timespec* time) {
  const auto join = [=] { return COZ_REAL(pthread_clockjoin_np)(thread, result, clock, time); };
  // An attempt would join where the call refuses.
  return coz::is_valid(clock) ? coz::join_thread(thread, result, join) : join();
}

COZ_EXPORT int thrd_join(thrd_t thread, int* result) {
  auto delays = coz::Session::current_delays();
  if (!delays) return COZ_REAL(thrd_join)(thread, result);
  // C11 has no attempt, but its threads are those of POSIX; an int travels in the pointer.
  void* given = nullptr;
  const int error =
      coz::join_thread(thread, &given, [&] { return COZ_REAL(pthread_join)(thread, &given); });
  if (error == 0 && result != nullptr) {
    *result = static_cast<int>(reinterpret_cast<std::intptr_t>(given));
  }
  return error == 0 ? thrd_success : thrd_error;
}
