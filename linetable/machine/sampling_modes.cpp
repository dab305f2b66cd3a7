#include "linetable/machine/sampling_modes.h"

#include <csignal>
#include <cstring>

#include "common/clock.h"
#include "common/json.h"
#include "common/perf_event.h"
#include "common/raw_syscall.h"

namespace coz::linetable {
namespace {

// So long that no event raises its signal before it is closed.
constexpr Nanoseconds kPeriod = 3'600'000'000'000;

std::string complaint(long event) {
  if (event < 0) return std::strerror(static_cast<int>(-event));
  raw_syscall(SYS_close, event);
  return {};
}

}  // namespace

SamplingModes try_sampling() {
  const int self = static_cast<int>(raw_syscall(SYS_gettid));
  return {.trap_error = complaint(open_trap_event(kPeriod, KernelMode::kExcluded)),
          .kernel_error = complaint(open_trap_event(kPeriod, KernelMode::kIncluded)),
          .signal_error = complaint(open_signal_event(kPeriod, SIGPROF, self))};
}

std::string to_json(const SamplingModes& modes) {
  JsonWriter json;
  json.begin_object().field("trap_error", modes.trap_error);
  json.field("kernel_error", modes.kernel_error);
  json.field("signal_error", modes.signal_error).end_object();
  return json.text();
}

}  // namespace coz::linetable
