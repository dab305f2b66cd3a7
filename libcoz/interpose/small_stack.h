// Room for the sample handler on the stack of a thread that is created.
//
// The handler runs on the thread's own stack. It has taken 6 KB (x86-64 with AVX-512: the kernel's
// frame, the handler and the unwinder); if a thread uses the processor's tiles (AMX), the frame is
// 11 KB larger. A stack of PTHREAD_STACK_MIN, 16 KB, from which libc takes the thread's variables,
// has no such room.
//
// In pthread_create of a program's thread, not in signal handlers. Allocates nothing.
#ifndef LIBCOZ_INTERPOSE_SMALL_STACK_H
#define LIBCOZ_INTERPOSE_SMALL_STACK_H

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "kernel/message.h"
#include "thread/session.h"

namespace coz {

class SmallStack {
 public:
  // `given` is what the program asks for; nullptr: the default.
  explicit SmallStack(const pthread_attr_t* given) noexcept : used_(given) {
    if (given == nullptr || Session::active() == nullptr) return;
    void* memory = nullptr;
    std::size_t size = 0;
    if (pthread_attr_getstack(given, &memory, &size) != 0) return;
    // libc counts back from the end of the memory, which is 0 if libc is to allocate it.
    if (reinterpret_cast<std::uintptr_t>(memory) + size != 0) {
      is_too_small_ = size < kMinProgramStack;
      if (is_too_small_) warn_once();
      return;
    }
    if (pthread_attr_getstacksize(given, &size) != 0 || size >= kSmall) return;
    // The copy shares what the program's attributes point to (cores, signal mask), which is only
    // read. So it must not be destroyed.
    roomy_ = *given;
    if (pthread_attr_setstacksize(&roomy_, size + kRoom) == 0) used_ = &roomy_;
  }
  SmallStack(const SmallStack&) = delete;
  SmallStack& operator=(const SmallStack&) = delete;

  // As given, but with more room if the stack is small.
  const pthread_attr_t* attributes() const noexcept { return used_; }
  // True if the stack is the program's own memory and has no room: such a thread must not be
  // sampled.
  bool is_too_small() const noexcept { return is_too_small_; }

 private:
  // Programs that ask for less than this may have measured what they need.
  static constexpr std::size_t kSmall = 256 * 1024;
  static constexpr std::size_t kRoom = 64 * 1024;
  static constexpr std::size_t kMinProgramStack = 32 * 1024;

  static void warn_once() noexcept {
    static std::atomic<bool> warned{false};
    if (warned.exchange(true)) return;
    message(
        "a thread has less than %zu KB of the program's own memory as its stack: it and others "
        "like it run unprofiled",
        kMinProgramStack / 1024);
  }

  const pthread_attr_t* used_;
  pthread_attr_t roomy_;
  bool is_too_small_ = false;
};

}  // namespace coz

#endif  // LIBCOZ_INTERPOSE_SMALL_STACK_H
