// Two processes that share a mutex, each with work of its own besides.
#include <pthread.h>

#include "processes.h"

namespace {

ground_truth::Line inside_line{"inside", 150};
ground_truth::Line outside_line{"outside", 100};

struct Shared {
  pthread_mutex_t mutex;
  std::atomic<long> inside;
  std::atomic<long> outside;
};

[[gnu::noinline]] void work_inside(long length) {
  for (long i = length; i > 0; --i) asm volatile("" : "+r"(i));  // LINE inside
}

[[gnu::noinline]] void work_outside(long length) {
  for (long i = length; i > 0; --i) asm volatile("" : "+r"(i));  // LINE outside
}

void one_round(Shared& shared) {
  pthread_mutex_lock(&shared.mutex);
  work_inside(shared.inside);
  pthread_mutex_unlock(&shared.mutex);
  work_outside(shared.outside);
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  auto& shared = ground_truth::shared<Shared>();
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&shared.mutex, &attributes);
  shared.inside = inside_line.iterations.load();
  shared.outside = outside_line.iterations.load();
  const pid_t first = getpid();
  ground_truth::start_process([&] {
    while (getppid() == first) one_round(shared);
  });
  for (;;) {
    one_round(shared);
    shared.inside = ground_truth::varied(inside_line);
    shared.outside = ground_truth::varied(outside_line);
    COZ_PROGRESS_NAMED("round");
    ground_truth::visit();
  }
}
