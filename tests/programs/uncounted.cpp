// Waits for its own code to be as it was: what counts visits to step() is taken out at the end of
// profiling (--stop-after). Meanwhile two threads call it, and check what it does. Prints what
// counted. Status 1: still there after two minutes; 2: step() went wrong.
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <thread>

namespace {

std::atomic<bool> is_over{false}, is_wrong{false};

[[gnu::noinline]] long step(long value) {
  asm volatile("" : "+r"(value));
  return 3 * value + 1;
}

void call_it() {
  while (!is_over) {
    for (long i = 0; i < 1000; ++i) {
      if (step(i) != 3 * i + 1) is_wrong = true;
    }
  }
}

bool is_counted(const volatile std::uint8_t* code) {
  // A function may begin with endbr64, which stays in front.
  if (code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e) code += 4;
  return code[0] == 0xcc;
}

}  // namespace

int main() {
  const auto* code = reinterpret_cast<const volatile std::uint8_t*>(&step);
  const bool before = is_counted(code);
  std::thread first(call_it), second(call_it);
  const time_t end = time(nullptr) + 120;
  while (is_counted(code) && time(nullptr) < end) usleep(10000);
  const bool is_gone = !is_counted(code);
  for (long i = 0; i < 1000; ++i) is_wrong = is_wrong || step(i) != 3 * i + 1;
  is_over = true;
  first.join();
  second.join();
  std::printf("%s: %s\n", before ? "breakpoint" : "nothing", is_gone ? "gone" : "still there");
  return is_wrong ? 2 : !is_gone;
}
