#include "kernel/thread_time.h"

#include <linux/close_range.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>

#include "common/raw_syscall.h"
#include "common/text.h"
#include "kernel/small_file.h"

namespace coz {
namespace {

bool close_from(long first, long last, unsigned flags) noexcept {
  return first > last || raw_syscall(SYS_close_range, first, last, static_cast<long>(flags)) == 0;
}

}  // namespace

std::optional<ThreadTime> parse_schedstat(std::string_view text) noexcept {
  const auto ran = parse_number<Nanoseconds>(take_part(text, ' '));
  const auto waited = parse_number<Nanoseconds>(take_part(text, ' '));
  const auto slices = parse_number<std::int64_t>(take_part(text, '\n'));
  if (!ran || !waited || !slices || *ran < 0 || *waited < 0 || *slices < 0) return std::nullopt;
  return ThreadTime{*ran, *waited, *slices};
}

std::optional<ThreadTime> read_thread_time(int tid, int process) noexcept {
  char path[64];
  if (process == 0) {
    snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", tid);
  } else {
    snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", process, tid);
  }
  char text[96];
  if (read_small_file(path, text) == 0) return std::nullopt;
  return parse_schedstat(text);
}

bool is_runnable(int tid) noexcept {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
  char text[64];
  if (read_small_file(path, text) == 0) return false;
  // The name before it, in parentheses, is 15 bytes at most, and may contain any.
  const char* end = strrchr(text, ')');
  return end != nullptr && end[1] == ' ' && end[2] == 'R';
}

bool hide_descriptors(std::span<int> kept) noexcept {
  std::sort(kept.begin(), kept.end());
  // The first call also copies the table, so it must be made even if it closes nothing.
  if (!kept.empty() && kept.front() <= 0) return false;
  if (!close_from(0, 0, CLOSE_RANGE_UNSHARE)) return false;
  long next = 1;
  bool is_done = true;
  for (const int descriptor : kept) {
    is_done = close_from(next, descriptor - 1L, 0) && is_done;
    next = descriptor + 1L;
  }
  return close_from(next, ~0U, 0) && is_done;
}

}  // namespace coz
