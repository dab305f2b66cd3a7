#include "patch/jump_entry.h"

#if defined(__x86_64__)

#include <cpuid.h>

#include <initializer_list>

extern "C" {
// Read by the code below.
[[gnu::visibility("hidden"), gnu::used]] coz::CountVisit coz_jump_count = nullptr;
[[gnu::visibility("hidden"), gnu::used]] coz::TimeVisit coz_jump_time = nullptr;
[[gnu::visibility("hidden")]] void coz_jump_entry();
}

// On entry the stack holds: the return into the trampoline, the site, the place, 128 bytes of the
// program's own. To the unwinder this is a signal frame: an interruption just before the place,
// not a call that returns behind it. xsave writes what the mask 0xe7 names and the system has
// enabled: x87, SSE, AVX, AVX-512; its header must be zero before. The signal handlers of the
// kernel's save the same.
asm(R"(
  .text
  .hidden coz_jump_entry
  .type coz_jump_entry, @function
  .p2align 4
coz_jump_entry:
  .cfi_startproc
  .cfi_signal_frame
  .cfi_def_cfa %rsp, 152
  .cfi_offset %rip, -136
  pushfq
  .cfi_adjust_cfa_offset 8
  .irp register, rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11, rbp
  push %\register
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %\register, 0
  .endr
  mov %rsp, %rbp
  .cfi_def_cfa_register %rbp
  cld
  and $-16, %rsp
  mov 96(%rbp), %rdi
  call *coz_jump_count(%rip)
  test %al, %al
  jnz 2f
  .cfi_remember_state
1:
  mov %rbp, %rsp
  .cfi_def_cfa_register %rsp
  .irp register, rbp, r11, r10, r9, r8, rdi, rsi, rdx, rcx, rax
  pop %\register
  .cfi_adjust_cfa_offset -8
  .cfi_restore %\register
  .endr
  popfq
  .cfi_adjust_cfa_offset -8
  ret
2:
  .cfi_restore_state
  sub $2688, %rsp
  and $-64, %rsp
  xor %eax, %eax
  .irp offset, 0, 8, 16, 24, 32, 40, 48, 56
  mov %rax, 512+\offset(%rsp)
  .endr
  mov $0xe7, %eax
  xor %edx, %edx
  xsave64 (%rsp)
  mov 96(%rbp), %rdi
  call *coz_jump_time(%rip)
  mov $0xe7, %eax
  xor %edx, %edx
  xrstor64 (%rsp)
  jmp 1b
  .cfi_endproc
  .size coz_jump_entry, .-coz_jump_entry
)");

namespace coz {
namespace {

// Whether what xsave writes with our mask fits into the 2,688 bytes that are kept for it.
bool can_save_vectors() noexcept {
  constexpr unsigned kOsXsave = 1U << 27, kRoom = 2688;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kOsXsave) == 0) return false;
  for (const unsigned part : {2U, 5U, 6U, 7U}) {
    if (__get_cpuid_count(0xd, part, &a, &b, &c, &d) == 0) return false;
    if (a != 0 && a + b > kRoom) return false;  // size, offset
  }
  return true;
}

}  // namespace

std::uintptr_t prepare_jump_entry(CountVisit count, TimeVisit time) noexcept {
  if (!can_save_vectors()) return 0;
  coz_jump_count = count;
  coz_jump_time = time;
  return reinterpret_cast<std::uintptr_t>(&coz_jump_entry);
}

}  // namespace coz

#else

namespace coz {

std::uintptr_t prepare_jump_entry(CountVisit, TimeVisit) noexcept { return 0; }

}  // namespace coz

#endif
