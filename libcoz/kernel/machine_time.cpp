#include "kernel/machine_time.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "common/text.h"
#include "kernel/small_file.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace coz {
namespace {

enum Column {
  kUser,
  kNice,
  kSystem,
  kIdle,
  kWaiting,
  kInterrupt,
  kSoftInterrupt,
  kStolen,
  kColumns
};

// On machines other than x86 this is unknown.
bool may_be_virtual() noexcept {
#if defined(__x86_64__)
  constexpr unsigned kHypervisor = 1U << 31;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kHypervisor) != 0;
#else
  return true;
#endif
}

}  // namespace

std::optional<MachineTime> parse_machine_time(std::string_view text,
                                              long ticks_per_second) noexcept {
  constexpr Nanoseconds kMaxTicks = 999'999'999'999'999;  // so that the sum below can't overflow
  if (ticks_per_second <= 0 || ticks_per_second > kSecond / 1000) return std::nullopt;
  if (take_part(text, ' ') != "cpu") return std::nullopt;
  if (text.starts_with(' ')) take_part(text, ' ');
  std::array<Nanoseconds, kColumns> ticks{};
  for (Nanoseconds& column : ticks) {
    const auto number = parse_number<Nanoseconds>(take_part(text, ' '));
    if (!number || *number < 0 || *number > kMaxTicks) return std::nullopt;
    column = *number;
  }
  const Nanoseconds tick = kSecond / ticks_per_second;
  const Nanoseconds busy =
      ticks[kUser] + ticks[kNice] + ticks[kSystem] + ticks[kInterrupt] + ticks[kSoftInterrupt];
  if (std::max(busy, ticks[kStolen]) > INT64_MAX / tick) return std::nullopt;
  return MachineTime{busy * tick, ticks[kStolen] * tick};
}

std::optional<MachineTime> read_machine_time() noexcept {
  static const bool has_any = may_be_virtual();
  if (!has_any) return std::nullopt;
  static const long ticks_per_second = sysconf(_SC_CLK_TCK);
  char text[256];
  if (read_small_file("/proc/stat", text) == 0) return std::nullopt;
  return parse_machine_time(text, ticks_per_second);
}

std::optional<MachineTime> machine_time_since(const std::optional<MachineTime>& earlier) noexcept {
  if (!earlier) return std::nullopt;
  const auto time = read_machine_time();
  // The kernel's sums decrease when processors come and go.
  if (!time || time->busy < earlier->busy || time->stolen < earlier->stolen) return std::nullopt;
  return MachineTime{time->busy - earlier->busy, time->stolen - earlier->stolen};
}

}  // namespace coz
