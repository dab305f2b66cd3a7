// One thread receives lines from standard input and serves them itself, for a millisecond of
// processor time each: however fast lines come, it can do no more than that.
#include <coz.h>
#include <time.h>

#include <cstdio>

namespace {

double processor_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

}  // namespace

int main() {
  for (int c = std::getchar(); c != EOF; c = std::getchar()) {
    if (c != '\n') continue;
    COZ_ARRIVAL;
    const double end = processor_time() + 1e-3;
    while (processor_time() < end) {
    }
    COZ_PROGRESS;
  }
  return 0;
}
