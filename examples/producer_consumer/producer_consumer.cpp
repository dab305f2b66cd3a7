// Producers make tasks, consumers run them, an unbounded queue lies between (dissertation,
// fig. 6.1). Under more load consumers become what limits the program; nothing shows that before.
//
//   producer_consumer [NAME=VALUE]...
//     producers=2 consumers=2    threads
//     task_us=4000               time that a consumer takes for a task
//     produce_us=task_us         time that a producer takes to make one
//     load=0                     per cent by which tasks really are made faster: what Coz predicts
//                                with --arrival-speedup load%
//     speedup=0                  per cent by which tasks really are run faster
//     consumer=wait              `wait`: tasks wait, as for a device; `compute`: they compute, for
//                                so much processor time: processors change their speed
//     producer=wait              likewise, for making them
//     tasks=0 seconds=10         it ends after so many tasks, or (tasks=0) after so long
//
// It prints how many tasks were run a second.
#include <coz.h>

#include <time.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::duration<double, std::micro>;

struct Options {
  double producers = 2, consumers = 2;
  double task_us = 4000, produce_us = -1;
  double load = 0, speedup = 0;
  bool consumer_computes = false, producer_computes = false;
  double tasks = 0, seconds = 10;
};
Options options;

class Queue {
 public:
  void add(long task) {
    {
      const std::lock_guard guard(mutex_);
      tasks_.push_back(task);
    }
    more_.notify_one();
  }

  // False at the end.
  bool take(long& task) {
    std::unique_lock lock(mutex_);
    more_.wait(lock, [this] { return closed_ || !tasks_.empty(); });
    if (closed_) return false;
    task = tasks_.front();
    tasks_.pop_front();
    return true;
  }

  void close() {
    {
      const std::lock_guard guard(mutex_);
      closed_ = true;
    }
    more_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<long> tasks_;
  bool closed_ = false;
};

Queue queue;
std::atomic<bool> done{false};
std::atomic<long> completed{0};

// In each, one line of source is all the work there is.
__attribute__((noinline)) void run_steps(long steps) {
  for (long i = 0; i < steps; ++i) asm volatile("" : "+r"(i));
}

__attribute__((noinline)) void make_steps(long steps) {
  for (long i = 0; i < steps; ++i) asm volatile("" : "+r"(i));
}

double processor_time_us() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

// Steps take so little time that the clock is looked at every 20 us or so.
void compute(void (*steps)(long), double us) {
  const double end = processor_time_us() + us;
  while (processor_time_us() < end) steps(50'000);
}

void wait_for(double us) { std::this_thread::sleep_for(Microseconds(us)); }

void produce() {
  const double us = options.produce_us * (1 - options.load / 100);
  for (long task = 0; !done; ++task) {
    if (options.producer_computes) {
      compute(make_steps, us);
    } else {
      wait_for(us);
    }
    COZ_ARRIVAL_NAMED("task");
    queue.add(task);
  }
}

void consume() {
  const double us = options.task_us * (1 - options.speedup / 100);
  long task = 0;
  while (queue.take(task)) {
    if (options.consumer_computes) {
      compute(run_steps, us);
    } else {
      wait_for(us);
    }
    COZ_PROGRESS_NAMED("done");
    const long number = ++completed;
    if (options.tasks > 0 && number >= static_cast<long>(options.tasks)) {
      done = true;
      queue.close();
    }
  }
}

bool parse(const std::string& text) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos) return false;
  const std::string name = text.substr(0, at), value = text.substr(at + 1);
  if (name == "consumer" || name == "producer") {
    bool& computes = name == "consumer" ? options.consumer_computes : options.producer_computes;
    computes = value == "compute";
    return computes || value == "wait";
  }
  const struct {
    const char* name;
    double& value;
  } numbers[] = {{"producers", options.producers}, {"consumers", options.consumers},
                 {"task_us", options.task_us},     {"produce_us", options.produce_us},
                 {"load", options.load},           {"speedup", options.speedup},
                 {"tasks", options.tasks},         {"seconds", options.seconds}};
  for (const auto& number : numbers) {
    if (name != number.name) continue;
    char* end = nullptr;
    number.value = std::strtod(value.c_str(), &end);
    return !value.empty() && *end == '\0' && number.value >= 0;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (parse(argv[i])) continue;
    std::fprintf(stderr, "%s: not NAME=VALUE; see the head of producer_consumer.cpp\n", argv[i]);
    return 2;
  }
  if (options.produce_us < 0) options.produce_us = options.task_us;

  const auto start = Clock::now();
  std::vector<std::thread> threads;
  for (int i = 0; i < static_cast<int>(options.consumers); ++i) threads.emplace_back(consume);
  for (int i = 0; i < static_cast<int>(options.producers); ++i) threads.emplace_back(produce);
  if (options.tasks == 0) {
    wait_for(options.seconds * 1e6);
    done = true;
    queue.close();
  }
  for (std::thread& thread : threads) thread.join();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::printf("%.2f tasks a second\n", static_cast<double>(completed) / seconds);
  return 0;
}
