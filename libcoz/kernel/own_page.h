// Memory that children do not inherit: they find zeros there, however they were forked. fork()
// calls the handlers of pthread_atfork; _Fork() and a plain system call do not.
//
// A child made by vfork shares all memory, including this.
#ifndef LIBCOZ_KERNEL_OWN_PAGE_H
#define LIBCOZ_KERNEL_OWN_PAGE_H

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

namespace coz {

// At the start, for whole pages of private anonymous memory. On kernels before 4.14 children get a
// copy, as of all other memory.
inline void keep_from_children(void* memory, std::size_t bytes) noexcept {
  madvise(memory, bytes, MADV_WIPEONFORK);
}

// A static variable on pages of its own, zero at first.
template <typename Value>
union OwnPage {
#if defined(__x86_64__)
  static constexpr std::size_t kPage = 4096;
#else
  static constexpr std::size_t kPage = 65536;  // the largest that there are
#endif
  constexpr OwnPage() noexcept : value{} {}

  Value value;
  alignas(kPage) char pages[kPage];
};

}  // namespace coz

#endif  // LIBCOZ_KERNEL_OWN_PAGE_H
