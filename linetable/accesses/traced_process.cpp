#include "linetable/accesses/traced_process.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

namespace coz::linetable {
namespace {

// Of stops at system calls, by PTRACE_O_TRACESYSGOOD.
constexpr int kSystemCall = SIGTRAP | 0x80;

// In the child: never returns.
[[noreturn]] void become(char** argv) {
  const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nothing < 0) _exit(127);
  dup2(nothing, STDOUT_FILENO);
  dup2(nothing, STDERR_FILENO);
  lseek(STDIN_FILENO, 0, SEEK_SET);  // a run before may have read it; a pipe stays as it is
  if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0) execv(argv[0], argv);
  _exit(127);
}

}  // namespace

TracedProcess::TracedProcess(char** argv, OnMap on_map, std::string& error)
    : on_map_(std::move(on_map)) {
  process_ = fork();
  if (process_ == 0) become(argv);
  int status = 0;
  if (process_ < 0 || waitpid(process_, &status, 0) != process_) {
    error = std::string("it cannot be started: ") + std::strerror(errno);
    return;
  }
  if (!WIFSTOPPED(status)) {
    error = "it cannot be executed, or not be traced";
    return;
  }
  ended_ = false;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): ptrace takes its options so
  const auto options = reinterpret_cast<void*>(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  if (ptrace(PTRACE_SETOPTIONS, process_, nullptr, options) != 0)
    error = std::string("it cannot be traced: ") + std::strerror(errno);
}

TracedProcess::~TracedProcess() {
  if (ended_) return;
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

bool TracedProcess::wait_for_stop(int& status) {
  if (waitpid(process_, &status, __WALL) == process_ && WIFSTOPPED(status)) return true;
  ended_ = true;
  return false;
}

void TracedProcess::run_for(std::chrono::microseconds time) {
  if (ended_) return;
  // SIGSTOP ends the time; a thread sends it, since waiting for the process has no time limit.
  std::jthread timer([process = process_, time] {
    std::this_thread::sleep_for(time);
    kill(process, SIGSTOP);
  });
  for (;;) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    auto* const signal = reinterpret_cast<void*>(static_cast<std::intptr_t>(signal_));
    signal_ = 0;
    int status = 0;
    if (ptrace(PTRACE_SYSCALL, process_, nullptr, signal) != 0 || !wait_for_stop(status)) {
      ended_ = true;
      return;
    }
    const int reason = WSTOPSIG(status);
    if (reason == SIGSTOP) return;
    if (reason == kSystemCall) {
      in_call_ = !in_call_;
      if (in_call_)
        registers(at_call_);
      else
        note_map(at_call_);
    } else if (reason != SIGTRAP) {
      signal_ = reason;
    }
  }
}

void TracedProcess::note_map(const user_regs_struct& at_call) const {
#if defined(__x86_64__)
  user_regs_struct now{};
  if (at_call.orig_rax != SYS_mmap || (at_call.r10 & MAP_ANONYMOUS) == 0 || !registers(now) ||
      now.rax == 0 || now.rax > ~0xfffUL)
    return;
  on_map_(process_, now.rax, at_call.rsi);
#else
  static_cast<void>(at_call);
#endif
}

bool TracedProcess::stands_at_call(const user_regs_struct& now) const noexcept {
#if defined(__x86_64__)
  constexpr std::array<std::uint8_t, 2> kCall = {0x0f, 0x05};
  std::array<std::uint8_t, 2> code{};
  return read(now.rip, code.data(), code.size()) == code.size() && code == kCall;
#else
  static_cast<void>(now);
  return false;
#endif
}

bool TracedProcess::step() {
  // The kernel does not stop at a system call that is one step.
  user_regs_struct before{};
  const bool is_call = registers(before) && stands_at_call(before);
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  auto* const signal = reinterpret_cast<void*>(static_cast<std::intptr_t>(signal_));
  signal_ = 0;
  int status = 0;
  if (ended_ || ptrace(PTRACE_SINGLESTEP, process_, nullptr, signal) != 0 ||
      !wait_for_stop(status)) {
    ended_ = true;
    return false;
  }
  const int reason = WSTOPSIG(status);
  if (reason != SIGTRAP && reason != SIGSTOP && reason != kSystemCall) signal_ = reason;
  if (is_call) {
#if defined(__x86_64__)
    before.orig_rax = before.rax;
#endif
    note_map(before);
  }
  return true;
}

bool TracedProcess::registers(user_regs_struct& out) const noexcept {
#if defined(__x86_64__)
  return ptrace(PTRACE_GETREGS, process_, nullptr, &out) == 0;
#else
  static_cast<void>(out);
  return false;
#endif
}

std::size_t TracedProcess::read(std::uint64_t address, void* out, std::size_t size) const noexcept {
  const iovec here{out, size};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of the other process
  const iovec there{reinterpret_cast<void*>(address), size};
  const ssize_t got = process_vm_readv(process_, &here, 1, &there, 1, 0);
  if (got > 0) return static_cast<std::size_t>(got);
  // An instruction at the end of its mapping.
  const std::size_t rest = 4096 - address % 4096;
  return rest < size ? read(address, out, rest) : 0;
}

}  // namespace coz::linetable
