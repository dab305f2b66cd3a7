// The thread `coz-modules`, which looks for modules that come and go (module_watch.h).
//
// A thread apart from that of the experiments, because it may be kept waiting: by the loader's
// lock, and by the launcher. It is started only where `coz run` offers tables, before any thread is
// sampled, and nobody waits for its end: the program may end while a thread of it holds the
// loader's lock. What it works on must live as long as the process.
//
// Where the kernel allows it (see hide_descriptors()), it has a table of descriptors of its own,
// and the program's has nothing of it left; else the socket stays there, close-on-exec and at a
// high number, to be closed in forked children by in_forked_child().
#ifndef LIBCOZ_SYMBOLS_MODULE_THREAD_H
#define LIBCOZ_SYMBOLS_MODULE_THREAD_H

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "common/scope.h"
#include "kernel/fork_gate.h"
#include "kernel/stop_signal.h"
#include "symbols/modules.h"

namespace coz {

class ModuleThread {
 public:
  // For so many lines and functions in all; false if there is no room.
  using MakeRoom = std::function<bool(std::uint32_t lines, std::uint32_t functions)>;

  explicit ModuleThread(Modules& modules) noexcept : modules_(modules) {}

  // False, with a reason, if there is no such socket or no thread; the socket is then closed.
  bool start(int socket, const SourceScope& scope, MakeRoom make_room, std::string& reason);

  // Soon, no more modules are taken up. Does not wait.
  void stop() noexcept { stop_.stop(); }

  // For pthread_atfork.
  void before_fork() noexcept { gate_.before_fork(); }
  void after_fork() noexcept { gate_.after_fork(); }
  void in_forked_child() noexcept;

 private:
  class World;

  static void* run(void* self);
  void watch();

  Modules& modules_;
  SourceScope scope_;
  MakeRoom make_room_;
  ForkGate gate_;
  StopSignal stop_;
  StopSignal ready_;  // the thread has its own descriptors, or can't have
  int socket_ = -1;   // in the program's table
  std::atomic<bool> shares_descriptors_{false};
};

}  // namespace coz

#endif  // LIBCOZ_SYMBOLS_MODULE_THREAD_H
