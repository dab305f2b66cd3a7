// Threads that allocate all the time, in every way there is, and fork between: for other allocators
// than libc's.
#include <malloc.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "transparency.h"

namespace {

std::mutex mutex;
std::vector<std::unique_ptr<char[]>> handed_over;
std::atomic<int> wrong{0};

struct alignas(256) Aligned {
  char content[300];
};

void churn(int seed) {
  std::map<std::string, std::vector<int>> words;
  for (int i = 0; i < 400; ++i) {
    words[std::string(static_cast<std::size_t>(i % 90 + 1), static_cast<char>('a' + seed))]
        .push_back(i);
    auto aligned = std::make_unique<Aligned>();
    std::memset(aligned.get(), seed, sizeof *aligned);
    void* moved = std::malloc(100);
    std::memset(moved, seed, 100);
    moved = std::realloc(moved, static_cast<std::size_t>(100 + i * 50));
    wrong += static_cast<char*>(moved)[99] != seed;
    std::free(moved);
    char* zeroed = static_cast<char*>(std::calloc(33, 31));
    wrong += std::any_of(zeroed, zeroed + 33 * 31, [](char c) { return c != 0; });
    std::free(zeroed);
    // Freed by another thread.
    auto block = std::make_unique<char[]>(2000);
    const std::lock_guard guard(mutex);
    handed_over.push_back(std::move(block));
    if (handed_over.size() > 50) handed_over.erase(handed_over.begin());
  }
  COZ_PROGRESS_NAMED("churned");
}

}  // namespace

int main() {
  work(100);
  for (int round = 0; round < 5; ++round) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([t] {
        for (int i = 0; i < 8; ++i) churn(t);
      });
    }
    mutex.lock();  // so that the child finds it in order
    const pid_t child = fork();
    mutex.unlock();
    if (child == 0) {
      churn(5);
      std::thread([] { churn(6); }).join();
      _exit(4);
    }
    say_end("child", child);
    for (auto& thread : threads) thread.join();
  }
  say("every block was as it should be", wrong == 0);
  return 0;
}
