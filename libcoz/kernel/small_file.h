// The kernel's small files in /proc, as text.
//
// Not for signal handlers. Nothing allocates; errno is not touched.
#ifndef LIBCOZ_KERNEL_SMALL_FILE_H
#define LIBCOZ_KERNEL_SMALL_FILE_H

#include <fcntl.h>

#include <span>

#include "common/raw_syscall.h"

namespace coz {

// Reads the beginning of a file, as far as it fits, and appends a zero. Returns the length, 0 if
// there was nothing to read. `text` must not be empty.
inline std::size_t read_small_file(const char* path, std::span<char> text) noexcept {
  text[0] = '\0';
  const long descriptor =
      raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  const long read = raw_syscall(SYS_read, descriptor, reinterpret_cast<long>(text.data()),
                                static_cast<long>(text.size() - 1));
  raw_syscall(SYS_close, descriptor);
  const std::size_t length = read > 0 ? static_cast<std::size_t>(read) : 0;
  text[length] = '\0';
  return length;
}

}  // namespace coz

#endif  // LIBCOZ_KERNEL_SMALL_FILE_H
