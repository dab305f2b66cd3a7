// A function that we stand in for, of a library that the program may load at any time, and for
// itself alone (RTLD_LOCAL): there dlsym(RTLD_NEXT) does not find it, as it finds libc's
// (kernel/real.h).
//
// Looked up at first use; the library then stays loaded. In threads of the program, not in signal
// handlers: the look-up allocates, and takes the loader's lock.
#ifndef LIBCOZ_KERNEL_LOADED_FUNCTION_H
#define LIBCOZ_KERNEL_LOADED_FUNCTION_H

#include <atomic>

namespace coz {

class LoadedFunction {
 public:
  constexpr explicit LoadedFunction(const char* name) noexcept : name_(name) {}

  void* address() noexcept {
    void* known = address_.load(std::memory_order_relaxed);
    return __builtin_expect(known != nullptr, 1) ? known : look_up();
  }

 private:
  // Ends the process if no library has it: nobody can have called it then.
  void* look_up() noexcept;

  const char* name_;
  std::atomic<void*> address_{nullptr};
};

}  // namespace coz

// The function behind our wrapper of this name.
#define COZ_LOADED(name)                                  \
  (reinterpret_cast<decltype(&::name)>([]() noexcept {    \
    static constinit coz::LoadedFunction function(#name); \
    return function.address();                            \
  }()))

#endif  // LIBCOZ_KERNEL_LOADED_FUNCTION_H
