// The thread `coz-modules`, which watches for modules that are loaded and unloaded
// (module_watch.h).
//
// It is separate from the experiments' thread because it may have to wait, for the loader's lock
// and for `coz run`. It is started only if `coz run` offers tables, before any thread is sampled,
// and nobody waits for its end: the program may end while one of its threads holds the loader's
// lock. What it works on must live as long as the process.
//
// Where the kernel allows it (hide_descriptors()), the thread has a table of descriptors of its
// own, and nothing of it is left in the program's. Elsewhere the socket stays in the program's
// table, close-on-exec and with a high number; in_forked_child() closes it in forked children.
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
  // Makes room for that many lines and functions in all; false if there is none.
  using MakeRoom = std::function<bool(std::uint32_t lines, std::uint32_t functions)>;

  explicit ModuleThread(Modules& modules) noexcept : modules_(modules) {}

  // False, with a reason, if there is no such socket or no thread; the socket is then closed.
  bool start(int socket, const SourceScope& scope, MakeRoom make_room, std::string& reason);

  // Ends the watching soon. Does not wait.
  void stop() noexcept { stop_.stop(); }

  // Before a fork whose child is profiled with this process, but has no such thread: waits until
  // the lines of what is loaded now are known. For two seconds at most, and then never again.
  void wait_for_lines() noexcept;

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
  StopSignal ready_;  // the thread has its own descriptors, or cannot have them
  int socket_ = -1;   // in the program's table
  std::atomic<bool> shares_descriptors_{false};
  std::atomic<bool> can_be_waited_for_{false};
  std::atomic<std::uint64_t> seen_{0};  // LoaderCounts::loaded when all lines were known
};

}  // namespace coz

#endif  // LIBCOZ_SYMBOLS_MODULE_THREAD_H
