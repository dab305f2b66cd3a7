// Tasks of OpenMP by GCC's libgomp: each task is run by run_task(), which tells when a thread that
// waits is at work (openmp_waits.h). The library copies a task's data, which follow a head of ours.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "interpose/export.h"
#include "interpose/openmp_waits.h"
#include "kernel/openmp_library.h"
#include "thread/session.h"

extern "C" {
// As GCC calls them: no header declares them.
using Task = void (*)(void*);
using CopyData = void (*)(void*, void*);
void GOMP_task(Task, void*, CopyData, long, long, bool, unsigned, void**, int, void*);
void GOMP_taskloop(Task, void*, CopyData, long, long, unsigned, unsigned long, int, long, long,
                   long);
void GOMP_taskloop_ull(Task, void*, CopyData, long, long, unsigned, unsigned long, int,
                       unsigned long, unsigned long, unsigned long);
void GOMP_taskwait();
void GOMP_taskwait_depend(void**);
void GOMP_taskgroup_end();
}

namespace coz {
namespace {

// The library writes into the first words of a task's data: of a part of a loop, where it begins
// and ends; of a task that ends by an event, the event. It reads the third: reductions of a loop.
constexpr std::size_t kWords = 3;
constexpr unsigned kEndsByEvent = 1U << 13;

struct TaskHead {
  long words[kWords];  // as the library knows them; NOLINT(modernize-avoid-c-arrays)
  std::size_t words_written;
  Task task;
  CopyData copy;
  void* data;
  std::size_t size;
  std::size_t offset;  // of the copied data, from the head
};

void copy_task(void* to, void* from) {
  const auto& head = *static_cast<TaskHead*>(from);
  auto& copied = *static_cast<TaskHead*>(to);
  copied = head;
  copied.data = static_cast<char*>(to) + head.offset;
  if (head.copy != nullptr) {
    head.copy(copied.data, head.data);
  } else {
    std::memcpy(copied.data, head.data, head.size);
  }
}

void run_task(void* passed) {
  const auto& head = *static_cast<TaskHead*>(passed);
  std::memcpy(head.data, static_cast<const void*>(head.words), head.words_written * sizeof(long));
  const auto site = reinterpret_cast<std::uintptr_t>(head.task);
  const std::uintptr_t interrupted = openmp::begin_task(site);
  head.task(head.data);
  openmp::end_task(interrupted);
}

struct Layout {
  TaskHead head;
  long size;
  long align;
};

Layout lay_out(Task task, void* data, CopyData copy, long size, long align,
               std::size_t words_written) noexcept {
  const auto alignment = std::max<std::size_t>(static_cast<std::size_t>(align), alignof(TaskHead));
  const std::size_t offset = (sizeof(TaskHead) + alignment - 1) / alignment * alignment;
  Layout layout{{{}, words_written, task, copy, data, static_cast<std::size_t>(size), offset},
                static_cast<long>(offset) + size,
                static_cast<long>(alignment)};
  const std::size_t known = std::min(static_cast<std::size_t>(size), sizeof layout.head.words);
  if (data != nullptr) std::memcpy(static_cast<void*>(layout.head.words), data, known);
  return layout;
}

template <typename Wait>
COZ_WRAPPER_PART void wait_for_tasks(Wait wait) {
  auto delays = Session::current_delays();
  if (!delays) return wait();
  openmp::await_tasks(*delays);
  wait();
  openmp::end_wait(*delays);
}

// `loop(layout)` is the real call, which may wait for the tasks that it creates.
template <typename Loop>
COZ_WRAPPER_PART void create_loop(Task task, void* data, CopyData copy, long size, long align,
                                  Loop loop) {
  auto delays = Session::current_delays();
  Layout layout = lay_out(task, data, copy, size, align, 2);
  if (!delays) return loop(layout);
  openmp::before_creating_tasks(*delays);
  openmp::await_tasks(*delays);
  loop(layout);
  openmp::end_wait(*delays);
}

}  // namespace
}  // namespace coz

COZ_EXPORT void GOMP_task(Task task, void* data, CopyData copy, long size, long align,
                          bool is_deferred, unsigned flags, void** depend, int priority,
                          void* event) {
  const coz::OpenMpLibrary& library = COZ_LIBRARY(GOMP_task);
  auto delays = coz::Session::current_delays();
  if (!delays || library.has_other_callers()) {
    return COZ_OPENMP(library, GOMP_task)(task, data, copy, size, align, is_deferred, flags, depend,
                                          priority, event);
  }
  coz::openmp::before_creating_tasks(*delays);
  auto layout =
      coz::lay_out(task, data, copy, size, align, (flags & coz::kEndsByEvent) != 0 ? 1 : 0);
  COZ_OPENMP(library, GOMP_task)
  (coz::run_task, &layout.head, coz::copy_task, layout.size, layout.align, is_deferred, flags,
   depend, priority, event);
}

#define COZ_TASK_LOOP(name, Number)                                                           \
  COZ_EXPORT void name(Task task, void* data, CopyData copy, long size, long align,           \
                       unsigned flags, unsigned long tasks, int priority, Number start,       \
                       Number end, Number step) {                                             \
    const coz::OpenMpLibrary& library = COZ_LIBRARY(name);                                    \
    if (library.has_other_callers()) {                                                        \
      return COZ_OPENMP(library, name)(task, data, copy, size, align, flags, tasks, priority, \
                                       start, end, step);                                     \
    }                                                                                         \
    coz::create_loop(task, data, copy, size, align, [&](coz::Layout& layout) {                \
      COZ_OPENMP(library, name)                                                               \
      (coz::run_task, &layout.head, coz::copy_task, layout.size, layout.align, flags, tasks,  \
       priority, start, end, step);                                                           \
    });                                                                                       \
  }
COZ_TASK_LOOP(GOMP_taskloop, long)
COZ_TASK_LOOP(GOMP_taskloop_ull, unsigned long)

#define COZ_TASK_WAIT(name, parameters, ...)                                        \
  COZ_EXPORT void name parameters {                                                 \
    const coz::OpenMpLibrary& library = COZ_LIBRARY(name);                          \
    if (library.has_other_callers()) return COZ_OPENMP(library, name)(__VA_ARGS__); \
    coz::wait_for_tasks([&] { COZ_OPENMP(library, name)(__VA_ARGS__); });           \
  }
COZ_TASK_WAIT(GOMP_taskwait, ())
COZ_TASK_WAIT(GOMP_taskwait_depend, (void** depend), depend)
COZ_TASK_WAIT(GOMP_taskgroup_end, ())
