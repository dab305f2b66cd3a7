// Two threads do operations one after the other. Of twenty operations nineteen take 1 ms; the last
// one is slow and takes ten times as long: it runs slow() beside usual(). So by construction a
// faster slow() moves the slowest 5 %, p99 among them, and nothing else: p99 is 10 ms, of which
// slow() is nine tenths. A faster usual() moves p50 and p90 by its share there, nine tenths, and
// p99 by less than a tenth. rest() is what neither changes.
//
// Before `visits` it prints `quantiles_us P50 P90 P99`: of the operations themselves.
#include <algorithm>
#include <array>
#include <thread>

#include "ground_truth.h"

namespace {

ground_truth::Line usual_line{"usual", 900};
ground_truth::Line slow_line{"slow", 9000};
ground_truth::Line rest_line{"rest", 100};

[[gnu::noinline]] void usual() {
  for (long i = usual_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE usual
}

[[gnu::noinline]] void slow() {
  for (long i = slow_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE slow
}

[[gnu::noinline]] void rest() {
  for (long i = rest_line.iterations; i > 0; --i) asm volatile("" : "+r"(i));  // LINE rest
}

// The last durations of each thread, ns; a thread writes its own.
constexpr std::size_t kKept = 1 << 16;
std::array<std::array<std::atomic<long>, kKept>, 2> durations;

void print_quantiles() {
  std::vector<long> all;
  for (const auto& of_thread : durations) {
    for (const auto& duration : of_thread) {
      if (duration > 0) all.push_back(duration);
    }
  }
  std::sort(all.begin(), all.end());
  std::printf("quantiles_us");
  for (const double q : {0.5, 0.9, 0.99}) {
    const auto index = static_cast<std::size_t>(q * static_cast<double>(all.size()));
    std::printf(" %.3f", all.empty() ? 0 : 1e-3 * static_cast<double>(all[index]));
  }
  std::printf("\n");
}

void serve(unsigned long first) {
  for (unsigned long number = first;; number += 2) {
    const double start = ground_truth::now();
    COZ_BEGIN_ID("operation", number);
    usual();
    rest();
    if (number / 2 % 20 == 19) slow();
    COZ_END_ID("operation", number);
    const double took = ground_truth::now() - start;
    durations[first][number / 2 % kKept] = std::lround(1e9 * took);
    ground_truth::visit(start);
  }
}

}  // namespace

int main(int argc, char** argv) {
  ground_truth::begin(argc, argv);
  ground_truth::print_more = print_quantiles;
  std::thread one(serve, 0);
  std::thread other(serve, 1);
  one.join();
  other.join();
}
