#include "lifecycle/tree_file.h"

#include <string.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <new>
#include <optional>

#include "common/raw_syscall.h"
#include "kernel/message.h"
#include "kernel/process_state.h"
#include "thread/departed_threads.h"
#include "thread/session.h"

namespace coz {

SharedState* begin_tree(Config& config, SharedFile& file) {
  const bool is_there = file.open(config.tree_file.c_str()) && file.is(config.tree_inode);
  void* block = is_there ? file.map_next(sizeof(SharedState)) : nullptr;
  if (block == nullptr) {
    message("no memory that programs share (%s: %s); the program runs unprofiled",
            config.tree_file.c_str(), strerror(errno));
    return nullptr;
  }
  auto* former = static_cast<SharedState*>(block);
  if (!former->tree.is_on()) return new (block) SharedState;
  former->tree.end();
  if (former->tree.joined() > 1) {
    message("the launched process has executed this program: what ran before goes on unprofiled");
  }
  file.close();
  config.tree_file.clear();
  config.tree_programs.clear();
  return nullptr;
}

SharedState* find_tree(const Config& config, SharedFile& file) {
  if (!file.open(config.tree_file.c_str()) || !file.is(config.tree_inode)) return nullptr;
  file.never_grow();
  auto* shared = static_cast<SharedState*>(file.map_next(sizeof(SharedState)));
  return shared != nullptr && shared->tree.is_on() && !shared->tree.has_ended() ? shared : nullptr;
}

Nanoseconds leave_former_program(SharedState& shared) {
  const int own = Session::own_process();
  std::optional<Nanoseconds> served;
  shared.threads.for_each([&](const ThreadState& thread) {
    if (thread.process.load(std::memory_order_relaxed) != own) return;
    served = std::max(served.value_or(0), thread.delay.clock.local());
  });
  release_departed(shared, [own](int process, std::uintptr_t) { return process != own; });
  if (served) return *served;
  shared.tree.join();
  return shared.global_delay.get();
}

bool is_elsewhere(const ProcessTree& tree) noexcept {
  return raw_syscall(SYS_getppid) == 0 || is_missing(tree.first(), tree.experimenter());
}

}  // namespace coz
