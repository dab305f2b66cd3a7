// Passes places while flags and vector registers are in use, in threads; prints how often, and how
// often something was not as it had been.
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

#if defined(__x86_64__)
extern "C" {
// 1 when vectors and flags have survived `step` and `behind`.
long pass(const unsigned long* values);
}

asm(R"(
  .text
  .globl pass
  .type pass, @function
pass:
  movdqu (%rdi), %xmm0
  movdqu 16(%rdi), %xmm7
  mov (%rdi), %rax
  mov %rax, -120(%rsp)
  mov $0x7fffffff, %ecx
  add $1, %ecx
  stc
  jmp step
  .size pass, .-pass
  .globl step
  .type step, @function
step:
  lea 0x1234(%rax), %rdx
  jmp behind
  .size step, .-step
  .globl behind
  .type behind, @function
behind:
  lea -0x1234(%rdx), %rdx
  jno 1f
  jnc 1f
  cmp %rax, %rdx
  jne 1f
  cmp %rax, -120(%rsp)
  jne 1f
  pcmpeqb (%rdi), %xmm0
  pcmpeqb 16(%rdi), %xmm7
  pand %xmm7, %xmm0
  pmovmskb %xmm0, %eax
  cmp $0xffff, %eax
  jne 1f
  jmp tight_loop
1:
  xor %eax, %eax
  ret
  .size behind, .-behind
  .globl tight_loop
  .type tight_loop, @function
tight_loop:
  xor %eax, %eax
  inc %eax
  ret
  .size tight_loop, .-tight_loop
  .globl into_tight_loop
  .type into_tight_loop, @function
into_tight_loop:
  jmp tight_loop + 2
  .size into_tight_loop, .-into_tight_loop
)");
#else
extern "C" long pass(const unsigned long*) { return 1; }
#endif

namespace {
const unsigned long values[4] = {0x0123456789abcdef, 0xfedcba9876543210, 0x1111222233334444, 5};
std::atomic<long> passes, wrong;

void work() {
  for (int i = 0; i < 50000; ++i) {
    passes.fetch_add(1, std::memory_order_relaxed);
    if (pass(values) != 1) ++wrong;
  }
}
}  // namespace

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  std::printf("%ld %ld\n", passes.load(), wrong.load());
  return 0;
}
