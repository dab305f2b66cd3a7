// The functions that the program calls instead of its allocator's.
//
// Until our constructor has run, and where no mode is chosen or none is possible, calls go to the
// allocator. C++'s operators come here too, since an allocator that is preloaded besides us brings
// its own, which would pass us by. Those with an alignment stay the allocator's: new and delete
// agree.

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "libheap/base_allocator.h"
#include "libheap/heap.h"
#include "libheap/start.h"

using coz::heap::Allocator;
using coz::heap::Heap;
using coz::heap::ThreadHeap;

#define COZ_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

// Trivial, so that threads which have none of their own libraries begun yet may allocate.
constinit thread_local ThreadHeap own_heap;
constinit std::atomic<std::uint64_t> threads = 0;
pthread_key_t at_thread_end;

Heap* heap() noexcept { return coz::heap::started().heap.load(std::memory_order_acquire); }

void end_thread(void*) noexcept { heap()->clear(own_heap); }

// At a thread's first call.
void begin(ThreadHeap& thread) noexcept {
  const auto& started = coz::heap::started();
  thread.is_begun = thread.is_direct = true;
  thread.random = {started.seed, threads.fetch_add(1, std::memory_order_relaxed)};
  // It may allocate. Without it the thread's arrays would stay behind.
  thread.is_direct = pthread_setspecific(at_thread_end, &own_heap) != 0;
}

ThreadHeap& this_thread() noexcept {
  ThreadHeap& thread = own_heap;
  if (!thread.is_begun) [[unlikely]]
    begin(thread);
  return thread;
}

void* allocate_again(void* block, std::size_t bytes) noexcept {
  void* moved = malloc(bytes);
  const std::size_t before = coz::heap::early_size(block);
  return moved == nullptr ? nullptr : std::memcpy(moved, block, before < bytes ? before : bytes);
}

}  // namespace

namespace coz::heap {

void prepare_threads() noexcept { pthread_key_create(&at_thread_end, end_thread); }

}  // namespace coz::heap

COZ_EXPORT void* malloc(std::size_t bytes) {
  coz::heap::note_call();
  if (Heap* ours = heap()) [[likely]]
    return ours->allocate(bytes, this_thread());
  const Allocator* base = coz::heap::base_allocator();
  return base == nullptr ? coz::heap::allocate_early(bytes) : base->malloc(bytes);
}

COZ_EXPORT void free(void* block) {
  if (coz::heap::is_early(block)) [[unlikely]]
    return;
  if (Heap* ours = heap()) [[likely]]
    return ours->release(block, this_thread());
  if (const Allocator* base = coz::heap::base_allocator()) base->free(block);
}

COZ_EXPORT void* calloc(std::size_t number, std::size_t bytes) {
  std::size_t all = 0;
  if (__builtin_mul_overflow(number, bytes, &all)) {
    errno = ENOMEM;
    return nullptr;
  }
  if (Heap* ours = heap()) [[likely]]
    return ours->allocate_zeros(all, this_thread());
  const Allocator* base = coz::heap::base_allocator();
  return base == nullptr ? coz::heap::allocate_early(all) : base->calloc(number, bytes);
}

COZ_EXPORT void* realloc(void* block, std::size_t bytes) {
  if (block != nullptr && coz::heap::is_early(block)) [[unlikely]]
    return allocate_again(block, bytes);
  if (Heap* ours = heap()) [[likely]]
    return ours->resize(block, bytes, this_thread());
  const Allocator* base = coz::heap::base_allocator();
  return base == nullptr ? coz::heap::allocate_early(bytes) : base->realloc(block, bytes);
}

COZ_EXPORT void* reallocarray(void* block, std::size_t number, std::size_t bytes) {
  std::size_t all = 0;
  if (__builtin_mul_overflow(number, bytes, &all)) {
    errno = ENOMEM;
    return nullptr;
  }
  return realloc(block, all);
}

