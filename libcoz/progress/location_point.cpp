#include "progress/location_point.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "common/text.h"

namespace coz {
namespace {

constexpr std::size_t kFields = 5;

std::optional<LocationPoint::Entry> parse_entry(std::string_view text) {
  const auto address = parse_number<std::uint64_t>(take_part(text, '='), 16);
  if (!address) return std::nullopt;
  LocationPoint::Entry entry{*address, std::nullopt};
  if (text.empty()) return entry;
  entry.plan = parse_patch_plan(text);
  return entry.plan ? std::optional(std::move(entry)) : std::nullopt;
}

bool parse_entries(std::string_view text, std::vector<LocationPoint::Entry>& out) {
  while (!text.empty()) {
    auto entry = parse_entry(take_part(text, ','));
    if (!entry) return false;
    out.push_back(*std::move(entry));
  }
  return true;
}

std::optional<LocationPoint> parse_one(std::string_view text) {
  std::array<std::string_view, kFields> fields;
  for (std::size_t i = 0; i + 1 < kFields; ++i) fields[i] = take_part(text, '\t');
  fields.back() = text;
  const auto kind = value_named(fields[0], kPointKindNames, PointKind::kThroughput);
  const auto by = value_named<CountedBy>(fields[1], kCountedByNames);
  LocationPoint point;
  if (!kind || !by || !parse_entries(fields[3], point.entries)) return std::nullopt;
  point.kind = *kind;
  point.by = *by;
  point.binary = fields[2];
  point.name = fields[4];
  const bool has_entries = !point.binary.empty() && !point.entries.empty();
  if (point.name.empty() || has_entries == (point.by == CountedBy::kSamples)) return std::nullopt;
  if (point.by == CountedBy::kBreakpoint && !point.has_plans()) return std::nullopt;
  return point;
}

}  // namespace

bool LocationPoint::has_plans() const {
  return std::all_of(entries.begin(), entries.end(),
                     [](const Entry& entry) { return entry.plan.has_value(); });
}

std::vector<LocationPoint> parse_location_points(std::string_view list,
                                                 std::vector<std::string>& problems) {
  std::vector<LocationPoint> points;
  while (!list.empty()) {
    const std::string_view line = take_part(list, '\n');
    if (line.empty()) continue;
    if (auto point = parse_one(line)) {
      points.push_back(std::move(*point));
    } else {
      problems.push_back("a progress point cannot be read and counts nothing: " +
                         std::string(line));
    }
  }
  return points;
}

}  // namespace coz
