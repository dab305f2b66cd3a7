// Exceptions through calls at which breakpoints stand.
#include <cstdio>
#include <stdexcept>

volatile int sink;

__attribute__((noinline)) void throw_at_times(int i) {
  if (i % 3 == 0) throw std::runtime_error("third");  // THROW
  sink = i;
}

__attribute__((noinline)) int call(void (*function)(int), int i) {
  try {
    function(i);  // CALL
  } catch (const std::exception&) {
    return 1;  // CAUGHT
  }
  return 0;
}

int main() {
  int caught = 0;
  for (int i = 0; i < 3000; ++i) caught += call(throw_at_times, i);
  std::printf("%d\n", caught);
  return 0;
}
