// What an experiment speeds up, by number: a *target* is a line, a function or a line under one
// caller, as --granularity says, or a region that the program marks.
//
//   0 … kMostRegions − 1   regions
//   from there on          lines or functions by their global ids, or call paths
//
// of() is for signal handlers, of any thread; the rest may allocate, and is for one thread.
#ifndef LIBCOZ_TARGET_TARGETS_H
#define LIBCOZ_TARGET_TARGETS_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "line/modules.h"
#include "target/call_paths.h"
#include "target/region_registry.h"

namespace coz {

enum class Granularity { kLine, kFunction, kCallpath };

constexpr const char* name_of(Granularity granularity) noexcept {
  return granularity == Granularity::kFunction   ? "function"
         : granularity == Granularity::kCallpath ? "callpath"
                                                 : "line";
}

// As it stands in the profile.
struct TargetDescription {
  std::string kind;      // "line", "function", "callpath" or "region"
  std::string location;  // unique among a profile's targets
  std::string function;  // empty where unknown
};

class Targets {
 public:
  // All must outlive it.
  Targets(const Modules& modules, CallPaths& paths, const RegionRegistry& regions,
          Granularity granularity) noexcept
      : modules_(modules), paths_(paths), regions_(regions), granularity_(granularity) {}

  // How many numbers there are, used or not, with so many lines and functions.
  std::uint32_t count(std::uint32_t lines, std::uint32_t functions) const noexcept;

  // Does of() want the caller's place too?
  bool wants_caller() const noexcept { return granularity_ == Granularity::kCallpath; }

  // What a sample in these places (innermost first) counts for; kNoTarget if for nothing. Counts
  // the call path where the caller's place is there, or known to be out of scope.
  std::uint32_t of(std::span<const Place> places, bool with_caller) noexcept;

  static std::uint32_t of_region(std::uint32_t region) noexcept { return region; }

  // `function`: that of the first sample in the target.
  TargetDescription describe(std::uint32_t target, std::uint32_t function) const;

  // What the user named: FILE:LINE, a function's name, or a region's. For a line or function that
  // there is, or a region that has been entered. Not in the first `from` modules.
  std::optional<std::uint32_t> find(std::string_view name, std::uint32_t from = 0) const;

 private:
  TargetDescription describe_path(const CallPath& path) const;
  std::string name_of(std::uint32_t function) const;

  const Modules& modules_;
  CallPaths& paths_;
  const RegionRegistry& regions_;
  Granularity granularity_;
};

}  // namespace coz

#endif  // LIBCOZ_TARGET_TARGETS_H
