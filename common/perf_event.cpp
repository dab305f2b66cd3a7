#include "common/perf_event.h"

#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include <cerrno>

#include "common/high_descriptor.h"
#include "common/raw_syscall.h"

namespace coz {
namespace {

long open_event(perf_event_attr& attributes) noexcept {
  const long descriptor = raw_syscall(SYS_perf_event_open, reinterpret_cast<long>(&attributes), 0,
                                      -1, -1, static_cast<long>(PERF_FLAG_FD_CLOEXEC));
  if (descriptor < 0) return descriptor;
  return move_high(static_cast<int>(descriptor));
}

perf_event_attr task_clock(Nanoseconds period, KernelMode kernel) noexcept {
  perf_event_attr attributes = {};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.size = sizeof attributes;
  attributes.config = PERF_COUNT_SW_TASK_CLOCK;
  attributes.sample_period = static_cast<__u64>(period);
  attributes.exclude_kernel = kernel == KernelMode::kExcluded ? 1 : 0;
  attributes.exclude_hv = 1;
  return attributes;
}

bool has_kernel(long major, long minor) noexcept {
  utsname system = {};
  return uname(&system) == 0 && is_at_least(system.release, major, minor);
}

}  // namespace

bool is_at_least(const char* release, long major, long minor) noexcept {
  char* end = nullptr;
  const long its_major = strtol(release, &end, 10);
  const long its_minor = *end == '.' ? strtol(end + 1, nullptr, 10) : 0;
  return its_major > major || (its_major == major && its_minor >= minor);
}

long open_trap_event(Nanoseconds period, KernelMode kernel) noexcept {
  // Before 5.19 a sample in a thread that blocks SIGTRAP at that moment, as libc itself does here
  // and there, killed the program. Before 6.11 a signal that was raised in the kernel ended calls
  // early, and before 6.15 one that was raised as the process ended could keep it from ending.
  const bool is_recent = kernel == KernelMode::kExcluded ? has_kernel(5, 19) : has_kernel(6, 15);
  if (!is_recent) return -EOPNOTSUPP;
#if !defined(__x86_64__)
  // Such a signal may need to end a call (libcoz/signals/sample_handler.cpp).
  if (kernel == KernelMode::kIncluded) return -EOPNOTSUPP;
#endif
  perf_event_attr attributes = task_clock(period, kernel);
  attributes.inherit = 1;
  attributes.inherit_thread = 1;
  attributes.remove_on_exec = 1;
  attributes.sigtrap = 1;
  return open_event(attributes);
}

long open_own_trap_event(Nanoseconds period, KernelMode kernel, bool counts) noexcept {
  perf_event_attr attributes = task_clock(period, kernel);
  attributes.disabled = counts ? 0 : 1;
  attributes.remove_on_exec = 1;  // which sigtrap requires
  attributes.sigtrap = 1;
  attributes.sig_data = kOwnEventMark;
  return open_event(attributes);
}

long open_separator_event() noexcept {
  perf_event_attr attributes = {};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.size = sizeof attributes;
  attributes.config = PERF_COUNT_SW_DUMMY;
  attributes.disabled = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  return open_event(attributes);
}

void set_event_counting(long descriptor, bool counts) noexcept {
  raw_syscall(SYS_ioctl, descriptor, counts ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

void set_event_period(long descriptor, Nanoseconds period) noexcept {
  const auto value = static_cast<__u64>(period);
  raw_syscall(SYS_ioctl, descriptor, PERF_EVENT_IOC_PERIOD, reinterpret_cast<long>(&value));
}

void close_event(long descriptor) noexcept {
  __u64 id = 0;
  const long is_event =
      raw_syscall(SYS_ioctl, descriptor, PERF_EVENT_IOC_ID, reinterpret_cast<long>(&id));
  if (is_event == 0) raw_syscall(SYS_close, descriptor);
}

long open_breakpoint_event(std::uintptr_t address, bool in_children) noexcept {
  perf_event_attr attributes = {};
  attributes.type = PERF_TYPE_BREAKPOINT;
  attributes.size = sizeof attributes;
  attributes.bp_type = HW_BREAKPOINT_X;
  attributes.bp_addr = address;
  attributes.bp_len = sizeof(long);  // what the kernel wants for instructions
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.inherit = 1;
  attributes.inherit_thread = in_children ? 0 : 1;
  attributes.remove_on_exec = 1;
  return open_event(attributes);
}

long open_signal_event(Nanoseconds period, int signal, int tid) noexcept {
  perf_event_attr attributes = task_clock(period, KernelMode::kExcluded);
  attributes.wakeup_events = 1;
  attributes.disabled = 1;
  const long descriptor = open_event(attributes);
  if (descriptor < 0) return descriptor;
  const f_owner_ex owner = {F_OWNER_TID, tid};
  if (raw_syscall(SYS_fcntl, descriptor, F_SETFL, O_ASYNC) < 0 ||
      raw_syscall(SYS_fcntl, descriptor, F_SETSIG, signal) < 0 ||
      raw_syscall(SYS_fcntl, descriptor, F_SETOWN_EX, reinterpret_cast<long>(&owner)) < 0 ||
      raw_syscall(SYS_ioctl, descriptor, PERF_EVENT_IOC_ENABLE, 0) < 0) {
    raw_syscall(SYS_close, descriptor);
    return -EIO;
  }
  return descriptor;
}

}  // namespace coz
