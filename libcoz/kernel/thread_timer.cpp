#include "kernel/thread_timer.h"

#include <signal.h>
#include <time.h>

#include "common/raw_syscall.h"

namespace coz {

int create_thread_timer(int signal, std::uintptr_t mark) noexcept {
  // struct sigevent of the kernel: the thread's number follows `sigev_notify`.
  struct {
    std::uintptr_t value;
    int signal;
    int notify;
    int tid;
    char unused[44];
  } event = {mark, signal, SIGEV_THREAD_ID, static_cast<int>(raw_syscall(SYS_gettid)), {}};
  static_assert(sizeof event == sizeof(sigevent));
  int timer = -1;
  const long error = raw_syscall(SYS_timer_create, CLOCK_MONOTONIC, reinterpret_cast<long>(&event),
                                 reinterpret_cast<long>(&timer));
  return error < 0 ? static_cast<int>(error) : timer;
}

void set_thread_timer(int timer, Nanoseconds from_now) noexcept {
  const itimerspec once = {{0, 0}, {from_now / kSecond, from_now % kSecond}};
  raw_syscall(SYS_timer_settime, timer, 0, reinterpret_cast<long>(&once), 0);
}

void delete_thread_timer(int timer) noexcept { raw_syscall(SYS_timer_delete, timer); }

}  // namespace coz
