#include "libheap/base_allocator.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>

namespace coz::heap {
namespace {

constexpr std::size_t kEarlyBytes = std::size_t{64} << 10;
constexpr std::size_t kAligned = 16;

enum class Search { kNotBegun, kUnderWay, kDone };

alignas(kAligned) char early[kEarlyBytes];
std::atomic<std::size_t> early_used = 0;
std::atomic<Search> search = Search::kNotBegun;
Allocator base;

template <typename Function>
void find(Function*& function, const char* name) noexcept {
  function = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

void find_all() noexcept {
  find(base.malloc, "malloc");
  find(base.free, "free");
  find(base.calloc, "calloc");
  find(base.realloc, "realloc");
  find(base.aligned_alloc, "aligned_alloc");
  find(base.posix_memalign, "posix_memalign");
  find(base.usable_size, "malloc_usable_size");
}

const char* file_of(const void* function) noexcept {
  Dl_info info;
  return function != nullptr && dladdr(function, &info) != 0 ? info.dli_fname : nullptr;
}

}  // namespace

const Allocator* base_allocator() noexcept {
  if (search.load(std::memory_order_acquire) == Search::kDone) [[likely]]
    return &base;
  if (search.exchange(Search::kUnderWay) == Search::kUnderWay) return nullptr;
  find_all();
  search.store(Search::kDone, std::memory_order_release);
  return &base;
}

void* allocate_early(std::size_t bytes) noexcept {
  // The size stands before the block, in a unit of its own that keeps blocks aligned.
  if (bytes > kEarlyBytes) std::abort();
  const std::size_t room = kAligned + (bytes + kAligned - 1) / kAligned * kAligned;
  const std::size_t begin = early_used.fetch_add(room);
  if (begin + room > kEarlyBytes) std::abort();
  *reinterpret_cast<std::size_t*>(early + begin) = bytes;
  return early + begin + kAligned;
}

bool is_early(const void* block) noexcept {
  return block >= static_cast<const void*>(early) &&
         block < static_cast<const void*>(early + kEarlyBytes);
}

std::size_t early_size(const void* block) noexcept {
  return *reinterpret_cast<const std::size_t*>(static_cast<const char*>(block) - kAligned);
}

const char* what_is_wrong(const char** file) noexcept {
  const Allocator* found = base_allocator();
  *file = "?";
  if (found == nullptr || found->malloc == nullptr || found->free == nullptr) return "no malloc";
  const char* home = file_of(reinterpret_cast<const void*>(found->malloc));
  if (home == nullptr) return "no malloc";
  *file = home;
  const void* others[] = {reinterpret_cast<const void*>(found->free),
                          reinterpret_cast<const void*>(found->calloc),
                          reinterpret_cast<const void*>(found->realloc),
                          reinterpret_cast<const void*>(found->usable_size)};
  for (const void* other : others)
    if (file_of(other) != home) return "no malloc_usable_size of its own";
  return nullptr;
}

}  // namespace coz::heap
