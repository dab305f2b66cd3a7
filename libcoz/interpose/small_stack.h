// Room for the sample handler on the stack of a thread that is to be created.
//
// The handler runs on the thread's own stack. It has taken 6 KB of it (x86-64 with AVX-512: the
// kernel's frame, the handler and the unwinder); where a thread uses the processor's tiles (AMX),
// the frame is larger by 11 KB. A stack of PTHREAD_STACK_MIN, 16 KB, from which libc takes the
// thread's variables, has no such room.
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
  // What the program asks for; nullptr: the default.
  explicit SmallStack(const pthread_attr_t* given) noexcept : used_(given) {
    if (given == nullptr || Session::active() == nullptr) return;
    void* memory = nullptr;
    std::size_t size = 0;
    if (pthread_attr_getstack(given, &memory, &size) != 0) return;
    // libc counts back from the end of the memory, which is 0 where it is to find some itself.
    if (reinterpret_cast<std::uintptr_t>(memory) + size != 0) {
      is_too_small_ = size < kMinProgramStack;
      if (is_too_small_) warn_once();
      return;
    }
    if (pthread_attr_getstacksize(given, &size) != 0 || size >= kSmall) return;
    // It shares with the program's what that may point to (the cores, the mask of signals), which
    // is only read: so it is not to be destroyed.
    roomy_ = *given;
    if (pthread_attr_setstacksize(&roomy_, size + kRoom) == 0) used_ = &roomy_;
  }
  SmallStack(const SmallStack&) = delete;
  SmallStack& operator=(const SmallStack&) = delete;

  // As given, but with room where the stack is small.
  const pthread_attr_t* attributes() const noexcept { return used_; }
  // The memory is the program's own, and has no room: such a thread is not to be sampled.
  bool is_too_small() const noexcept { return is_too_small_; }

 private:
  // Programs that choose such stacks may have measured what they need.
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
