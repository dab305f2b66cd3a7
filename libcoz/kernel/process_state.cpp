#include "kernel/process_state.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>

#include <cstring>

#include "common/raw_syscall.h"
#include "kernel/small_file.h"

namespace coz {
namespace {

long address(const void* what) noexcept { return reinterpret_cast<long>(what); }

// "TID (NAME) STATE ...": NAME may contain anything.
bool is_zombie(int tid) noexcept {
  char path[32];
  snprintf(path, sizeof path, "/proc/%d/stat", tid);
  char text[128];
  if (read_small_file(path, text) == 0) return false;
  const char* name_end = std::strrchr(text, ')');
  return name_end != nullptr && (name_end[2] == 'Z' || name_end[2] == 'X');
}

}  // namespace

bool is_missing(int process, int thread) noexcept {
  const long result =
      thread == 0 ? raw_syscall(SYS_kill, process, 0) : raw_syscall(SYS_tgkill, process, thread, 0);
  return result == -ESRCH;
}

bool has_other_threads() noexcept {
  // An entry for each thread, and two for folders.
  struct stat status = {};
  return stat("/proc/self/task", &status) == 0 && status.st_nlink > 3;
}

bool has_ended(int tid) noexcept {
  return raw_syscall(SYS_tkill, tid, 0) == -ESRCH || is_zombie(tid);
}

bool holds_own_number(int process, const void* mark) noexcept {
  int number = 0;
  const iovec local = {&number, sizeof number};
  const iovec remote = {const_cast<void*>(mark), sizeof number};
  const long read =
      raw_syscall(SYS_process_vm_readv, process, address(&local), 1, address(&remote), 1, 0);
  if (read == static_cast<long>(sizeof number)) return number == process;
  if (read == -ESRCH || read == -EFAULT) return false;
  return !has_ended(process);
}

Nanoseconds processor_time_of(int process) noexcept {
  // A clock of a process has its number in the upper bits, inverted; 2 stands for time in the
  // scheduler's count.
  const auto clock = static_cast<long>(~static_cast<unsigned>(process) << 3 | 2U);
  timespec time = {};
  if (raw_syscall(SYS_clock_gettime, static_cast<int>(clock), address(&time)) != 0) return 0;
  return time.tv_sec * kSecond + time.tv_nsec;
}

Nanoseconds processor_time_of_children() noexcept {
  rusage used = {};
  if (raw_syscall(SYS_getrusage, RUSAGE_CHILDREN, address(&used)) != 0) return 0;
  return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * kSecond +
         (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * kMicrosecond;
}

}  // namespace coz
