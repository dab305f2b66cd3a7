#include "lifecycle/point_totals.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <new>

#include "common/clock.h"
#include "common/raw_syscall.h"
#include "common/text.h"
#include "kernel/harmless_write.h"
#include "kernel/message.h"
#include "kernel/zeroed_memory.h"

namespace coz {
namespace {

char path_to_totals[PATH_MAX];
// The process that counts: not a child made by vfork(), which shares this. 0 once it has written.
std::atomic<int> counting_process{0};
std::atomic<std::uint32_t> threads_seen{0};
// From 1. Threads count in different places, so that they do not wait for each other's caches.
thread_local constinit std::uint32_t place __attribute__((tls_model("initial-exec"))) = 0;

int own_process() noexcept { return static_cast<int>(raw_syscall(SYS_getpid)); }

}  // namespace

std::size_t describe_point(const Point& point, std::span<char, 512> line) noexcept {
  const VisitTimes::Sum sum = point.times().value_or(VisitTimes::Sum{});
  const int length = snprintf(line.data(), line.size(), "%s\t%llu\t%llu\t%llu\t",
                              name_of(point.kind, kPointKindNames, PointKind::kThroughput),
                              static_cast<unsigned long long>(point.visits()),
                              static_cast<unsigned long long>(sum.visits),
                              static_cast<unsigned long long>(sum.times));
  char* end = line.data() + length;
  for (const char* c = point.name; *c != '\0'; ++c) *end++ = *c == '\n' || *c == '\t' ? ' ' : *c;
  *end++ = '\n';
  return static_cast<std::size_t>(end - line.data());
}

bool PointTotals::is_wanted() {
  const char* path = getenv("COZ_POINT_TOTALS");
  if (path == nullptr || strlen(path) >= sizeof path_to_totals) return false;
  std::copy_n(path, strlen(path) + 1, path_to_totals);
  void* block = map_zeroed(sizeof(PointRegistry));  // large, and mostly untouched
  if (block == nullptr) {
    message("no memory to count visits (%s); no totals of progress points will be written",
            strerror(errno));
    return true;
  }
  points_ = new (block) PointRegistry;
  counting_process.store(own_process(), std::memory_order_relaxed);
  pthread_atfork(nullptr, nullptr, in_forked_child);
  atexit(finish);
  at_quick_exit(finish);
  return true;
}

void PointTotals::visit(Point& point) noexcept {
  if (place == 0) place = threads_seen.fetch_add(1, std::memory_order_relaxed) + 1;
  point.visit(now, place);
}

void PointTotals::finish() noexcept {
  int process = own_process();
  if (points_ == nullptr || !counting_process.compare_exchange_strong(process, 0)) return;
  const long file = raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path_to_totals),
                                O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) {
    message("cannot write %s (%s); visits of progress points are lost", path_to_totals,
            strerror(static_cast<int>(-file)));
    return;
  }
  const int descriptor = static_cast<int>(file);
  std::array<char, 512> line;
  const int length =
      snprintf(line.data(), line.size(), "process\t%lld\n", static_cast<long long>(now()));
  harmless_write(descriptor, line.data(), static_cast<std::size_t>(length));
  // Other threads may go on: ends first, lest more operations have ended than begun.
  for (const bool begins : {false, true}) {
    for (std::uint32_t i = 0; i < points_->size(); ++i) {
      const Point& point = (*points_)[i];
      if ((point.kind == PointKind::kBegin) != begins) continue;
      harmless_write(descriptor, line.data(), describe_point(point, line));
    }
  }
  raw_syscall(SYS_close, file);
}

void PointTotals::in_forked_child() noexcept {
  points_->release_lock();
  points_->forget_visits();
  counting_process.store(own_process(), std::memory_order_relaxed);
}

}  // namespace coz
