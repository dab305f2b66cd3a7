// Threads that meet at a barrier twice in each round; the first has half as much to do again before
// the first meeting.
#include <pthread.h>
#include <thread>

#include "crowd.h"
#include "ground_truth.h"

namespace {

using ground_truth::varied;

ground_truth::Line usual_line{"usual", 1500};
ground_truth::Line more_line{"more", 750};
ground_truth::Line together_line{"together", 1000};

[[gnu::noinline]] void usual() {
  for (long i = varied(usual_line); i > 0; --i) asm volatile("" : "+r"(i));  // LINE usual
}

[[gnu::noinline]] void more() {
  for (long i = varied(more_line); i > 0; --i) asm volatile("" : "+r"(i));  // LINE more
}

[[gnu::noinline]] void together() {
  for (long i = varied(together_line); i > 0; --i) asm volatile("" : "+r"(i));  // LINE together
}

pthread_barrier_t barrier;

void work(int number) {
  for (;;) {
    usual();
    if (number == 0) more();
    pthread_barrier_wait(&barrier);
    together();
    pthread_barrier_wait(&barrier);
    if (number != 0) continue;
    COZ_PROGRESS_NAMED("round");
    ground_truth::visit();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = crowd::begin(argc, argv);
  pthread_barrier_init(&barrier, nullptr, static_cast<unsigned>(threads));
  crowd::run(threads, work);
}
