// A pool of two threads: main() prepares a job of four tasks, wakes both by one broadcast, and
// waits until the last of the tasks is done. Each task is taken with the pool's mutex held, so that
// who is woken first holds up the other.
#include <condition_variable>
#include <mutex>
#include <thread>

#include "ground_truth.h"

namespace {

constexpr int kTasks = 4;
constexpr int kThreads = 2;

ground_truth::Line prepare_line{"prepare", 300};
ground_truth::Line take_line{"take", 100};
ground_truth::Line work_line{"work", 500};

[[gnu::noinline]] void prepare() {
  const long length = ground_truth::varied(prepare_line);
  for (long i = length; i > 0; --i) asm volatile("" : "+r"(i));  // LINE prepare
}

[[gnu::noinline]] void take() {
  const long length = ground_truth::varied(take_line);
  for (long i = length; i > 0; --i) asm volatile("" : "+r"(i));  // LINE take
}

[[gnu::noinline]] void work() {
  const long length = ground_truth::varied(work_line);
  for (long i = length; i > 0; --i) asm volatile("" : "+r"(i));  // LINE work
}

std::mutex mutex;
std::condition_variable is_there;
std::condition_variable is_done;
int to_take = 0;
int to_finish = 0;

void run_tasks() {
  std::unique_lock lock(mutex);
  for (;;) {
    is_there.wait(lock, [] { return to_take > 0; });
    --to_take;
    take();
    lock.unlock();
    work();
    lock.lock();
    if (--to_finish == 0) is_done.notify_one();
  }
}

void run_job() {
  prepare();
  std::unique_lock lock(mutex);
  to_take = to_finish = kTasks;
  is_there.notify_all();
  is_done.wait(lock, [] { return to_finish == 0; });
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  for (int i = 0; i < kThreads; ++i) std::thread(run_tasks).detach();
  for (;;) {
    run_job();
    COZ_PROGRESS_NAMED("job");
    ground_truth::visit();
  }
}
