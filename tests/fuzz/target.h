// What the fuzz targets have in common: the function that is called with each input, in the form
// that libFuzzer and others know, and a file that holds the input for code that reads files.
//
// One thread. A target ends the process (abort, or a sanitizer does) when something is wrong.
#ifndef TESTS_FUZZ_TARGET_H
#define TESTS_FUZZ_TARGET_H

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);

// A file in memory, with a path.
class MemoryFile {
 public:
  explicit MemoryFile(const char* name) : descriptor_(memfd_create(name, MFD_CLOEXEC)) {
    if (descriptor_ < 0) std::abort();
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  void hold(const void* bytes, std::size_t size) const {
    if (ftruncate(descriptor_, 0) != 0 ||
        pwrite(descriptor_, bytes, size, 0) != static_cast<ssize_t>(size)) {
      std::abort();
    }
  }

  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

inline void require(bool truth, const char* what) {
  if (truth) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::abort();
}

#endif  // TESTS_FUZZ_TARGET_H
