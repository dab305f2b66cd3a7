// The cost of a visit to a progress point.
//
// visits KIND THREADS COUNT: each of THREADS threads makes COUNT visits; KIND is "none" (the bare
// loop), "progress" (COZ_PROGRESS) or "latency" (COZ_BEGIN and COZ_END). Prints "ns NANOSECONDS":
// the mean real time of a thread for one turn of the loop.
#include <coz.h>
#include <pthread.h>

#include <chrono>
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

void* run(void* result) {
  pthread_barrier_wait(&begin);
  const auto start = std::chrono::steady_clock::now();
  loop();
  const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
  *static_cast<double*>(result) = taken.count() / static_cast<double>(turns);
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
