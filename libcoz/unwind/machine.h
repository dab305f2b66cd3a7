// The registers of a frame, by DWARF's numbers, and what else differs between machines.
//
// Numbers: System V ABI for x86-64, figure 3.36; DWARF for the Arm 64-bit Architecture,
// section 4.1. Signal-safe; own nothing.
#ifndef LIBCOZ_UNWIND_MACHINE_H
#define LIBCOZ_UNWIND_MACHINE_H

#include <ucontext.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace coz {

#if defined(__x86_64__)
// The last stands for the return address in what describes a frame, and for pc in its caller.
inline constexpr std::size_t kRegisters = 17;
inline constexpr std::size_t kStackPointer = 7;
#elif defined(__aarch64__)
inline constexpr std::size_t kRegisters = 32;  // x0 to x30, and sp
inline constexpr std::size_t kStackPointer = 31;
#else
#error "Coz supports x86-64 and aarch64"
#endif

struct FrameRegisters {
  std::uintptr_t pc = 0;
  std::array<std::uintptr_t, kRegisters> values{};
};

// The registers of an interrupted function, from what a signal handler is given: a ucontext_t, of
// which the first kContextLooked bytes are enough.
FrameRegisters interrupted_registers(const void* context) noexcept;

// The registers of the function that calls this, where it calls: those that an unwind table refers
// to.
[[gnu::always_inline]] inline FrameRegisters current_registers() noexcept {
  FrameRegisters here;
#if defined(__x86_64__)
  asm volatile(
      "leaq 0(%%rip), %%rax\n\t"
      "movq %%rax, %0\n\t"
      "movq %%rbx, %1\n\t"
      "movq %%rbp, %2\n\t"
      "movq %%rsp, %3\n\t"
      "movq %%r12, %4\n\t"
      "movq %%r13, %5\n\t"
      "movq %%r14, %6\n\t"
      "movq %%r15, %7"
      : "=m"(here.pc), "=m"(here.values[3]), "=m"(here.values[6]), "=m"(here.values[7]),
        "=m"(here.values[12]), "=m"(here.values[13]), "=m"(here.values[14]), "=m"(here.values[15])
      :
      : "rax");
  here.values[16] = here.pc;
#else
  asm volatile(
      "adr x9, .\n\t"
      "mov x10, sp\n\t"
      "str x9, %0\n\t"
      "stp x19, x20, [%2]\n\t"
      "stp x21, x22, [%2, #16]\n\t"
      "stp x23, x24, [%2, #32]\n\t"
      "stp x25, x26, [%2, #48]\n\t"
      "stp x27, x28, [%2, #64]\n\t"
      "stp x29, x30, [%2, #80]\n\t"
      "str x10, [%2, #96]"
      : "=m"(here.pc), "+m"(here.values)
      : "r"(&here.values[19])
      : "x9", "x10");
#endif
  return here;
}

// A return address without its signature (pointer authentication), if it has one.
inline std::uintptr_t without_signature(std::uintptr_t address) noexcept {
#if defined(__aarch64__)
  register std::uintptr_t x30 asm("x30") = address;
  asm("hint #7" : "+r"(x30));  // xpaclri, which older processors pass over
  return x30;
#else
  return address;
#endif
}

// The instructions that a signal handler returns to. The interrupted registers are then in the
// kernel's ucontext, kContextAbove bytes above the stack pointer.
#if defined(__x86_64__)
// mov $SYS_rt_sigreturn, %rax; syscall. The return address, just below the ucontext, is popped.
inline constexpr std::array<std::uint8_t, 9> kSignalReturn = {0x48, 0xc7, 0xc0, 0x0f, 0x00,
                                                              0x00, 0x00, 0x0f, 0x05};
inline constexpr std::size_t kContextAbove = 0;
inline constexpr std::size_t kContextLooked =
    offsetof(ucontext_t, uc_mcontext) + offsetof(mcontext_t, fpregs);
#else
// mov x8, #SYS_rt_sigreturn; svc #0. A siginfo_t of 128 bytes comes first.
inline constexpr std::array<std::uint8_t, 8> kSignalReturn = {0x68, 0x11, 0x80, 0xd2,
                                                              0x01, 0x00, 0x00, 0xd4};
inline constexpr std::size_t kContextAbove = 128;
inline constexpr std::size_t kContextLooked =
    offsetof(ucontext_t, uc_mcontext) + offsetof(mcontext_t, __reserved);
#endif

}  // namespace coz

#endif  // LIBCOZ_UNWIND_MACHINE_H
