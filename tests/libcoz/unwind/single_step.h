// Runs a function one instruction at a time, and asks at each.
#ifndef TESTS_LIBCOZ_UNWIND_SINGLE_STEP_H
#define TESTS_LIBCOZ_UNWIND_SINGLE_STEP_H

#include <csignal>
#include <cstdint>

namespace single_step {

inline void (*at_each)(void* context) = nullptr;

inline void handle(int, siginfo_t*, void* context) { at_each(context); }

#if defined(__x86_64__)

// `ask` is called in a signal handler before each instruction of `run`, with the handler's context.
template <typename Run>
[[gnu::noinline]] void through(Run run, void (*ask)(void* context)) {
  at_each = ask;
  struct sigaction action{}, before{};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, &before);
  // The trap flag; the red zone below the stack pointer is left alone.
  asm volatile(
      "lea -128(%%rsp), %%rsp; pushfq; orq $0x100, (%%rsp); popfq; lea 128(%%rsp), %%rsp" ::
          : "memory", "cc");
  run();
  asm volatile(
      "lea -128(%%rsp), %%rsp; pushfq; andq $~0x100, (%%rsp); popfq; lea 128(%%rsp), %%rsp" ::
          : "memory", "cc");
  sigaction(SIGTRAP, &before, nullptr);
}

#endif

}  // namespace single_step

#endif  // TESTS_LIBCOZ_UNWIND_SINGLE_STEP_H
