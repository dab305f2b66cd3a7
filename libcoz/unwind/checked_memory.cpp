#include "unwind/checked_memory.h"

#include <algorithm>
#include <cerrno>

#include "common/raw_syscall.h"

namespace coz {
namespace {

constexpr std::size_t kKernelMask = 8;  // bytes in the kernel's signal mask

}  // namespace

// The kernel reads the new signal mask before it checks what is to be done with it. The answer is
// EFAULT if there is nothing to read, else EINVAL, since there is no operation -1; nothing changes.
// The call needs neither a descriptor nor a permission, and a filter of system calls that lets a C
// library run lets it pass. Any other answer counts as not readable.
bool CheckedMemory::is_readable(std::uintptr_t page) noexcept {
  if (page == 0) return false;
  if (std::ranges::find(pages_, page) != pages_.end()) return true;
  ++asked_;
  const long answer = raw_syscall(SYS_rt_sigprocmask, -1, static_cast<long>(page), 0, kKernelMask);
  if (answer != -EINVAL) return false;
  pages_[next_++ % pages_.size()] = page;
  return true;
}

// This is somebody's stack: other threads may write there, and a sanitizer may have poisoned it.
[[gnu::no_sanitize("address", "thread", "undefined")]]
bool CheckedMemory::read(std::uintptr_t address, void* out, std::size_t size) noexcept {
  const std::uintptr_t last = address + size - 1;
  if (last < address || !is_readable(address & ~(kPage - 1))) return false;
  if (!is_readable(last & ~(kPage - 1))) return false;
  const auto* from = reinterpret_cast<const volatile unsigned char*>(address);
  if (size == sizeof(std::uintptr_t) && address % size == 0) {
    *static_cast<std::uintptr_t*>(out) = *reinterpret_cast<const volatile std::uintptr_t*>(address);
    return true;
  }
  // Not by memcpy: a sanitizer would check what a called function reads.
  auto* to = static_cast<unsigned char*>(out);
  for (std::size_t i = 0; i < size; ++i) to[i] = from[i];
  return true;
}

}  // namespace coz
