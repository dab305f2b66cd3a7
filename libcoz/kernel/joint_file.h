// Memory that several processes share which do not descend from each other: parts of one file,
// which `coz run --joint` has made for the ranks of a job (docs/decisions/joint.md).
//
// One thread, before there are others; the memory itself is for all. On failure false or nullptr,
// with errno set. The file may be closed when all is mapped.
#ifndef LIBCOZ_KERNEL_JOINT_FILE_H
#define LIBCOZ_KERNEL_JOINT_FILE_H

#include <cstddef>

namespace coz {

class JointFile {
 public:
  // Parts begin at multiples of this, which is also the size of a page.
  static constexpr std::size_t kPage = 4096;

  JointFile() = default;
  JointFile(const JointFile&) = delete;
  JointFile& operator=(const JointFile&) = delete;
  ~JointFile();

  // False also where pages have another size.
  bool open(const char* path) noexcept;
  bool is_open() const noexcept { return descriptor_ >= 0; }

  // The next `bytes` of the file, zeroed until a process writes there. All processes ask for the
  // same parts in the same order. In place of what is at `at`, if that is given.
  void* map_next(std::size_t bytes, void* at = nullptr) noexcept;

 private:
  int descriptor_ = -1;
  std::size_t next_ = 0;
};

}  // namespace coz

#endif  // LIBCOZ_KERNEL_JOINT_FILE_H
