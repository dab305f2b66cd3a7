// futex by syscall(): std::atomic::wait, latch, barrier and semaphore of C++20, Rust's locks,
// condition variables and thread parking, and programs' own locks.
//
// On x86-64 syscall() itself is written in assembler. Except for the calls in system_calls.cpp, it
// passes every other call on exactly as it came, with the stack as it was, which a C function
// cannot do (vfork and clone return on another stack).
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>

#include "interpose/blocking.h"
#include "interpose/deadline.h"
#include "interpose/export.h"
#include "kernel/real.h"

namespace {

using coz::WakeSource;

struct Futex {
  long address, operation, value, timeout, second, value3;

  long call(long with_timeout) const {
    return COZ_REAL(syscall)(SYS_futex, address, operation, value, with_timeout, second, value3);
  }
};

WakeSource wake_source_of(long result) {
  if (result >= 0) return WakeSource::kThread;
  return errno == EAGAIN ? WakeSource::kNone : WakeSource::kExternal;
}

// FUTEX_WAIT has a relative time-out, the others an absolute one.
bool is_relative(const Futex& futex) { return (futex.operation & FUTEX_CMD_MASK) == FUTEX_WAIT; }

const timespec* timeout_of(const Futex& futex) {
  return reinterpret_cast<const timespec*>(futex.timeout);
}

long wait(const Futex& futex, coz::Nanoseconds later) {
  const auto call = [&](const timespec* time) { return futex.call(reinterpret_cast<long>(time)); };
  if (is_relative(futex)) {
    return coz::past_samples_within(timeout_of(futex), call, coz::is_interrupted);
  }
  const coz::Deadline deadline(timeout_of(futex), later);
  return coz::past_samples([&] { return call(deadline.get()); }, coz::is_interrupted);
}

}  // namespace

extern "C" {

// system_calls.cpp
long coz_exit_group(long number, long status);
long coz_set_mask(long number, long how, long set, long before, long size);

__attribute__((visibility("hidden"), used)) long coz_futex(long /*number*/, long address,
                                                           long operation, long value, long timeout,
                                                           long second, long value3) {
  const Futex futex = {address, operation, value, timeout, second, value3};
  auto delays = coz::Session::current_delays();
  if (!delays) return futex.call(timeout);
  const bool is_private = (operation & FUTEX_PRIVATE_FLAG) != 0;
  const auto key_of = [is_private](long word) {
    const auto object = static_cast<std::uintptr_t>(word);
    return is_private ? coz::own_key(object) : coz::shared_key(object);
  };
  const std::uintptr_t object = key_of(address);
  delays->called_from(
      static_cast<std::uintptr_t>(address));  // the call came from libstdc++, or from our assembler
  switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_LOCK_PI:
    case FUTEX_WAIT_REQUEUE_PI:
      return coz::rules::wait_until(
          *delays, object, [&](coz::Nanoseconds later) { return wait(futex, later); },
          wake_source_of,
          [&](long result) { return result == -1 && errno == ETIMEDOUT && !is_relative(futex); },
          [&] { return coz::time_of(timeout_of(futex)); }, coz::WaitsFor::kQueue);
    case FUTEX_WAKE_OP:
      delays->before_waking(key_of(second));
      [[fallthrough]];
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
    case FUTEX_CMP_REQUEUE_PI:
    case FUTEX_UNLOCK_PI:
      delays->before_waking(object);
      return futex.call(timeout);
    default:
      return futex.call(timeout);
  }
}

#if defined(__x86_64__)
// Where all other calls go: straight to the kernel until real::prepare() has found libc's
// syscall().
extern void* coz_other_syscall;
void coz_plain_syscall();
__attribute__((visibility("hidden"))) void* coz_other_syscall =
    reinterpret_cast<void*>(coz_plain_syscall);
#endif
}

namespace coz::real {

void pass_other_syscalls_to(void* address) noexcept {
#if defined(__x86_64__)
  __atomic_store_n(&coz_other_syscall, address, __ATOMIC_RELEASE);
#else
  static_cast<void>(address);
#endif
}

}  // namespace coz::real

#if defined(__x86_64__)
static_assert(SYS_futex == 202 && SYS_exit_group == 231 && SYS_rt_sigprocmask == 14 &&
                  SYS_execve == 59 && SYS_execveat == 322,
              "the numbers are in the assembler below");
asm(R"(
  .text
  .globl syscall
  .type syscall, @function
syscall:
  .cfi_startproc
  endbr64
  cmpq $202, %rdi
  je coz_futex
  cmpq $231, %rdi
  je coz_exit_group
  cmpq $14, %rdi
  je coz_set_mask
  cmpq $59, %rdi
  je coz_execute
  cmpq $322, %rdi
  je coz_execute
  jmpq *coz_other_syscall(%rip)
  .cfi_endproc
  .size syscall, .-syscall

  .hidden coz_plain_syscall
  .globl coz_plain_syscall
  .type coz_plain_syscall, @function
coz_plain_syscall:
  .cfi_startproc
  endbr64
  movq %rdi, %rax
  movq %rsi, %rdi
  movq %rdx, %rsi
  movq %rcx, %rdx
  movq %r8, %r10
  movq %r9, %r8
  movq 8(%rsp), %r9
  syscall
  cmpq $-4095, %rax
  jae 1f
  ret
1:
  negl %eax
  pushq %rax
  .cfi_adjust_cfa_offset 8
  call __errno_location@PLT
  popq %rcx
  .cfi_adjust_cfa_offset -8
  movl %ecx, (%rax)
  movq $-1, %rax
  ret
  .cfi_endproc
  .size coz_plain_syscall, .-coz_plain_syscall
)");
#else
COZ_EXPORT long syscall(long number, ...) noexcept {
  long a[6];
  va_list arguments;
  va_start(arguments, number);
  for (long& argument : a) argument = va_arg(arguments, long);
  va_end(arguments);
  if (number == SYS_futex) return coz_futex(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  if (number == SYS_exit_group) coz_exit_group(number, a[0]);
  if (number == SYS_rt_sigprocmask) return coz_set_mask(number, a[0], a[1], a[2], a[3]);
  return COZ_REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
#endif
