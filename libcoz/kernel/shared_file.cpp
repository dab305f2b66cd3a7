#include "kernel/shared_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/high_descriptor.h"
#include "common/raw_syscall.h"

namespace coz {

void SharedFile::close() noexcept {
  if (is_open()) raw_syscall(SYS_close, std::exchange(descriptor_, -1));
}

bool SharedFile::is(std::uint64_t inode) const noexcept {
  struct stat status = {};
  return fstat(descriptor_, &status) == 0 && status.st_ino == inode;
}

bool SharedFile::open(const char* path, int flags) noexcept {
  if (sysconf(_SC_PAGESIZE) != static_cast<long>(kPage)) {
    errno = ENOTSUP;
    return false;
  }
  const int low = ::open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | flags);
  descriptor_ = low < 0 ? low : move_high(low);
  return is_open();
}

void* SharedFile::map_next(std::size_t bytes, void* at) noexcept {
  const std::size_t whole = (bytes + kPage - 1) / kPage * kPage;
  const auto end = static_cast<off_t>(next_ + whole);
  struct stat status = {};
  if (fstat(descriptor_, &status) != 0) return nullptr;
  // Another process may do so at the same time, and be further: never make the file shorter.
  if (status.st_size < end && !may_grow_) {
    errno = ESTALE;
    return nullptr;
  }
  if (status.st_size < end) {
    if (const int error = posix_fallocate(descriptor_, end - 1, 1); error != 0) {
      errno = error;
      return nullptr;
    }
  }
  const int place = at == nullptr ? 0 : MAP_FIXED;
  void* memory = mmap(at, whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | place,
                      descriptor_, static_cast<off_t>(next_));
  next_ += whole;
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace coz
