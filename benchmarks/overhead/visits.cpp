// The cost of a visit to a progress point.
//
// visits KIND THREADS COUNT: each of THREADS threads makes COUNT visits; KIND is "none" (the bare
// loop), "progress" (COZ_PROGRESS) or "latency" (COZ_BEGIN and COZ_END). Prints "ns NANOSECONDS":
// the mean processor time of a thread for one turn of the loop.
#include <coz.h>
#include <pthread.h>
#include <time.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

std::size_t turns = 0;
void (*loop)() = nullptr;
pthread_barrier_t begin;

void bare() {
  for (std::size_t i = 0; i < turns; ++i) asm volatile("" : "+r"(i));
}

void progress() {
  for (std::size_t i = 0; i < turns; ++i) {
    asm volatile("" : "+r"(i));
    COZ_PROGRESS_NAMED("visit");
  }
}

void latency() {
  for (std::size_t i = 0; i < turns; ++i) {
    asm volatile("" : "+r"(i));
    COZ_BEGIN("operation");
    COZ_END("operation");
  }
}

// Of this thread, in nanoseconds: what else runs on the machine does not count.
double processor_time() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

void* run(void* result) {
  pthread_barrier_wait(&begin);
  const double start = processor_time();
  loop();
  *static_cast<double*>(result) = (processor_time() - start) / static_cast<double>(turns);
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t count = argc == 4 ? std::strtoull(argv[2], nullptr, 10) : 0;
  turns = argc == 4 ? std::strtoull(argv[3], nullptr, 10) : 0;
  if (argc == 4 && std::strcmp(argv[1], "none") == 0) loop = bare;
  if (argc == 4 && std::strcmp(argv[1], "progress") == 0) loop = progress;
  if (argc == 4 && std::strcmp(argv[1], "latency") == 0) loop = latency;
  if (count == 0 || turns == 0 || loop == nullptr) {
    std::fputs("usage: visits none|progress|latency THREADS COUNT\n", stderr);
    return 2;
  }
  pthread_barrier_init(&begin, nullptr, static_cast<unsigned>(count));
  std::vector<double> results(count);
  std::vector<pthread_t> threads(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (pthread_create(&threads[i], nullptr, run, &results[i]) != 0) return 1;
  }
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    pthread_join(threads[i], nullptr);
    sum += results[i];
  }
  std::printf("ns %.3f\n", sum / static_cast<double>(count));
  return 0;
}
