// OpenMP by LLVM's library, and Intel's: what its threads do, it says itself, to a tool that it
// asks for at its start (OpenMP 5.0, chapter 4, "OMPT"). A tool of the program's own comes first;
// then we learn nothing.
//
// A thread that does not lead its team hears of the end of a region when the next one begins, so
// that its wait lasts until then. Only what these callbacks mean is here; waits are in
// openmp_waits.h, critical sections in openmp.cpp, since the library tells of those too late.
#include <cstdint>
#include <cstdlib>

#include "interpose/export.h"
#include "interpose/openmp_waits.h"
#include "kernel/openmp_library.h"
#include "thread/session.h"

namespace coz {
namespace {

// As the standard numbers them.
enum Callback : int {
  kParallelBegin = 3,
  kParallelEnd = 4,
  kTaskCreate = 5,
  kTaskSchedule = 6,
  kImplicitTask = 7,
  kWait = 16
};
enum Scope : int { kBegins = 1, kEnds = 2 };
enum WaitKind : int { kTaskWait = 5, kTaskGroup = 6 };
constexpr int kInitialTask = 1, kExplicitTask = 4;

// What the library keeps for us with each region and each task. In a region: what releases its
// shares. In a task until it begins: the address of the call that created it, in the upper bits,
// and kCreated; then what it interrupts, an even number, and kBegun. Implicit tasks keep 0: with
// anything else LLVM 14 aborts at a taskwait with dependences.
struct Data {
  std::uintptr_t value;
};
constexpr std::uintptr_t kBegun = 1, kCreated = 2;
constexpr int kSiteShift = 2;

bool is_created(const Data& task) noexcept {
  return (task.value & (kBegun | kCreated)) == kCreated;
}

using AnyFunction = void (*)();
using LookUp = AnyFunction (*)(const char*);
using SetCallback = int (*)(int, AnyFunction);
struct StartedTool {
  int (*initialize)(LookUp, int, Data*);
  void (*finalize)(Data*);
  Data data;
};

// How many of the regions that the thread has begun have not ended.
thread_local constinit int depth __attribute__((tls_model("initial-exec"))) = 0;

std::uintptr_t meeting_of(std::uintptr_t begun) noexcept { return begun ^ 0xd1310ba698dfb5acU; }

void parallel_begin(Data*, const void*, Data* region, unsigned, int, const void* site) {
  constexpr std::uintptr_t kOdd = 0xb5ad4eceda1ce2a9U;
  const auto thread = reinterpret_cast<std::uintptr_t>(&depth);
  const auto place = reinterpret_cast<std::uintptr_t>(site);
  ++depth;
  region->value = openmp::object(thread + (place + static_cast<std::uintptr_t>(depth)) * kOdd);
  auto delays = Session::current_delays();
  if (!delays) return;
  delays->called_from(region->value);  // what follows is the thread's share
  delays->before_waking(region->value, ReleaseTime::kNoted);
}

void parallel_end(Data*, Data*, int, const void* site) {
  --depth;
  auto delays = Session::current_delays();
  if (!delays) return;
  delays->called_from(reinterpret_cast<std::uintptr_t>(site));
  delays->begin_segment();
}

// The first thread of a team began the region.
void implicit_task(Scope scope, Data* region, Data*, unsigned, unsigned index, int flags) {
  auto delays = Session::current_delays();
  if (!delays || (flags & kInitialTask) != 0) return;
  if (scope == kEnds && index == 0) openmp::end_wait(*delays);
  if (scope == kEnds || index == 0) return;
  delays->called_from(region->value);
  openmp::begin_share(*delays, region->value);
}

// No region is given where a wait at its end is over: implicit_task() follows.
void wait(WaitKind kind, Scope scope, Data* region, Data*, const void* site) {
  auto delays = Session::current_delays();
  if (!delays || region == nullptr) return;
  delays->called_from(reinterpret_cast<std::uintptr_t>(site));
  if (scope == kEnds) {
    openmp::end_wait(*delays);
  } else if (scope == kBegins && (kind == kTaskWait || kind == kTaskGroup)) {
    openmp::await_tasks(*delays);
  } else if (scope == kBegins) {
    openmp::arrive_at(*delays, meeting_of(region->value));
  }
}

void task_create(Data*, const void*, Data* task, int flags, int, const void* site) {
  if ((flags & kExplicitTask) == 0) return;
  task->value = reinterpret_cast<std::uintptr_t>(site) << kSiteShift | kCreated;
  if (auto delays = Session::current_delays()) openmp::before_creating_tasks(*delays);
}

// The thread goes from one task to another: it begins that one, or goes on with it because the
// first one has ended, or goes on elsewhere.
void task_schedule(Data* from, int, Data* to) {
  if (to == nullptr) return;  // the first one ended before, and an event has come for it
  if (is_created(*to)) {
    to->value = openmp::begin_task(to->value >> kSiteShift) | kBegun;
  } else if ((from->value & kBegun) != 0) {
    openmp::end_task(from->value & ~kBegun);
    from->value = 0;
  }
}

int initialize(LookUp look_up, int, Data*) {
  const auto set = reinterpret_cast<SetCallback>(look_up("ompt_set_callback"));
  if (set == nullptr) return 0;
  const auto call = [set](Callback callback, auto* function) {
    set(callback, reinterpret_cast<AnyFunction>(function));
  };
  call(kParallelBegin, parallel_begin);
  call(kParallelEnd, parallel_end);
  call(kImplicitTask, implicit_task);
  call(kWait, wait);
  call(kTaskCreate, task_create);
  call(kTaskSchedule, task_schedule);
  return 1;
}

void finalize(Data*) {}

StartedTool tool{initialize, finalize, {}};

}  // namespace
}  // namespace coz

// The library calls it at its start.
COZ_EXPORT coz::StartedTool* ompt_start_tool(unsigned version, const char* library) {
  using Start = coz::StartedTool* (*)(unsigned, const char*);
  const auto next = reinterpret_cast<Start>(coz::next_openmp_tool());
  coz::StartedTool* const other = next == nullptr ? nullptr : next(version, library);
  if (other != nullptr || std::getenv("OMP_TOOL_LIBRARIES") != nullptr) return other;
  return coz::Session::active() == nullptr ? nullptr : &coz::tool;
}
