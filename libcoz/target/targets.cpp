#include "target/targets.h"

#include "target/selection.h"

namespace coz {
namespace {

constexpr std::uint32_t kFirst = Targets::kFirstLine;

}  // namespace

std::uint32_t Targets::count(std::uint32_t lines, std::uint32_t functions) const noexcept {
  switch (granularity_) {
    case Granularity::kFunction:
      return kFirst + functions;
    case Granularity::kCallpath:
      return kFirst + CallPaths::kMaxPaths;
    case Granularity::kLine:
      break;
  }
  return kFirst + lines;
}

std::uint32_t Targets::of(std::span<const SourceFrame> frames, bool with_caller) noexcept {
  if (frames.empty()) return kNoTarget;
  std::optional<std::uint32_t> path;
  if (with_caller) path = paths_.count(frames[0], frames.size() > 1 ? &frames[1] : nullptr);
  switch (granularity_) {
    case Granularity::kFunction:
      return frames[0].function == kNoFunction ? kNoTarget : kFirst + frames[0].function;
    case Granularity::kCallpath:
      return path ? kFirst + *path : kNoTarget;
    case Granularity::kLine:
      break;
  }
  return kFirst + frames[0].line;
}

std::uint32_t Targets::of_wait(std::span<const SourceFrame> frames, bool is_lock) noexcept {
  if (frames.empty()) return kNoTarget;
  const bool by_function = granularity_ == Granularity::kFunction;
  if (by_function && frames[0].function == kNoFunction) return kNoTarget;
  const std::uint32_t id = by_function ? frames[0].function : frames[0].line;
  const auto site = waits_.find_or_add(id, frames[0].function, is_lock);
  return site ? kFirstWait + *site : kNoTarget;
}

TargetDescription Targets::describe_path(const CallPath& path) const {
  TargetDescription found{"callpath", modules_.location(path.frame.line),
                          modules_.function_name(path.frame.function)};
  found.location += " < ";
  found.location += path.caller ? modules_.location(path.caller->line) : "?";
  return found;
}

TargetDescription Targets::describe_wait(std::uint32_t site) const {
  if (WaitSites::is_class(site)) {
    if (site == WaitSites::of_class(WaitClass::kLock)) return {"lock", "lock (all)", ""};
    return {"wait", std::string("wait (all ") + kWaitClassNames[site] + ")", ""};
  }
  const auto found = waits_.get(site);
  if (!found) return {"wait", "?", ""};
  const bool by_function = granularity_ == Granularity::kFunction;
  const std::string kind = found->is_lock ? "lock" : "wait";
  return {kind,
          kind + " " +
              (by_function ? modules_.function_location(found->id) : modules_.location(found->id)),
          modules_.function_name(found->function)};
}

TargetDescription Targets::describe(std::uint32_t target, std::uint32_t function) const {
  if (is_wait(target)) return describe_wait(target - kFirstWait);
  if (target < kFirst) {
    if (target >= regions_.size()) return {"region", "?", ""};
    return {"region", std::string("region ") + regions_.name(target), ""};
  }
  const std::uint32_t id = target - kFirst;
  switch (granularity_) {
    case Granularity::kFunction:
      return {"function", modules_.function_location(id), modules_.function_name(id)};
    case Granularity::kCallpath:
      if (const auto path = paths_.get(id)) return describe_path(*path);
      return {"callpath", "?", ""};
    case Granularity::kLine:
      break;
  }
  return {"line", modules_.location(id), modules_.function_name(function)};
}

std::string location_of(const TargetName& name) {
  if (is_wait(name)) return name.kind + " " + name.name;
  if (name.kind != "region") return name.name;
  return "region " + name.name.substr(0, RegionRegistry::kMaxName);
}

std::optional<std::uint32_t> Targets::find(const TargetName& wanted) const {
  if (wanted.kind == "region") {
    const auto region = regions_.find(wanted.name);
    return region ? std::optional(of_region(*region)) : std::nullopt;
  }
  if (coz::is_wait(wanted)) return find_wait(wanted);
  if ((wanted.kind == "function") != (granularity_ == Granularity::kFunction)) return std::nullopt;
  if (granularity_ == Granularity::kFunction) {
    const auto function = modules_.find_function(wanted.name);
    return function ? std::optional(kFirst + *function) : std::nullopt;
  }
  const auto line = modules_.find_line(wanted.name);
  if (!line) return std::nullopt;
  return granularity_ == Granularity::kLine ? std::optional(kFirst + *line) : find_path(*line);
}

std::optional<std::uint32_t> Targets::find_wait(const TargetName& wanted) const {
  for (std::uint32_t site = 0; WaitSites::is_class(site); ++site) {
    if (describe_wait(site).location == location_of(wanted)) return kFirstWait + site;
  }
  const auto id = granularity_ == Granularity::kFunction ? modules_.find_function(wanted.name)
                                                         : modules_.find_line(wanted.name);
  const auto site = id ? waits_.find(*id, wanted.kind == "lock") : std::nullopt;
  return site ? std::optional(kFirstWait + *site) : std::nullopt;
}

std::optional<std::uint32_t> Targets::find_path(std::uint32_t line) const {
  std::optional<std::uint32_t> most;
  std::uint64_t samples = 0;
  for (std::uint32_t id = 0; id < CallPaths::kMaxPaths; ++id) {
    const auto path = paths_.get(id);
    if (path && path->frame.line == line && path->samples > samples) {
      most = kFirst + id;
      samples = path->samples;
    }
  }
  return most;
}

}  // namespace coz
