#include "kernel/joint_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/raw_syscall.h"

namespace coz {

JointFile::~JointFile() {
  if (is_open()) raw_syscall(SYS_close, descriptor_);
}

bool JointFile::open(const char* path) noexcept {
  if (sysconf(_SC_PAGESIZE) != static_cast<long>(kPage)) {
    errno = ENOTSUP;
    return false;
  }
  descriptor_ = ::open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  return is_open();
}

void* JointFile::map_next(std::size_t bytes, void* at) noexcept {
  const std::size_t whole = (bytes + kPage - 1) / kPage * kPage;
  const auto end = static_cast<off_t>(next_ + whole);
  struct stat status = {};
  if (fstat(descriptor_, &status) != 0) return nullptr;
  // Another process may do so at the same time, and be further: never make the file shorter.
  if (status.st_size < end && posix_fallocate(descriptor_, end - 1, 1) != 0) return nullptr;
  const int place = at == nullptr ? 0 : MAP_FIXED;
  void* memory = mmap(at, whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | place,
                      descriptor_, static_cast<off_t>(next_));
  next_ += whole;
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace coz
