// Lines under their callers, by number: a *call path* is a line, as part of one function (of
// several instances of a template, say), with the call site in scope next to it, outwards along the
// chain of inlined and called functions.
//
// A table of fixed size, filled by signal handlers of all threads and read by any; lock-free. When
// it is full, further paths have no number. The memory is one mapping.
#ifndef LIBCOZ_TARGET_CALL_PATHS_H
#define LIBCOZ_TARGET_CALL_PATHS_H

#include <atomic>
#include <cstdint>
#include <optional>

#include "symbols/modules.h"

namespace coz {

struct CallPath {
  SourceFrame place;
  std::optional<SourceFrame> caller;  // none: what calls it is out of scope
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
  bool reserve() noexcept;

  // Counts a sample and returns the path's number, below kMaxPaths; nullopt when the table is full.
  // Signal-safe.
  std::optional<std::uint32_t> count(const SourceFrame& place, const SourceFrame* caller) noexcept;

  // nullopt where no path has this number.
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
