// Two threads that meet after each round. One spends most of its time in the kernel, in two lines:
// page faults, and calls that Coz does not intercept.
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <thread>

#include "ground_truth.h"

namespace {

constexpr long kPage = 4096;
// What a page and a call cost, in iterations of an empty loop.
constexpr long kPageCost = 4500;
constexpr long kCallCost = 350;

ground_truth::Line faults_line{"faults", 400};
ground_truth::Line calls_line{"calls", 250};
ground_truth::Line alone_line{"alone", 150};
ground_truth::Line beside_line{"beside", 350};

pthread_barrier_t meeting;
char* memory = nullptr;

// On one line of source, so that all of it is one target.
// clang-format off
[[gnu::noinline]] void faults() {
  const long length = faults_line.iterations / kPageCost * kPage;
  for (long i = 0; i < length; i += kPage) { *const_cast<volatile char*>(memory + i) = 1; } madvise(memory, static_cast<std::size_t>(length), MADV_DONTNEED);  // LINE faults
}
// clang-format on

[[gnu::noinline]] void calls() {
  for (long i = calls_line.iterations; i > 0; i -= kCallCost) syscall(SYS_getppid);  // LINE calls
}

[[gnu::noinline]] void alone() {
  for (long i = alone_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE alone
}

[[gnu::noinline]] void beside() {
  for (long i = beside_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE beside
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  const long room = faults_line.whole / kPageCost * kPage;
  memory = static_cast<char*>(mmap(nullptr, static_cast<std::size_t>(room), PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  pthread_barrier_init(&meeting, nullptr, 2);
  std::thread([] {
    for (;;) {
      beside();
      pthread_barrier_wait(&meeting);
    }
  }).detach();
  for (;;) {
    faults();
    calls();
    alone();
    pthread_barrier_wait(&meeting);
    COZ_PROGRESS_NAMED("round");
    ground_truth::visit();
  }
}
