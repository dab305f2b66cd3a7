// Two readers, and a writer that comes every 2.5 ms and keeps both out for as long as it writes.
// Writers go first, or two readers would never let one in. While the writer works, the readers
// wait: two threads are busy, not three.
#include <pthread.h>
#include <thread>

#include "ground_truth.h"

namespace {

ground_truth::Line read_line{"read", 150};
ground_truth::Line digest_line{"digest", 60};
ground_truth::Line update_line{"update", 500};

[[gnu::noinline]] void read() {
  for (long i = read_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE read
}

[[gnu::noinline]] void digest() {
  for (long i = digest_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE digest
}

[[gnu::noinline]] void update() {
  for (long i = update_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE update
}

pthread_rwlock_t rwlock;

void run_reader() {
  for (;;) {
    pthread_rwlock_rdlock(&rwlock);
    read();
    pthread_rwlock_unlock(&rwlock);
    digest();
    COZ_PROGRESS_NAMED("lookup");
    ground_truth::visit();
  }
}

void run_writer() {
  for (;;) {
    ground_truth::sleep_microseconds(2500);
    pthread_rwlock_wrlock(&rwlock);
    update();
    pthread_rwlock_unlock(&rwlock);
  }
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  pthread_rwlockattr_t attributes;
  pthread_rwlockattr_init(&attributes);
  pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
  pthread_rwlock_init(&rwlock, &attributes);
  std::thread one(run_reader);
  std::thread other(run_reader);
  std::thread writer(run_writer);
  one.join();
  other.join();
  writer.join();
}
