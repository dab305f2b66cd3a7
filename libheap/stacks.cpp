// Stacks begin at a random multiple of 16 bytes within a page: main's, and that of each thread of
// pthread_create.
//
// Threads of C11 (thrd_create) and of clone() begin where they do. The constructors of the program
// itself run before main, on the stack as it is.

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "libheap/base_allocator.h"
#include "libheap/random_numbers.h"
#include "libheap/start.h"

namespace {

using Main = int (*)(int, char**, char**);
using Routine = void* (*)(void*);

constexpr std::size_t kStep = 16;
// Smaller stacks have no page to spare.
constexpr std::size_t kLeastStack = std::size_t{64} << 10;

constinit std::atomic<std::uint64_t> stacks = 0;
Main real_main;

std::size_t next_offset() noexcept {
  const std::uint64_t number = stacks.fetch_add(1, std::memory_order_relaxed);
  return coz::heap::mix(coz::heap::started().stack_seed, number) % (coz::heap::kPage / kStep) *
         kStep;
}

// Calls are no tail calls: the memory must be there while they last.
[[gnu::noinline]] int main_further_down(int argc, char** argv, char** environment) {
  void* gap = __builtin_alloca(next_offset() + kStep);
  asm volatile("" : : "r"(gap) : "memory");
  const int status = real_main(argc, argv, environment);
  asm volatile("" : : "r"(gap) : "memory");
  return status;
}

struct Thread {
  Routine routine;
  void* argument;
  std::size_t offset;
};

[[gnu::noinline]] void* begin_further_down(void* record) {
  const Thread thread = *static_cast<Thread*>(record);
  coz::heap::base_allocator()->free(record);
  void* gap = __builtin_alloca(thread.offset + kStep);
  asm volatile("" : : "r"(gap) : "memory");
  void* result = thread.routine(thread.argument);
  asm volatile("" : : "r"(gap) : "memory");
  return result;
}

bool has_room(const pthread_attr_t* attributes) noexcept {
  std::size_t bytes = 0;
  return attributes == nullptr || pthread_attr_getstacksize(attributes, &bytes) != 0 ||
         bytes >= kLeastStack;
}

template <typename Function>
Function next(const char* name) noexcept {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int __libc_start_main(
    Main main, int argc, char** argv, void (*begin)(), void (*end)(), void (*end_linker)(),
    void* stack) {
  using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  real_main = main;
  const bool moves = coz::heap::started().moves_stacks;
  return next<Start>("__libc_start_main")(moves ? main_further_down : main, argc, argv, begin, end,
                                          end_linker, stack);
}

extern "C" __attribute__((visibility("default"))) int pthread_create(
    pthread_t* thread, const pthread_attr_t* attributes, Routine routine, void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, Routine, void*);
  const auto create = next<Create>("pthread_create");
  if (!coz::heap::started().moves_stacks || !has_room(attributes))
    return create(thread, attributes, routine, argument);
  const coz::heap::Allocator* base = coz::heap::base_allocator();
  auto* record = static_cast<Thread*>(base->malloc(sizeof(Thread)));
  if (record == nullptr) return create(thread, attributes, routine, argument);
  *record = {routine, argument, next_offset()};
  const int error = create(thread, attributes, begin_further_down, record);
  if (error != 0) base->free(record);
  return error;
}
