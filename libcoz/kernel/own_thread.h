// How many threads of ours there are, which libc counts among the program's.
//
// Any thread; nothing allocates.
#ifndef LIBCOZ_KERNEL_OWN_THREAD_H
#define LIBCOZ_KERNEL_OWN_THREAD_H

#include <atomic>

namespace coz {

// While it lives, the calling thread is one of ours.
class OwnThread {
 public:
  OwnThread() noexcept { count_.fetch_add(1); }
  ~OwnThread() { count_.fetch_sub(1); }
  OwnThread(const OwnThread&) = delete;
  OwnThread& operator=(const OwnThread&) = delete;

  static unsigned count() noexcept { return count_.load(); }

 private:
  inline static std::atomic<unsigned> count_{0};
};

}  // namespace coz

#endif  // LIBCOZ_KERNEL_OWN_THREAD_H
