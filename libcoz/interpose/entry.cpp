// Where the program and the library meet: the constructor, the functions that macros in the program
// call by name (include/coz.h and the classic header), and the ends of the process.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "interpose/export.h"
#include "kernel/message.h"
#include "kernel/real.h"
#include "lifecycle/forked_start.h"
#include "lifecycle/point_totals.h"
#include "lifecycle/runtime.h"
#include "thread/session.h"
#include "thread/visit.h"
#include "unwind/machine.h"
#include "unwind/stack_walk.h"

namespace coz {
namespace {

__attribute__((constructor)) void load() { Runtime::start_once(); }

// What macros of our header hold: one handle for each point or region, whatever macros it has. They
// lie in fixed memory, since a macro may be part of the program's allocator. `visit`, and `begin`
// and `end` of regions, must come first: the header calls them.
struct PointHandle {
  void (*visit)(PointHandle* handle);
  Point* point;
};

void visit_point(PointHandle* handle) noexcept { visit(*handle->point); }
void count_point(PointHandle* handle) noexcept { PointTotals::visit(*handle->point); }

// Of operations with identities.
struct OperationHandle {
  void (*visit)(OperationHandle* handle, unsigned long long identity);
  Point* point;
  std::uint32_t name;
};

void visit_begin(OperationHandle* handle, unsigned long long identity) noexcept {
  visit(*handle->point);
  begin_operation(handle->name, identity);
}

void visit_end(OperationHandle* handle, unsigned long long identity) noexcept {
  end_operation(handle->name, identity);
  visit(*handle->point);
}

// Where visits are only counted.
void count_operation(OperationHandle* handle, unsigned long long) noexcept {
  PointTotals::visit(*handle->point);
}

struct RegionHandle {
  void (*begin)(RegionHandle* handle);
  void (*end)(RegionHandle* handle);
  std::uint32_t region;
};

void begin_region(RegionHandle* handle) noexcept {
  if (ThreadState* thread = Session::current_thread()) thread->regions.begin(handle->region);
}

void end_region(RegionHandle* handle) noexcept {
  if (ThreadState* thread = Session::current_thread()) thread->regions.end(handle->region);
}

std::array<PointHandle, PointRegistry::kMaxPoints> point_handles;
std::array<OperationHandle, PointRegistry::kMaxPoints> operation_handles;
std::array<RegionHandle, RegionRegistry::kMaxNames> region_handles;

// Threads may fill in one handle at once, and use it: all write the same.
template <typename Value>
void fill(Value& member, std::type_identity_t<Value> value) noexcept {
  std::atomic_ref(member).store(value, std::memory_order_relaxed);
}

Point* point_of(int kind, const char* name) noexcept {
  Runtime::start_once();
  PointRegistry* points = PointTotals::points();
  if (SharedState* shared = ForkedStart::registries()) points = &shared->points;
  if (points == nullptr || kind < 1 || kind > 4 || name == nullptr) return nullptr;
  Point* point = points->find_or_add(static_cast<PointKind>(kind), name);
  if (point == nullptr && points->is_first_refused()) {
    message("more than %u progress points: visits to %s and further ones are not counted",
            PointRegistry::kMaxPoints, name);
  }
  return point;
}

}  // namespace
}  // namespace coz

// For macros of our header. nullptr: the macro does nothing.
COZ_EXPORT void* _coz_get_point(int kind, const char* name) {
  coz::Point* point = coz::point_of(kind, name);
  if (point == nullptr) return nullptr;
  point->times_visits.store(true, std::memory_order_relaxed);
  coz::PointHandle& handle = coz::point_handles[point->number];
  const bool only_counts = coz::PointTotals::points() != nullptr;
  coz::fill(handle.point, point);
  coz::fill(handle.visit, only_counts ? coz::count_point : coz::visit_point);
  return &handle;
}

COZ_EXPORT void* _coz_get_operation(int kind, const char* name) {
  coz::Point* point = coz::point_of(kind, name);
  if (point == nullptr) return nullptr;
  point->times_visits.store(true, std::memory_order_relaxed);
  coz::OperationHandle& handle = coz::operation_handles[point->number];
  coz::fill(handle.point, point);
  if (coz::SharedState* shared = coz::ForkedStart::registries()) {
    const auto number = shared->operations.find_or_add(name);
    if (!number) return nullptr;  // never: there is room for the name of each point
    const bool begins = point->kind == coz::PointKind::kBegin;
    coz::fill(handle.name, *number);
    coz::fill(handle.visit, begins ? coz::visit_begin : coz::visit_end);
  } else {
    coz::fill(handle.visit, coz::count_operation);
  }
  return &handle;
}

COZ_EXPORT void* _coz_get_region(const char* name) {
  coz::Runtime::start_once();
  coz::SharedState* shared = coz::ForkedStart::registries();
  if (shared == nullptr || name == nullptr) return nullptr;
  const auto region = shared->regions.find_or_add(name);
  if (!region) {
    if (shared->regions.is_first_refused()) {
      coz::message("more than %u regions: %s and further ones are not profiled; use fewer names",
                   coz::RegionRegistry::kMaxNames, name);
    }
    return nullptr;
  }
  coz::RegionHandle& handle = coz::region_handles[*region];
  coz::fill(handle.region, *region);
  coz::fill(handle.begin, coz::begin_region);
  coz::fill(handle.end, coz::end_region);
  return &handle;
}

// The classic interface: a counter {count, backoff}, which the program increments itself.
COZ_EXPORT void* _coz_get_counter(int type, const char* name) {
  coz::Point* point = coz::point_of(type, name);
  return point == nullptr ? nullptr : &point->counter;
}

COZ_EXPORT void _coz_add_delays() {
  if (auto delays = coz::Session::current_delays()) delays->catch_up();
}

namespace {

// Which code segment a marked wait begins. The mark may stand in a function that many call, as in
// coz_mpi.c, and that one in another, as a library's exchange of data. So three callers count.
COZ_WRAPPER_PART std::uintptr_t callers() noexcept {
  constexpr std::uintptr_t kOdd = 0x9e3779b97f4a7c15U;
  coz::StackWalk walk(coz::current_registers(), true);
  std::uintptr_t all = 0;
  for (int i = 0; i < 3 && walk.step(); ++i) all = (all + walk.registers().pc) * kOdd;
  return all;
}

}  // namespace

COZ_EXPORT void _coz_pre_block() {
  if (auto delays = coz::Session::current_delays()) delays->before_marked_wait();
}

COZ_EXPORT void _coz_post_block(int skip_delays) {
  auto delays = coz::Session::current_delays();
  if (!delays) return;
  delays->called_from(callers());
  if (!delays->is_in_marked_wait()) {  // a call in between has waited, and ended it
    delays->begin_segment();
    return;
  }
  delays->after_blocking(skip_delays != 0 ? coz::WakeSource::kThread : coz::WakeSource::kExternal,
                         coz::kNoObject);
}

// The profiling ends here, and the program goes on.
COZ_EXPORT void _coz_end() {
  coz::Runtime::finish();
  coz::PointTotals::finish();
}

COZ_EXPORT void _exit(int status) {
  coz::Runtime::finish();
  coz::PointTotals::finish();
  COZ_REAL(_exit)(status);
  __builtin_unreachable();
}

COZ_EXPORT void _Exit(int status) { _exit(status); }
