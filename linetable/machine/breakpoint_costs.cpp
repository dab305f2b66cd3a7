#include "linetable/machine/breakpoint_costs.h"

#include <csignal>
#include <cstdint>
#include <cstring>
#include <vector>

#include "common/clock.h"
#include "common/json.h"
#include "common/perf_event.h"
#include "common/raw_syscall.h"

namespace coz::linetable {
namespace {

constexpr int kVisits = 30;
// The processor has four; kernels for other machines may have more.
constexpr int kMaxProbed = 16;

[[gnu::noinline]] void visited() { asm volatile("" ::: "memory"); }

template <typename Visit>
double time_of(Visit visit) {
  visit();
  const Nanoseconds begin = now();
  for (int i = 0; i < kVisits; ++i) visit();
  return static_cast<double>(now() - begin) / kVisits;
}

// The breakpoint at visited() first, so that what is measured is one of them.
void measure_hardware(BreakpointCosts& costs) {
  std::vector<long> events;
  for (int i = 0; i < kMaxProbed; ++i) {
    const long event = open_breakpoint_event(reinterpret_cast<std::uintptr_t>(&visited) +
                                             static_cast<unsigned>(i));
    if (event < 0) {
      if (events.empty()) costs.hardware_error = std::strerror(static_cast<int>(-event));
      break;
    }
    if (i == 0) costs.hardware_visit = time_of(visited);
    events.push_back(event);
  }
  costs.hardware_free = static_cast<int>(events.size());
  for (const long event : events) raw_syscall(SYS_close, event);
}

#if defined(__x86_64__)
void measure_instruction(BreakpointCosts& costs) {
  struct sigaction action = {};
  struct sigaction before = {};
  action.sa_handler = [](int) {};
  sigemptyset(&action.sa_mask);
  if (sigaction(SIGTRAP, &action, &before) != 0) return;
  costs.has_instruction = true;
  costs.instruction_visit = time_of([] { asm volatile("int3"); });
  sigaction(SIGTRAP, &before, nullptr);
}
#else
void measure_instruction(BreakpointCosts&) {}
#endif

}  // namespace

BreakpointCosts measure_breakpoints() {
  BreakpointCosts costs;
  measure_hardware(costs);
  measure_instruction(costs);
  return costs;
}

std::string to_json(const BreakpointCosts& costs) {
  JsonWriter json;
  json.begin_object();
  json.key("hardware").begin_object().field("free", costs.hardware_free);
  json.field("visit", costs.hardware_visit).field("error", costs.hardware_error).end_object();
  json.key("instruction").begin_object().field("available", costs.has_instruction);
  json.field("visit", costs.instruction_visit).end_object();
  json.end_object();
  return json.text();
}

}  // namespace coz::linetable
