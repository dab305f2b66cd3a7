// Executing another program. A sample in the kernel that falls in the call would kill the executed
// program, which has no handler for it. So the calling thread takes none meanwhile.
//
// In any thread, also in signal handlers: nothing is allocated, and errno is the call's. In
// children made by fork or vfork, which are not sampled, nothing is held.
#include <alloca.h>
#include <unistd.h>

#include <cstdarg>
#include <cstddef>

#include "interpose/export.h"
#include "kernel/real.h"
#include "lifecycle/runtime.h"

namespace {

using Strings = char* const*;

// Returns only if the call fails.
template <typename Call>
auto execute(Call call) noexcept {
  coz::Runtime::hold_samples(true);
  const auto result = call();
  coz::Runtime::hold_samples(false);
  return result;
}

// How long the list is that begins with `first` and ends with a null pointer, that included.
std::size_t count(const char* first, va_list* list) noexcept {
  std::size_t length = 1;
  for (; first != nullptr; first = va_arg(*list, const char*)) ++length;
  return length;
}

// The same list as an array, in `room` for as many as count() has found.
Strings copy(const char* first, va_list* list, void* room) noexcept {
  auto* const strings = static_cast<const char**>(room);
  // NOLINTBEGIN(clang-analyzer-security.ArrayBound): two walks find the same number
  auto* next = strings;
  for (; first != nullptr; first = va_arg(*list, const char*)) *next++ = first;
  *next = nullptr;
  // NOLINTEND(clang-analyzer-security.ArrayBound)
  return const_cast<Strings>(strings);
}

}  // namespace

// `list` is left behind the null pointer. On the stack, since nothing may be allocated here.
// NOLINTBEGIN(bugprone-macro-parentheses): these are names
#define COZ_STRINGS(strings, first, list)                               \
  va_list list;                                                         \
  va_start(list, first);                                                \
  void* const room = alloca(count(first, &list) * sizeof(const char*)); \
  va_end(list);                                                         \
  va_start(list, first);                                                \
  const Strings strings = copy(first, &list, room)
// NOLINTEND(bugprone-macro-parentheses)

COZ_EXPORT int execve(const char* path, Strings arguments, Strings environment) noexcept {
  return execute([=] { return COZ_REAL(execve)(path, arguments, environment); });
}

COZ_EXPORT int execv(const char* path, Strings arguments) noexcept {
  return execute([=] { return COZ_REAL(execv)(path, arguments); });
}

COZ_EXPORT int execvp(const char* name, Strings arguments) noexcept {
  return execute([=] { return COZ_REAL(execvp)(name, arguments); });
}

COZ_EXPORT int execvpe(const char* name, Strings arguments, Strings environment) noexcept {
  return execute([=] { return COZ_REAL(execvpe)(name, arguments, environment); });
}

COZ_EXPORT int fexecve(int file, Strings arguments, Strings environment) noexcept {
  return execute([=] { return COZ_REAL(fexecve)(file, arguments, environment); });
}

COZ_EXPORT int execveat(int folder, const char* path, Strings arguments, Strings environment,
                        int flags) noexcept {
  return execute([=] { return COZ_REAL(execveat)(folder, path, arguments, environment, flags); });
}

COZ_EXPORT int execl(const char* path, const char* first, ...) noexcept {
  COZ_STRINGS(arguments, first, list);
  va_end(list);
  return execute([=] { return COZ_REAL(execv)(path, arguments); });
}

COZ_EXPORT int execlp(const char* name, const char* first, ...) noexcept {
  COZ_STRINGS(arguments, first, list);
  va_end(list);
  return execute([=] { return COZ_REAL(execvp)(name, arguments); });
}

COZ_EXPORT int execle(const char* path, const char* first, ...) noexcept {
  COZ_STRINGS(arguments, first, list);
  const auto environment = va_arg(list, Strings);
  va_end(list);
  return execute([=] { return COZ_REAL(execve)(path, arguments, environment); });
}

// syscall(SYS_execve, …) and syscall(SYS_execveat, …).
extern "C" __attribute__((visibility("hidden"), used)) long coz_execute(long number, long first,
                                                                        long second, long third,
                                                                        long fourth, long fifth) {
  return execute([=] { return COZ_REAL(syscall)(number, first, second, third, fourth, fifth); });
}
