// What an experiment speeds up, by number: a *target* is a line, function or call path, as
// --granularity says, a marked region, or a wait, for a lock or otherwise.
//
//   0 … kFirstWait − 1           regions
//   kFirstWait … kFirstLine − 1  waits (wait_sites.h)
//   from kFirstLine on           lines or functions by their global ids, or call paths
//
// of() is for signal handlers, in any thread, as are of_wait() and add_wait(); the rest may
// allocate, and is for one thread.
#ifndef LIBCOZ_TARGET_TARGETS_H
#define LIBCOZ_TARGET_TARGETS_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "symbols/modules.h"
#include "target/call_paths.h"
#include "target/region_registry.h"
#include "target/wait_sites.h"

namespace coz {

enum class Granularity { kLine, kFunction, kCallpath };
inline constexpr std::array kGranularityNames = {"line", "function", "callpath"};

// As written to the profile.
struct TargetDescription {
  std::string kind;      // "line", "function", "callpath", "region", "wait" or "lock"
  std::string location;  // unique among a profile's targets
  std::string function;  // empty if unknown
};

// What the user named: a line (FILE:LINE), a function, a region, or a line that waits, perhaps for
// a lock.
struct TargetName {
  std::string kind;  // "line", "function", "region", "wait" or "lock"
  std::string name;
};

// The same as TargetDescription::location, or its beginning: the name, or "wait ", "lock " or
// "region " and the name, of a region as far as the registry keeps it.
std::string location_of(const TargetName& name);

inline bool is_wait(const TargetName& name) noexcept {
  return name.kind == "wait" || name.kind == "lock";
}

class Targets {
 public:
  // All must outlive it.
  Targets(const Modules& modules, CallPaths& paths, const RegionRegistry& regions, WaitSites& waits,
          Granularity granularity) noexcept
      : modules_(modules),
        paths_(paths),
        regions_(regions),
        waits_(waits),
        granularity_(granularity) {}

  // How many numbers there are, used or not.
  std::uint32_t count() const noexcept {
    return count(modules_.line_count(), modules_.function_count());
  }
  // The same for that many lines and functions.
  std::uint32_t count(std::uint32_t lines, std::uint32_t functions) const noexcept;

  // True if of() needs the caller's frame, too.
  bool wants_caller() const noexcept { return granularity_ == Granularity::kCallpath; }

  // The target that a sample in these frames (innermost first) counts for, or kNoTarget. Counts the
  // call path if `with_caller`: if the caller's frame was looked for.
  std::uint32_t of(std::span<const SourceFrame> frames, bool with_caller) noexcept;

  static constexpr std::uint32_t kFirstWait = RegionRegistry::kMaxNames;
  static constexpr std::uint32_t kFirstLine = kFirstWait + WaitSites::kMaxSites;

  // The target of a wait in these frames (innermost first), or kNoTarget.
  std::uint32_t of_wait(std::span<const SourceFrame> frames, bool is_lock = false) noexcept;
  static std::uint32_t of_waits(WaitClass wait_class) noexcept {
    return kFirstWait + WaitSites::of_class(wait_class);
  }
  static bool is_wait(std::uint32_t target) noexcept {
    return target >= kFirstWait && target < kFirstLine;
  }
  // A thread has waited in the target. Returns how many periods more are full.
  std::uint32_t add_wait(std::uint32_t target, Nanoseconds waited, Nanoseconds period) noexcept {
    return waits_.add(target - kFirstWait, waited, period);
  }

  // Whether combined windows may have it as a target: not a region, which holds other targets, nor
  // a wait, which is charged by time.
  static bool may_be_combined(std::uint32_t target) noexcept { return target >= kFirstLine; }

  static std::uint32_t of_region(std::uint32_t region) noexcept { return region; }
  // `function` is that of the first sample in the target.
  TargetDescription describe(std::uint32_t target, std::uint32_t function) const;

  // Finds a known line or function, a region that has been entered, or the call path with most
  // samples among those to a line. nullopt also for kinds that this granularity does not have.
  std::optional<std::uint32_t> find(const TargetName& wanted) const;

  // True if find() may return something else although count() is the same.
  bool may_change(const TargetName& wanted) const noexcept {
    return wanted.kind == "region" || coz::is_wait(wanted) ||
           granularity_ == Granularity::kCallpath;
  }

 private:
  TargetDescription describe_path(const CallPath& path) const;
  TargetDescription describe_wait(std::uint32_t site) const;
  std::optional<std::uint32_t> find_wait(const TargetName& wanted) const;
  std::optional<std::uint32_t> find_path(std::uint32_t line) const;

  const Modules& modules_;
  CallPaths& paths_;
  const RegionRegistry& regions_;
  WaitSites& waits_;
  Granularity granularity_;
};

}  // namespace coz

#endif  // LIBCOZ_TARGET_TARGETS_H
