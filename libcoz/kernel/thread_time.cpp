#include "kernel/thread_time.h"

#include <linux/close_range.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>

#include "common/raw_syscall.h"
#include "kernel/small_file.h"

namespace coz {
namespace {

// A number of at most 18 digits, so that it cannot overflow, and the blank or line end after it.
const char* parse_time(const char* text, Nanoseconds& out) noexcept {
  constexpr int kMaxDigits = 18;
  int digits = 0;
  out = 0;
  for (; *text >= '0' && *text <= '9'; ++text) {
    if (++digits > kMaxDigits) return nullptr;
    out = out * 10 + (*text - '0');
  }
  return digits > 0 && (*text == ' ' || *text == '\n') ? text + 1 : nullptr;
}

bool close_from(long first, long last, unsigned flags) noexcept {
  return first > last || raw_syscall(SYS_close_range, first, last, static_cast<long>(flags)) == 0;
}

}  // namespace

std::optional<ThreadTime> parse_schedstat(const char* text) noexcept {
  ThreadTime time;
  text = parse_time(text, time.ran);
  if (text == nullptr || parse_time(text, time.waited) == nullptr) return std::nullopt;
  return time;
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
