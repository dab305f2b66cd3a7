// A program under ptrace: run, stopped at times, and taken through some instructions one by one.
//
// Only its first thread is stopped; children that it makes run on untraced. One object at a time,
// from one thread, which owns the process: the destructor kills it.
#ifndef LINETABLE_ACCESSES_TRACED_PROCESS_H
#define LINETABLE_ACCESSES_TRACED_PROCESS_H

#include <sys/types.h>
#include <sys/user.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace coz::linetable {

class TracedProcess {
 public:
  // Called while the process is stopped, after it was given anonymous memory: the process,
  // begin and size.
  using OnMap = std::function<void(pid_t, std::uint64_t, std::uint64_t)>;

  // Starts the program (argv ends with null), with our environment and standard input, and without
  // output. It stands at its first instruction. Where that fails, `error` says why.
  TracedProcess(char** argv, OnMap on_map, std::string& error);
  ~TracedProcess();
  TracedProcess(const TracedProcess&) = delete;
  TracedProcess& operator=(const TracedProcess&) = delete;

  pid_t id() const noexcept { return process_; }
  bool has_ended() const noexcept { return ended_; }

  // Lets it run for that long.
  void run_for(std::chrono::microseconds time);

  // Executes one instruction; false if the process has ended.
  bool step();

  bool registers(user_regs_struct& out) const noexcept;
  // Bytes of its memory; fewer where it ends.
  std::size_t read(std::uint64_t address, void* out, std::size_t size) const noexcept;

 private:
  // Waits for the next stop; false if the process has ended. A signal that is for the program is
  // kept, and given to it when it goes on.
  bool wait_for_stop(int& status);
  // Has the system call that began with `at_call` given memory?
  void note_map(const user_regs_struct& at_call) const;
  // Is its next instruction a system call?
  bool stands_at_call(const user_regs_struct& now) const noexcept;

  OnMap on_map_;
  pid_t process_ = -1;
  bool ended_ = true;
  int signal_ = 0;
  bool in_call_ = false;
  user_regs_struct at_call_{};
};

}  // namespace coz::linetable

#endif  // LINETABLE_ACCESSES_TRACED_PROCESS_H
