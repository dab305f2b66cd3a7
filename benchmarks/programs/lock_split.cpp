// Two threads, each with a table of its own, for which there is one mutex. With one for each table
// (100 %), neither waits.
#include <mutex>
#include <thread>

#include "ground_truth.h"

namespace {

ground_truth::Line update_line{"update", 150};
ground_truth::Line prepare_line{"prepare", 50};
ground_truth::Line lock_line{"lock", 1};

[[gnu::noinline]] void update() {
  const long length = ground_truth::varied(update_line);
  for (long i = length; i > 0; --i) asm volatile("" : "+r"(i));  // LINE update
}

[[gnu::noinline]] void prepare() {
  const long length = ground_truth::varied(prepare_line);
  for (long i = length; i > 0; --i) asm volatile("" : "+r"(i));  // LINE prepare
}

std::mutex common;
std::mutex own[2];

void run(int table) {
  for (;;) {
    prepare();
    std::mutex& mutex = lock_line.iterations > 0 ? common : own[table];
    mutex.lock();  // LOCK lock
    update();
    mutex.unlock();
    COZ_PROGRESS_NAMED("update");
    ground_truth::visit();
  }
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  std::thread one(run, 0);
  std::thread other(run, 1);
  one.join();
  other.join();
}
