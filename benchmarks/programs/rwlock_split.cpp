// One thread changes its table, another looks into its own. There is one lock of readers and
// writers for both; with one for each table (100 %), neither waits.
#include <pthread.h>
#include <thread>

#include "ground_truth.h"

namespace {

ground_truth::Line update_line{"update", 300};
ground_truth::Line look_line{"look", 100};
ground_truth::Line lock_line{"lock", 1};

[[gnu::noinline]] void update() {
  const long length = ground_truth::varied(update_line);
  for (long i = length; i > 0; --i) asm volatile("" : "+r"(i));  // LINE update
}

[[gnu::noinline]] void look() {
  const long length = ground_truth::varied(look_line);
  for (long i = length; i > 0; --i) asm volatile("" : "+r"(i));  // LINE look
}

pthread_rwlock_t common = PTHREAD_RWLOCK_INITIALIZER;
pthread_rwlock_t own[2] = {PTHREAD_RWLOCK_INITIALIZER, PTHREAD_RWLOCK_INITIALIZER};

pthread_rwlock_t& lock(int table) {
  pthread_rwlock_t& taken = lock_line.iterations > 0 ? common : own[table];
  (table == 0 ? pthread_rwlock_wrlock : pthread_rwlock_rdlock)(&taken);  // LOCK lock
  return taken;
}

void run(int table) {
  for (;;) {
    pthread_rwlock_t& taken = lock(table);
    if (table == 0) {
      update();
    } else {
      look();
    }
    pthread_rwlock_unlock(&taken);
    COZ_PROGRESS_NAMED("use");
    ground_truth::visit();
  }
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  std::thread writer(run, 0);
  std::thread reader(run, 1);
  writer.join();
  reader.join();
}
