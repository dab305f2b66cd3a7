// A pool of two threads that run tasks of two kinds. Each request is handled, by any thread, and
// then finished; only one request is finished at a time, as on an executor's strand. A worker takes
// every task after the same call and asks for the next one by the same call, so that calls do not
// tell which kind of task it runs.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "ground_truth.h"

namespace {

constexpr int kRequests = 4;

ground_truth::Line handle_line{"handle", 600};
ground_truth::Line finish_line{"finish", 400};

[[gnu::noinline]] void handle() {
  for (long i = handle_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE handle
}

[[gnu::noinline]] void finish() {
  for (long i = finish_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE finish
}

enum class Task { kHandle, kFinish };

std::mutex mutex;
std::condition_variable is_there;
std::deque<Task> tasks;
int to_finish = 0;  // requests that wait for the one that is being finished
bool is_finishing = false;

void finish_one() {
  if (is_finishing) {
    ++to_finish;
    return;
  }
  is_finishing = true;
  tasks.push_back(Task::kFinish);
}

// With the mutex held.
void ended(Task task) {
  if (task == Task::kHandle) return finish_one();
  COZ_PROGRESS_NAMED("request");
  ground_truth::visit();
  tasks.push_back(Task::kHandle);
  is_finishing = false;
  if (to_finish > 0) {
    --to_finish;
    finish_one();
  }
}

void work() {
  std::unique_lock lock(mutex);
  for (;;) {
    is_there.wait(lock, [] { return !tasks.empty(); });
    const Task task = tasks.front();
    tasks.pop_front();
    lock.unlock();
    task == Task::kHandle ? handle() : finish();
    lock.lock();
    ended(task);
    if (!tasks.empty()) is_there.notify_one();
  }
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  tasks.assign(kRequests, Task::kHandle);
  std::thread other(work);
  work();
}
