// COZ_HEAP_REPORT names a file, to which each process that is asked for anything appends a line:
// "heap: shuffle over PATH", "stack", or "inert: " and the reason. `coz compare` looks there
// whether its programs can be moved.
#include "libheap/start.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "libheap/base_allocator.h"
#include "libheap/settings.h"

namespace coz::heap {
namespace {

constinit Started state;
alignas(Heap) char heap_memory[sizeof(Heap)];
constinit std::atomic<bool> was_called = false;
constexpr std::size_t kMaxLine = 1024;

// Do calls from libraries lead here, or to an allocator that the program itself contains?
bool is_called() noexcept {
  was_called.store(false);
  const char* volatile text = "";
  free(strdup(text));
  return was_called.load();
}

// Sixteen bytes that the kernel gives each program.
std::uint64_t random_word(int index) noexcept {
  const auto* words = reinterpret_cast<const std::uint64_t*>(getauxval(AT_RANDOM));
  return words == nullptr ? 0 : words[index];
}

void report(const char* line) noexcept {
  const char* path = getenv("COZ_HEAP_REPORT");
  if (path == nullptr) return;
  const int file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) return;
  // One that cannot be written says as much as one that is empty.
  [[maybe_unused]] const ssize_t written = write(file, line, strlen(line));
  close(file);
}

void refuse(const char* reason) noexcept {
  char line[kMaxLine];
  snprintf(line, sizeof line, "coz: %s; blocks of the heap stay where they are.\n", reason);
  if (getenv("COZ_HEAP_REPORT") == nullptr) {
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, strlen(line));
  }
  snprintf(line, sizeof line, "inert: %s\n", reason);
  report(line);
}

void start_heap(const char* text) noexcept {
  char line[kMaxLine];
  Settings settings;
  if (!parse_heap(text, settings)) {
    snprintf(line, sizeof line,
             "COZ_HEAP=%s is not shuffle, shuffle:N, offset, zero, or several with commas", text);
    return refuse(line);
  }
  const char* seed = getenv("COZ_HEAP_SEED");
  state.seed = random_word(0);
  if (seed != nullptr && !parse_seed(seed, state.seed))
    return refuse("COZ_HEAP_SEED is not a whole number of 64 bits");
  if (!is_called()) return refuse("the program contains an allocator of its own");
  const char* file = nullptr;
  if (const char* wrong = what_is_wrong(&file)) {
    snprintf(line, sizeof line, "the program's allocator, %s, has %s", file, wrong);
    return refuse(line);
  }
  prepare_threads();
  state.heap.store(new (heap_memory) Heap(*base_allocator(), settings, random_word(1) | 1));
  snprintf(line, sizeof line, "heap: %s over %s\n", text, file);
  report(line);
}

__attribute__((constructor)) void start() noexcept {
  if (const char* text = getenv("COZ_HEAP")) start_heap(text);
  const char* seed = getenv("COZ_STACK_SEED");
  if (seed == nullptr) return;
  if (!parse_seed(seed, state.stack_seed))
    return refuse("COZ_STACK_SEED is not a whole number of 64 bits");
  state.moves_stacks = true;
  report("stack\n");
}

}  // namespace

const Started& started() noexcept { return state; }

void note_call() noexcept {
  if (!was_called.load(std::memory_order_relaxed)) [[unlikely]]
    was_called.store(true, std::memory_order_relaxed);
}

}  // namespace coz::heap
