// The library's constructor: moves the program's functions before its own static initialisers run.
//
// Variables: COZ_LAYOUT_PLAN, the plan's path; COZ_LAYOUT_SEED, a number, or "original" for copies
// as the linker left them; COZ_LAYOUT_INTERVAL, ms after which calls lead to another of several
// layouts, again and again; COZ_LAYOUT_UNITS, which functions lie by the seed, the others as the
// linker left them (UnitRanges); COZ_LAYOUT_REPORT, a file that gets a line for each program moved.
// In processes that execute another file than the planned one, nothing is done.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "common/layout_plan.h"
#include "liblayout/moving.h"
#include "liblayout/process.h"

namespace coz::layout {
namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;

void report(const char* path, const LayoutPlan& plan, const Moved& moved,
            std::uint64_t took) noexcept {
  char line[160];
  std::snprintf(line, sizeof line, "moved %zu units to %p, %llu layouts, in %llu ns\n",
                plan.units.size(), static_cast<const void*>(moved.copies),
                static_cast<unsigned long long>(moved.layouts),
                static_cast<unsigned long long>(took));
  append_line(path, line);
}

void move_and_report(const LayoutPlan& plan, const Wanted& wanted) noexcept {
  const std::uint64_t begin = nanoseconds();
  const Moved moved = move_functions(plan, wanted);
  if (wanted.report != nullptr) report(wanted.report, plan, moved, nanoseconds() - begin);
}

__attribute__((constructor)) void start() noexcept {
  const char* const path = std::getenv("COZ_LAYOUT_PLAN");
  const char* const seed = std::getenv("COZ_LAYOUT_SEED");
  const char* const interval = std::getenv("COZ_LAYOUT_INTERVAL");
  if (path == nullptr || seed == nullptr) return;
  const int error = errno;
  const auto bytes = map_file(path);
  LayoutPlan plan;
  if (bytes.empty()) give_up("its plan cannot be read");
  if (read_layout_plan(bytes, plan) != nullptr) give_up("its plan is damaged");
  const Wanted wanted{std::strcmp(seed, "original") == 0 ? Order::kOriginal : Order::kRandom,
                      std::strtoull(seed, nullptr, 10),
                      interval == nullptr ? 0 : std::strtoull(interval, nullptr, 10) * kMillisecond,
                      interval == nullptr ? std::getenv("COZ_LAYOUT_UNITS") : nullptr,
                      std::getenv("COZ_LAYOUT_REPORT")};
  // A program that this one executes is another: it stays as it is.
  const bool moves = plan.header->identity == executed_file() && !plan.units.empty();
  if (moves) move_and_report(plan, wanted);
  if (!moves || wanted.interval == 0) unmap(bytes);
  errno = error;
}

}  // namespace
}  // namespace coz::layout
