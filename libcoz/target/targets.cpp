#include "target/targets.h"

#include "delay/selection.h"

namespace coz {
namespace {

constexpr std::uint32_t kFirst = RegionRegistry::kMostRegions;

}  // namespace

std::uint32_t Targets::count(std::uint32_t lines, std::uint32_t functions) const noexcept {
  switch (granularity_) {
    case Granularity::kFunction:
      return kFirst + functions;
    case Granularity::kCallpath:
      return kFirst + CallPaths::kMost;
    case Granularity::kLine:
      break;
  }
  return kFirst + lines;
}

std::uint32_t Targets::of(std::span<const Place> places, bool with_caller) noexcept {
  if (places.empty()) return kNoTarget;
  std::optional<std::uint32_t> path;
  if (with_caller) path = paths_.count(places[0], places.size() > 1 ? &places[1] : nullptr);
  switch (granularity_) {
    case Granularity::kFunction:
      return places[0].function == kNoFunction ? kNoTarget : kFirst + places[0].function;
    case Granularity::kCallpath:
      return path ? kFirst + *path : kNoTarget;
    case Granularity::kLine:
      break;
  }
  return kFirst + places[0].line;
}

std::string Targets::name_of(std::uint32_t function) const {
  const char* name = modules_.function_name(function);
  return name == nullptr ? std::string() : std::string(name);
}

TargetDescription Targets::describe_path(const CallPath& path) const {
  TargetDescription found{"callpath", modules_.location(path.place.line),
                          name_of(path.place.function)};
  found.location += " < ";
  found.location += path.caller ? modules_.location(path.caller->line) : "?";
  return found;
}

TargetDescription Targets::describe(std::uint32_t target, std::uint32_t function) const {
  if (target < kFirst) {
    if (target >= regions_.size()) return {"region", "?", ""};
    return {"region", std::string("region ") + regions_.name(target), ""};
  }
  const std::uint32_t id = target - kFirst;
  switch (granularity_) {
    case Granularity::kFunction:
      return {"function", modules_.function_location(id), name_of(id)};
    case Granularity::kCallpath:
      if (const auto path = paths_.get(id)) return describe_path(*path);
      return {"callpath", "?", ""};
    case Granularity::kLine:
      break;
  }
  return {"line", modules_.location(id), name_of(function)};
}

std::optional<std::uint32_t> Targets::find(std::string_view name, std::uint32_t from) const {
  if (const auto region = regions_.find(name)) return of_region(*region);
  if (granularity_ == Granularity::kFunction) {
    if (const auto function = modules_.find_function(name, from)) return kFirst + *function;
    return std::nullopt;
  }
  const auto line = modules_.find_line(name, from);
  if (!line || granularity_ == Granularity::kLine)
    return line ? std::optional(kFirst + *line) : line;
  // Of the paths to the line the one with most samples.
  std::optional<std::uint32_t> most;
  std::uint64_t samples = 0;
  for (std::uint32_t id = 0; id < CallPaths::kMost; ++id) {
    const auto path = paths_.get(id);
    if (path && path->place.line == *line && path->samples > samples) {
      most = kFirst + id;
      samples = path->samples;
    }
  }
  return most;
}

}  // namespace coz