COZ_EXPORT std::size_t malloc_usable_size(void* block) {
  if (block != nullptr && coz::heap::is_early(block)) return coz::heap::early_size(block);
  if (Heap* ours = heap()) return ours->usable_size(block);
  const Allocator* base = coz::heap::base_allocator();
  return base == nullptr ? 0 : base->usable_size(block);
}

COZ_EXPORT void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  const Allocator* base = coz::heap::base_allocator();
  void* block = base == nullptr ? nullptr : base->aligned_alloc(alignment, bytes);
  return heap() == nullptr ? block : heap()->prepared(block, bytes);
}

COZ_EXPORT int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  const Allocator* base = coz::heap::base_allocator();
  const int error = base == nullptr ? ENOMEM : base->posix_memalign(block, alignment, bytes);
  if (error == 0 && heap() != nullptr) *block = heap()->prepared(*block, bytes);
  return error;
}

// A C library takes the next power of two where the alignment is none.
COZ_EXPORT void* memalign(std::size_t alignment, std::size_t bytes) {
  constexpr std::size_t kLargest = ~(SIZE_MAX >> 1);
  return aligned_alloc(alignment > kLargest ? alignment : std::bit_ceil(alignment), bytes);
}
COZ_EXPORT void* valloc(std::size_t bytes) {
  return aligned_alloc(static_cast<std::size_t>(getpagesize()), bytes);
}
COZ_EXPORT void* pvalloc(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(getpagesize());
  std::size_t rounded = 0;
  if (__builtin_add_overflow(bytes, page - 1, &rounded)) {
    errno = ENOMEM;
    return nullptr;
  }
  return aligned_alloc(page, rounded / page * page);
}

// C23's. A C library that has them would not know our offset blocks.
COZ_EXPORT void free_sized(void* block, std::size_t) { free(block); }
COZ_EXPORT void free_aligned_sized(void* block, std::size_t, std::size_t) { free(block); }

namespace {

// The next operator handles what new must do when memory is short: it asks the handler, and throws.
void* next_new(const char* name, std::size_t bytes) {
  using New = void* (*)(std::size_t);
  const auto next = reinterpret_cast<New>(dlsym(RTLD_NEXT, name));
  return next == nullptr ? nullptr : next(bytes);
}

void* next_new(const char* name, std::size_t bytes, const std::nothrow_t& tag) {
  using New = void* (*)(std::size_t, const std::nothrow_t&);
  const auto next = reinterpret_cast<New>(dlsym(RTLD_NEXT, name));
  return next == nullptr ? nullptr : next(bytes, tag);
}

}  // namespace

#define COZ_OPERATOR __attribute__((visibility("default")))

COZ_OPERATOR void* operator new(std::size_t bytes) {
  void* block = malloc(bytes == 0 ? 1 : bytes);
  return block != nullptr ? block : next_new("_Znwm", bytes);
}
COZ_OPERATOR void* operator new[](std::size_t bytes) {
  void* block = malloc(bytes == 0 ? 1 : bytes);
  return block != nullptr ? block : next_new("_Znam", bytes);
}
COZ_OPERATOR void* operator new(std::size_t bytes, const std::nothrow_t& tag) noexcept {
  void* block = malloc(bytes == 0 ? 1 : bytes);
  return block != nullptr ? block : next_new("_ZnwmRKSt9nothrow_t", bytes, tag);
}
COZ_OPERATOR void* operator new[](std::size_t bytes, const std::nothrow_t& tag) noexcept {
  void* block = malloc(bytes == 0 ? 1 : bytes);
  return block != nullptr ? block : next_new("_ZnamRKSt9nothrow_t", bytes, tag);
}
COZ_OPERATOR void operator delete(void* block) noexcept { free(block); }
COZ_OPERATOR void operator delete[](void* block) noexcept { free(block); }
COZ_OPERATOR void operator delete(void* block, std::size_t) noexcept { free(block); }
COZ_OPERATOR void operator delete[](void* block, std::size_t) noexcept { free(block); }
COZ_OPERATOR void operator delete(void* block, const std::nothrow_t&) noexcept { free(block); }
COZ_OPERATOR void operator delete[](void* block, const std::nothrow_t&) noexcept { free(block); }
