// Something that is done while threads run into it.
#ifndef TESTS_LIBCOZ_BREAKPOINT_AMID_H
#define TESTS_LIBCOZ_BREAKPOINT_AMID_H

#include <atomic>
#include <thread>
#include <vector>

// Four threads call `run` again and again. Amid that, when it has been called a hundred times,
// `act` is called once; each thread then finishes its turn, at least.
template <typename Run, typename Act>
void amid(Run run, Act act) {
  std::atomic<int> turns{0};
  std::atomic<bool> is_over{false};
  std::vector<std::thread> running;
  for (int i = 0; i < 4; ++i) {
    running.emplace_back([&] {
      do {
        run();
        ++turns;
      } while (!is_over);
    });
  }
  while (turns < 100) std::this_thread::yield();
  act();
  is_over = true;
  for (std::thread& thread : running) thread.join();
}

#endif  // TESTS_LIBCOZ_BREAKPOINT_AMID_H
