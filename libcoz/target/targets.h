// What an experiment speeds up, by number: a *target* is a line, a function or a line under one
// caller, as --granularity says, or a region that the program marks.
//
//   0 … kMaxRegions − 1   regions
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

#include "symbols/modules.h"
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

// What the user named: a line (FILE:LINE), a function or a region.
struct TargetName {
  std::string kind;  // "line", "function" or "region"
  std::string name;
};

// As TargetDescription::location, which it may only be the beginning of: "region " and the name as
// far as the registry keeps it, or the name.
std::string location_of(const TargetName& name);

class Targets {
 public:
  // All must outlive it.
  Targets(const Modules& modules, CallPaths& paths, const RegionRegistry& regions,
          Granularity granularity) noexcept
      : modules_(modules), paths_(paths), regions_(regions), granularity_(granularity) {}

  // How many numbers there are, used or not.
  std::uint32_t count() const noexcept {
    return count(modules_.line_count(), modules_.function_count());
  }
  // The same, were there so many lines and functions.
  std::uint32_t count(std::uint32_t lines, std::uint32_t functions) const noexcept;

  // Does of() want the caller's place too?
  bool wants_caller() const noexcept { return granularity_ == Granularity::kCallpath; }

  // What a sample in these places (innermost first) counts for; kNoTarget if for nothing. Counts
  // the call path where the caller's place is there, or known to be out of scope.
  std::uint32_t of(std::span<const SourceFrame> places, bool with_caller) noexcept;

  static std::uint32_t of_region(std::uint32_t region) noexcept { return region; }

  // `function`: that of the first sample in the target.
  TargetDescription describe(std::uint32_t target, std::uint32_t function) const;

  // A line or function that there is, a region that has been entered, or of the call paths to a
  // line the one with most samples. nullopt too for a kind that this granularity does not have.
  std::optional<std::uint32_t> find(const TargetName& wanted) const;

  // Whether find() may answer differently while count() stays the same.
  bool may_change(const TargetName& wanted) const noexcept {
    return wanted.kind == "region" || granularity_ == Granularity::kCallpath;
  }

 private:
  TargetDescription describe_path(const CallPath& path) const;
  std::optional<std::uint32_t> find_path(std::uint32_t line) const;
  std::string name_of(std::uint32_t function) const;

  const Modules& modules_;
  CallPaths& paths_;
  const RegionRegistry& regions_;
  Granularity granularity_;
};

}  // namespace coz

#endif  // LIBCOZ_TARGET_TARGETS_H
