// Creation and joining of threads. Their end is seen by a thread-specific destructor (runtime.cpp).
#include <pthread.h>
#include <stdlib.h>

#include <cerrno>

#include "interpose/export.h"
#include "interpose/real.h"
#include "runtime.h"

namespace coz {
namespace {

struct Start {
  void* (*routine)(void*);
  void* argument;
  Nanoseconds inherited;
};

void* begin_thread(void* passed) {
  const Start start = *static_cast<Start*>(passed);
  free(passed);
  if (Runtime* runtime = Runtime::active()) runtime->thread_begins(start.inherited);
  return start.routine(start.argument);
}

}  // namespace
}  // namespace coz

COZ_EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*routine)(void*), void* argument) {
  using coz::Runtime;
  auto delays = Runtime::current_delays();
  coz::ThreadState* parent = Runtime::current_thread();
  if (!delays || parent == nullptr) {
    return COZ_REAL(pthread_create)(thread, attributes, routine, argument);
  }
  auto* start = static_cast<coz::Start*>(malloc(sizeof(coz::Start)));
  if (start == nullptr) return EAGAIN;
  // The delays that the parent has served have delayed the child's creation too.
  delays->publish();
  *start = {routine, argument, parent->clock.local()};
  const int result = COZ_REAL(pthread_create)(thread, attributes, coz::begin_thread, start);
  if (result != 0) free(start);
  return result;
}

COZ_EXPORT int pthread_join(pthread_t thread, void** result) {
  auto delays = coz::Runtime::current_delays();
  if (!delays) return COZ_REAL(pthread_join)(thread, result);
  // A thread that has ended long ago did not wake us: its delays of then are not ours of now.
  if (const int tried = pthread_tryjoin_np(thread, result); tried == 0) return tried;
  delays->before_blocking();
  const int error = COZ_REAL(pthread_join)(thread, result);
  delays->after_blocking(error == 0 ? coz::WokenBy::kThread : coz::WokenBy::kNobody,
                         {static_cast<std::uintptr_t>(thread)});
  return error;
}
