#include "kernel/real.h"

#include <dlfcn.h>

#include "common/raw_syscall.h"
#include "kernel/message.h"

// libc's own entries, which need no look-up. To link to them, one must name the version that they
// have had from the start.
#if defined(__x86_64__)
#define COZ_FIRST_GLIBC "GLIBC_2.2.5"
#else
#define COZ_FIRST_GLIBC "GLIBC_2.17"
#endif
#define COZ_LIBC_ENTRY(name)                        \
  extern "C" int coz_libc_##name(pthread_mutex_t*); \
  __asm__(".symver coz_libc_" #name ", __" #name "@" COZ_FIRST_GLIBC)
COZ_LIBC_ENTRY(pthread_mutex_lock);
COZ_LIBC_ENTRY(pthread_mutex_trylock);
COZ_LIBC_ENTRY(pthread_mutex_unlock);

namespace coz::real {
namespace {

constexpr const char* kNames[kFunctions] = {
#define COZ_NAME_FUNCTION(name) #name,
    COZ_REAL_FUNCTIONS(COZ_NAME_FUNCTION)
#undef COZ_NAME_FUNCTION
};

// Before glibc 2.36, dlsym(RTLD_NEXT) finds the first version of a function, not the one that
// programs are linked with. Of those below the first is another function, for other objects.
void* look_up_next(Function function) noexcept {
#if defined(__x86_64__)
  switch (function) {
    case k_pthread_cond_wait:
    case k_pthread_cond_timedwait:
    case k_pthread_cond_signal:
    case k_pthread_cond_broadcast:
      if (void* address = dlvsym(RTLD_NEXT, kNames[function], "GLIBC_2.3.2")) return address;
      break;
    default:
      break;
  }
#endif
  return dlsym(RTLD_NEXT, kNames[function]);
}

thread_local bool is_looking_up __attribute__((tls_model("initial-exec"))) = false;

void* without_look_up(Function function) noexcept {
  switch (function) {
    case k_pthread_mutex_lock:
      return reinterpret_cast<void*>(coz_libc_pthread_mutex_lock);
    case k_pthread_mutex_trylock:
      return reinterpret_cast<void*>(coz_libc_pthread_mutex_trylock);
    case k_pthread_mutex_unlock:
      return reinterpret_cast<void*>(coz_libc_pthread_mutex_unlock);
    default:
      return nullptr;
  }
}

}  // namespace

std::atomic<void*> addresses[kFunctions];

void* look_up(Function function) noexcept {
  void* address = nullptr;
  if (is_looking_up) {
    address = without_look_up(function);
  } else {
    is_looking_up = true;
    address = look_up_next(function);
    is_looking_up = false;
    if (address != nullptr) addresses[function].store(address, std::memory_order_relaxed);
  }
  if (address != nullptr) return address;
  // Only in a libc older than the one the program was linked with, which cannot load it. To go on
  // would jump to address 0.
  message("this libc has no %s; the program cannot be profiled", kNames[function]);
  raw_syscall(SYS_exit_group, 127);
  __builtin_unreachable();
}

void prepare() noexcept {
  for (int i = 0; i < kFunctions; ++i) {
    const auto function = static_cast<Function>(i);
    if (addresses[i].load(std::memory_order_relaxed) != nullptr) continue;
    addresses[i].store(look_up_next(function), std::memory_order_relaxed);
  }
  pass_other_syscalls_to(find(k_syscall));
}

}  // namespace coz::real
