// Numbers for call paths. A *call path* is a source frame (a line as part of one function, for
// example of one template instance) with its caller: the next source frame in scope outwards along
// the chain of inlined and called functions.
//
// A table of fixed size, filled by the signal handlers of all threads and read by any thread;
// lock-free. When it is full, further paths have no number. The memory is one mapping.
#ifndef LIBCOZ_TARGET_CALL_PATHS_H
#define LIBCOZ_TARGET_CALL_PATHS_H

#include <atomic>
#include <cstdint>
#include <optional>

#include "kernel/zeroed_memory.h"
#include "symbols/modules.h"

namespace coz {

struct CallPath {
  SourceFrame frame;
  std::optional<SourceFrame> caller;  // nullopt: its callers are out of scope
  std::uint64_t samples = 0;
};

class CallPaths {
 public:
  static constexpr std::uint32_t kMaxPaths = 1U << 15;

  CallPaths() = default;
  CallPaths(const CallPaths&) = delete;
  CallPaths& operator=(const CallPaths&) = delete;
  ~CallPaths();

  // Before any sample. False if there is no memory.
  bool reserve(Sharing sharing = Sharing::kCopied) noexcept;

  // Counts a sample and returns the path's number, below kMaxPaths; nullopt when the table is full.
  // Signal-safe.
  std::optional<std::uint32_t> count(const SourceFrame& frame, const SourceFrame* caller) noexcept;

  // nullopt if no path has this number.
  std::optional<CallPath> get(std::uint32_t path) const noexcept;

 private:
  struct Entry {
    std::atomic<std::uint64_t> key;
    std::atomic<std::uint64_t> function;  // + 1; 0 while the entry is being made
    std::atomic<std::uint32_t> caller_function;
    std::atomic<std::uint64_t> samples;
  };

  Entry* entries_ = nullptr;
};

}  // namespace coz

#endif  // LIBCOZ_TARGET_CALL_PATHS_H
