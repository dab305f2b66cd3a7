// The file that this process runs.
//
// Where /proc is not mounted, as in a bare chroot, the path that the kernel was asked to execute
// stands in for it. That may be relative to the folder where the process was started, so these
// functions are for the start. Neither allocates.
#ifndef LIBCOZ_KERNEL_EXECUTABLE_H
#define LIBCOZ_KERNEL_EXECUTABLE_H

#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

namespace coz {

// A path that leads to the file; it need not be the name of the file.
inline const char* path_to_executable() noexcept {
  constexpr const char* kLink = "/proc/self/exe";
  if (access(kLink, F_OK) == 0) return kLink;
  const auto* const executed = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  return executed != nullptr ? executed : kLink;
}

inline bool is_same_file(const char* a, const char* b) noexcept {
  struct stat x, y;
  return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

}  // namespace coz

#endif  // LIBCOZ_KERNEL_EXECUTABLE_H
