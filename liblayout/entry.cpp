// The library's constructor: moves the program's functions before its own static initialisers run.
//
// Variables: COZ_LAYOUT_PLAN, the plan's path; COZ_LAYOUT_SEED, a number, or "original" for copies
// as the linker left them; COZ_LAYOUT_FILE, the planned program's device and inode, so that other
// programs do not read the plan; COZ_LAYOUT_INTERVAL, ms after which calls lead to another of
// several layouts, again and again; COZ_LAYOUT_UNITS, which functions lie by the seed, the others
// as the linker left them (UnitRanges); COZ_LAYOUT_REPORT, a file that gets a line from each
// process: what was moved and what that took, or that it executes another file, where nothing is
// done.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "common/layout_plan.h"
#include "liblayout/moving.h"
#include "liblayout/process.h"

namespace coz::layout {
namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;

struct Time {
  unsigned long long real = nanoseconds(CLOCK_MONOTONIC);
  unsigned long long processor = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
};

void report(const char* path, const LayoutPlan& plan, const Moved& moved,
            const Time& begin) noexcept {
  const Time end;
  char line[200];
  std::snprintf(line, sizeof line,
                "process %d moved %zu units to %p, %llu layouts, in %llu ns, processor %llu ns\n",
                own_process(), plan.units.size(), static_cast<const void*>(moved.copies),
                static_cast<unsigned long long>(moved.layouts), end.real - begin.real,
                end.processor - begin.processor);
  append_line(path, line);
}

// A program that the planned one executes, or that has executed it, stays as it is.
bool is_other_program(const FileIdentity& executed, const char* report) noexcept {
  const char* const planned = std::getenv("COZ_LAYOUT_FILE");
  if (planned == nullptr) return false;
  char* rest = nullptr;
  const bool is_device = std::strtoull(planned, &rest, 10) == executed.device;
  if (is_device && std::strtoull(rest, nullptr, 10) == executed.inode) return false;
  if (report != nullptr) {
    char line[64];
    std::snprintf(line, sizeof line, "process %d other\n", own_process());
    append_line(report, line);
  }
  return true;
}

__attribute__((constructor)) void start() noexcept {
  const char* const path = std::getenv("COZ_LAYOUT_PLAN");
  const char* const seed = std::getenv("COZ_LAYOUT_SEED");
  const char* const interval = std::getenv("COZ_LAYOUT_INTERVAL");
  if (path == nullptr || seed == nullptr) return;
  const int error = errno;
  const Time begin;
  const FileIdentity executed = executed_file();
  const char* const report_to = std::getenv("COZ_LAYOUT_REPORT");
  if (is_other_program(executed, report_to)) {
    errno = error;
    return;
  }
  const auto bytes = map_file(path);
  LayoutPlan plan;
  if (bytes.empty()) give_up("its plan cannot be read");
  if (read_layout_plan(bytes, plan) != nullptr) give_up("its plan is damaged");
  const Wanted wanted{std::strcmp(seed, "original") == 0 ? Order::kOriginal : Order::kRandom,
                      std::strtoull(seed, nullptr, 10),
                      interval == nullptr ? 0 : std::strtoull(interval, nullptr, 10) * kMillisecond,
                      interval == nullptr ? std::getenv("COZ_LAYOUT_UNITS") : nullptr, report_to};
  const bool moves = plan.header->identity == executed && !plan.units.empty();
  if (moves) {
    const Moved moved = move_functions(plan, wanted);
    if (report_to != nullptr) report(report_to, plan, moved, begin);
  }
  if (!moves || wanted.interval == 0) unmap(bytes);
  errno = error;
}

}  // namespace
}  // namespace coz::layout
