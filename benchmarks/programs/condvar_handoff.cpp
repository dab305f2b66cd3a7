// Two threads take turns, by a condition variable for each: ping(), then pong(), and so on. aside()
// runs in the first thread during pong(), and is done before it: it does not pay.
#include <condition_variable>
#include <mutex>
#include <thread>

#include "ground_truth.h"

namespace {

ground_truth::Line ping_line{"ping", 400};
ground_truth::Line pong_line{"pong", 250};
ground_truth::Line aside_line{"aside", 100};

[[gnu::noinline]] void ping() {
  for (long i = ping_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE ping
}

[[gnu::noinline]] void pong() {
  for (long i = pong_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE pong
}

[[gnu::noinline]] void aside() {
  for (long i = aside_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE aside
}

std::mutex mutex;
std::condition_variable may_ping;
std::condition_variable may_pong;
bool pong_is_next = false;

void await(std::condition_variable& condition, bool pong) {
  std::unique_lock lock(mutex);
  condition.wait(lock, [=] { return pong_is_next == pong; });
}

void hand_over(std::condition_variable& condition, bool to_pong) {
  const std::lock_guard lock(mutex);
  pong_is_next = to_pong;
  condition.notify_one();
}

void run_ping() {
  for (;;) {
    await(may_ping, false);
    ping();
    hand_over(may_pong, true);
    aside();
  }
}

void run_pong() {
  for (;;) {
    await(may_pong, true);
    pong();
    COZ_PROGRESS_NAMED("round");
    ground_truth::visit();
    hand_over(may_ping, false);
  }
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  std::thread one(run_ping);
  std::thread other(run_pong);
  one.join();
  other.join();
}
