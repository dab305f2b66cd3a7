// Memory that several processes share which do not inherit it from each other: parts of one file,
// which `coz run` has made for the ranks of a job (--joint), or for programs that the processes of
// a tree execute (--tree -b).
//
// One thread, before there are others; the memory itself is for all. On failure false or nullptr,
// with errno set. The file may be closed when all is mapped.
#ifndef LIBCOZ_KERNEL_SHARED_FILE_H
#define LIBCOZ_KERNEL_SHARED_FILE_H

#include <cstddef>
#include <cstdint>
#include <utility>

namespace coz {

class SharedFile {
 public:
  // Parts begin at multiples of this, which is also the size of a page.
  static constexpr std::size_t kPage = 4096;

  SharedFile() = default;
  SharedFile(SharedFile&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)),
        next_(other.next_),
        may_grow_(other.may_grow_) {}
  SharedFile& operator=(SharedFile&&) = delete;
  ~SharedFile() { close(); }

  // False also where pages have another size. `flags`: further ones of open().
  bool open(const char* path, int flags = 0) noexcept;
  bool is_open() const noexcept { return descriptor_ >= 0; }
  void close() noexcept;
  // map_next() fails where the file is too short: the process that made it has mapped all parts.
  void never_grow() noexcept { may_grow_ = false; }
  // Is it the one with this inode?
  bool is(std::uint64_t inode) const noexcept;

  // The next `bytes` of the file, zeroed until a process writes there. All processes ask for the
  // same parts in the same order. In place of what is at `at`, if that is given.
  void* map_next(std::size_t bytes, void* at = nullptr) noexcept;

 private:
  int descriptor_ = -1;
  std::size_t next_ = 0;
  bool may_grow_ = true;
};

}  // namespace coz

#endif  // LIBCOZ_KERNEL_SHARED_FILE_H
