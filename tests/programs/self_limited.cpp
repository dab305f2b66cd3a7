// Programs that set their own pace: nothing outside them does.
//
//   self_limited SECONDS pipeline QUEUE MICROSECONDS...   2 or 3 stages, each a thread
//   self_limited SECONDS forks MICROSECONDS...            rounds
//
// Between the stages are bounded queues. A round does the first line alone, then the others in
// threads.
#include <coz.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace {

long lengths[3];

// One line each, of a loop at about 3 GHz.
[[gnu::noinline]] void first() {
  for (long i = lengths[0]; i > 0; --i) asm volatile("" : "+r"(i));
}
[[gnu::noinline]] void second() {
  for (long i = lengths[1]; i > 0; --i) asm volatile("" : "+r"(i));
}
[[gnu::noinline]] void third() {
  for (long i = lengths[2]; i > 0; --i) asm volatile("" : "+r"(i));
}
void (*const kWork[])() = {first, second, third};

class Queue {
 public:
  explicit Queue(int capacity) : capacity_(capacity) {}
  void push() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return items_ < capacity_; });
    ++items_;
    changed_.notify_one();
  }
  void pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return items_ > 0; });
    --items_;
    changed_.notify_one();
  }

 private:
  const int capacity_;
  int items_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
};

[[noreturn]] void run_stage(int stage, Queue* from, Queue* to) {
  for (;;) {
    if (from != nullptr) from->pop();
    kWork[stage]();
    if (to != nullptr) {
      to->push();
    } else {
      COZ_PROGRESS_NAMED("turn");
    }
  }
}

void pipeline(int stages, int capacity) {
  static std::deque<Queue> queues;
  for (int i = 1; i < stages; ++i) queues.emplace_back(capacity);
  for (int i = 0; i < stages; ++i) {
    Queue* const from = i > 0 ? &queues[i - 1] : nullptr;
    Queue* const to = i + 1 < stages ? &queues[i] : nullptr;
    std::thread(run_stage, i, from, to).detach();
  }
}

[[noreturn]] void forks(int lines) {
  for (;;) {
    first();
    std::vector<std::thread> threads;
    for (int i = 1; i < lines; ++i) threads.emplace_back(kWork[i]);
    for (std::thread& thread : threads) thread.join();
    COZ_PROGRESS_NAMED("turn");
  }
}

}  // namespace

int main(int count, char** arguments) {
  const bool is_pipeline = std::strcmp(arguments[2], "pipeline") == 0;
  const int before = is_pipeline ? 4 : 3;
  const int lines = count - before;
  if (lines < 2 || lines > 3) return 2;
  for (int i = 0; i < lines; ++i) lengths[i] = 3000 * std::atol(arguments[before + i]);
  if (is_pipeline) {
    pipeline(lines, std::atoi(arguments[3]));
  } else {
    std::thread(forks, lines).detach();
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(std::atof(arguments[1])));
  std::_Exit(0);
}
