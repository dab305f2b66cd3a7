// The runtime's progress points that the command line asked for: what counts each, and what is said
// where nothing can. Before main (runtime.h).
#include <dirent.h>
#include <string.h>

#include "interpose/jump_visit.h"
#include "kernel/message.h"
#include "lifecycle/runtime.h"
#include "patch/jump_entry.h"

namespace coz {
namespace {

// False also when nobody can tell.
bool has_one_thread() {
  DIR* tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return false;
  int count = 0;
  while (const dirent* task = readdir(tasks)) count += task->d_name[0] != '.';
  closedir(tasks);
  return count == 1;
}

}  // namespace

void Runtime::prepare_points() {
  std::vector<std::string> problems;
  for (const PlacedPoint& placed : parse_placed_points(config_.points, problems)) {
    CountedBy by = placed.by;
    const bool counts = prepare_point(placed, by);
    placed_points_.push_back({placed.name, kind_name(placed.kind), counts ? name_of(by) : "none"});
  }
  for (const std::string& problem : problems) message("%s", problem.c_str());
  if (!wanted_breakpoints_.empty()) prepare_breakpoints();
}

void Runtime::prepare_breakpoints() {
  // None of our own threads is there yet. This one is in our constructor, which the dynamic linker
  // has called; another may be anywhere, between the instructions that a jump takes the place of.
  if (has_one_thread()) {
    breakpoints_.use_jumps(prepare_jump_entry(count_jump_visit, time_jump_visit));
  }
  for (const auto& refusal : breakpoints_.prepare(std::move(wanted_breakpoints_))) {
    lose_breakpoint(refusal);
  }
  for (const auto& place : breakpoints_.not_by_jump()) {
    const char* name = place.point->name;
    message("%s: no jump can be set at %#lx; a breakpoint instruction counts its visits instead",
            name, static_cast<unsigned long>(place.address));
    set_counted_by(name, name_of(CountedBy::kBreakpoint));
  }
}

void Runtime::lose_breakpoint(const Breakpoints::Refusal& refusal) {
  const char* name = refusal.wanted.point->name;
  message("%s: no breakpoint can be set at %#lx (%s); visits there are not counted", name,
          static_cast<unsigned long>(refusal.wanted.address), refusal.reason);
  set_counted_by(name, "none");
}

void Runtime::set_counted_by(const char* name, const char* by) {
  for (PointRecord& record : placed_points_) {
    if (record.name == name) record.by = by;
  }
}

// False when its visits cannot be counted. `by` becomes what counts them.
bool Runtime::prepare_point(const PlacedPoint& placed, CountedBy& by) {
  const char* name = placed.name.c_str();
  if (by == CountedBy::kSamples) {
    const auto line = modules_.find_line(placed.name);
    Point* point = line ? session_.shared.points.find_or_add(placed.kind, name) : nullptr;
    if (point == nullptr) {
      message("%s is not a line of what is loaded; its samples are not counted", name);
      return false;
    }
    point->notes_visits.store(true, std::memory_order_relaxed);
    sampler_.add_point(*line, *point);
    return true;
  }
  const auto loading = find_loading(placed.binary.c_str());
  Point* point = loading ? session_.shared.points.find_or_add(placed.kind, name) : nullptr;
  if (point == nullptr) {
    message("%s: %s is not loaded at the start; its visits are not counted", name,
            placed.binary.c_str());
    return false;
  }
  std::vector<std::uintptr_t> addresses;
  for (const std::uint64_t address : placed.addresses) {
    addresses.push_back(loading->load_bias + address);
    if (addresses.back() < loading->begin || addresses.back() >= loading->end) {
      message("%s: %s has no code at %#lx; its visits are not counted", name, placed.binary.c_str(),
              static_cast<unsigned long>(address));
      return false;
    }
  }
  if (by == CountedBy::kHardware) {
    const long error = counters_.add(*point, addresses);
    if (error == 0) {
      for (const std::uintptr_t address : addresses) breakpoints_.keep_in_place(address);
      return true;
    }
    message("%s: no hardware breakpoint (%s); a breakpoint instruction counts its visits instead",
            name, strerror(static_cast<int>(-error)));
    by = CountedBy::kBreakpoint;
  }
  point->notes_visits.store(true, std::memory_order_relaxed);
  for (const std::uintptr_t address : addresses) {
    wanted_breakpoints_.push_back({address, point, by == CountedBy::kJump});
  }
  return true;
}

void Runtime::arm_breakpoints() {
  for (const auto& refusal : breakpoints_.arm()) lose_breakpoint(refusal);
}

}  // namespace coz
