// A thread works while main sleeps in a call that has no wrapper: stdio's own read().
#include <coz.h>

#include <cstdio>
#include <thread>

namespace {

void work() {
  for (;;) {
    for (int i = 200000; i > 0; --i) __asm__ volatile("" : "+r"(i));
    for (int i = 100000; i > 0; --i) __asm__ volatile("" : "+r"(i));
    COZ_PROGRESS_NAMED("work");
  }
}

}  // namespace

int main() {
  std::thread(work).detach();
  getchar();
}
