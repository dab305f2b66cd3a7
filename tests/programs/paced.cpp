// Programs whose pace comes from outside: a request every so often, which threads work on in turn.
//
//   paced SECONDS MEANS PERIOD MICROSECONDS...   work of 1 to 3 stages, a thread for each
//
// MEANS: timer, a clock; timerfd; pipe or socket, a client in another process that sends at times
// of its own; device or device:N, another process that takes PERIOD for each of N requests under
// way, one after the other.
#include <arpa/inet.h>
#include <coz.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

namespace {

constexpr long kSecond = 1'000'000'000;
long lengths[3];  // ns
long period;      // ns

long now(clockid_t clock = CLOCK_MONOTONIC) {
  timespec time = {};
  clock_gettime(clock, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

// Processor time of the thread. The load is then what it is said to be, however fast the machine.
bool is_before(long end) { return now(CLOCK_THREAD_CPUTIME_ID) < end; }
long after(long length) { return now(CLOCK_THREAD_CPUTIME_ID) + length; }

// A line's work: so many ns, checked every 50 µs or so.
#define WORK(length)                                    \
  for (const long end = after(length); is_before(end);) \
    for (long i = 150'000; i > 0; --i) asm volatile("" : "+r"(i))

[[gnu::noinline]] void first() { WORK(lengths[0]); }
[[gnu::noinline]] void second() { WORK(lengths[1]); }
[[gnu::noinline]] void third() { WORK(lengths[2]); }
void (*const kWork[])() = {first, second, third};

void sleep_until(long time) {
  const timespec until = {time / kSecond, time % kSecond};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) != 0) {
  }
}

// How many requests wait for a stage.
class Queue {
 public:
  void push() {
    const std::lock_guard lock(mutex_);
    ++items_;
    changed_.notify_one();
  }
  void pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return items_ > 0; });
    --items_;
  }

 private:
  int items_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
} queues[3];

[[noreturn]] void send_at_own_times(int to) {
  for (long next = now();; sleep_until(next += period)) {
    if (write(to, "x", 1) != 1) _exit(0);
  }
}

// A device needs no processor: that the process gets one late must not slow it down.
[[noreturn]] void serve_at_fixed_speed(int from, int to) {
  char byte;
  for (long ready = 0;;) {
    int under_way = 0;
    ioctl(from, FIONREAD, &under_way);
    if (read(from, &byte, 1) != 1) break;
    ready = (under_way > 0 ? ready : now()) + period;
    sleep_until(ready);
    if (write(to, &byte, 1) != 1) break;
  }
  _exit(0);
}

// Where requests come from: a descriptor that is read, and one that answers go to, or -1.
struct Outside {
  int requests = -1;
  int answers = -1;
  int each = 1;  // bytes of a request
};

Outside connect_socket() {
  const int listening = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const name = reinterpret_cast<sockaddr*>(&address);
  if (bind(listening, name, size) != 0 || listen(listening, 1) != 0) std::abort();
  getsockname(listening, name, &size);
  if (fork() == 0) {
    const int client = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(client, name, size) != 0) _exit(1);
    send_at_own_times(client);
  }
  return {accept(listening, nullptr, nullptr), -1};
}

Outside start_child(int in_flight) {
  int requests[2];
  int answers[2];
  if (pipe(requests) != 0 || pipe(answers) != 0) std::abort();
  if (fork() == 0) {
    close(requests[0]);
    close(answers[1]);  // so that reading ends when the program has ended
    if (in_flight == 0) send_at_own_times(requests[1]);
    serve_at_fixed_speed(answers[0], requests[1]);
  }
  close(requests[1]);
  close(answers[0]);
  for (int i = 0; i < in_flight; ++i) {
    if (write(answers[1], "x", 1) != 1) std::abort();
  }
  return {requests[0], in_flight > 0 ? answers[1] : -1};
}

Outside start(const std::string& means) {
  signal(SIGPIPE, SIG_IGN);
  if (means == "timer") return {};
  if (means == "timerfd") {
    const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    const timespec time = {period / kSecond, period % kSecond};
    const itimerspec every = {time, time};
    timerfd_settime(timer, 0, &every, nullptr);
    return {timer, -1, 8};
  }
  if (means == "socket") return connect_socket();
  if (means == "pipe") return start_child(0);
  return start_child(means == "device" ? 1 : std::atoi(means.c_str() + 7));
}

[[noreturn]] void run_first(Outside outside, int stages) {
  long next = now();
  for (;;) {
    std::uint64_t requests = 1;
    if (outside.requests < 0) {
      sleep_until(next += period);
    } else if (read(outside.requests, &requests, outside.each) != outside.each) {
      std::_Exit(1);
    }
    if (outside.each == 1) requests = 1;
    for (; requests > 0; --requests) {
      first();
      if (outside.answers >= 0 && write(outside.answers, "x", 1) != 1) std::_Exit(1);
      if (stages > 1) {
        queues[1].push();
      } else {
        COZ_PROGRESS_NAMED("turn");
      }
    }
  }
}

[[noreturn]] void run_stage(int stage, bool is_last) {
  for (;;) {
    queues[stage].pop();
    kWork[stage]();
    if (is_last) {
      COZ_PROGRESS_NAMED("turn");
    } else {
      queues[stage + 1].push();
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  const int stages = count - 4;
  if (stages < 1 || stages > 3) return 2;
  period = 1000 * std::atol(arguments[3]);
  for (int i = 0; i < stages; ++i) lengths[i] = 1000 * std::atol(arguments[4 + i]);
  const Outside outside = start(arguments[2]);
  std::thread(run_first, outside, stages).detach();
  for (int i = 1; i < stages; ++i) std::thread(run_stage, i, i + 1 == stages).detach();
  std::this_thread::sleep_for(std::chrono::duration<double>(std::atof(arguments[1])));
  std::_Exit(0);
}
