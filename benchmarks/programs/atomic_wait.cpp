// A maker and a user of items, which wait for each other by std::atomic::wait; the maker may be two
// items ahead. The maker's lines pay until the user is the slower one, the user's line does not.
#include <atomic>
#include <thread>

#include "ground_truth.h"

namespace {

ground_truth::Line make_line{"make", 500};
ground_truth::Line check_line{"check", 100};
ground_truth::Line use_line{"use", 300};

[[gnu::noinline]] void make() {
  for (long i = make_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE make
}

[[gnu::noinline]] void check() {
  for (long i = check_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE check
}

[[gnu::noinline]] void use() {
  for (long i = use_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE use
}

std::atomic<int> made{0};
std::atomic<int> used{0};

// Counters wrap round on very long runs; only their difference matters.
int ahead(int one, int other) {
  return static_cast<int>(static_cast<unsigned>(one) - static_cast<unsigned>(other));
}

void await(const std::atomic<int>& counter, int least) {
  for (int seen = counter; ahead(seen, least) < 0; seen = counter) counter.wait(seen);
}

void run_maker() {
  for (int item = 1;; ++item) {
    await(used, item - 2);
    make();
    check();
    made = item;
    made.notify_one();
  }
}

void run_user() {
  for (int item = 1;; ++item) {
    await(made, item);
    use();
    COZ_PROGRESS_NAMED("item");
    ground_truth::visit();
    used = item;
    used.notify_one();
  }
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  std::thread maker(run_maker);
  std::thread user(run_user);
  maker.join();
  user.join();
}
