#include "progress/placed_points.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace coz {
namespace {

constexpr std::size_t kFields = 5;

// The text up to the next `mark`, which is taken off.
std::string_view take(std::string_view& text, char mark) noexcept {
  const std::string_view part = text.substr(0, text.find(mark));
  text.remove_prefix(std::min(text.size(), part.size() + 1));
  return part;
}

bool parse_kind(std::string_view text, PointKind& out) noexcept {
  if (text == "throughput") out = PointKind::kThroughput;
  if (text == "begin") out = PointKind::kBegin;
  if (text == "end") out = PointKind::kEnd;
  if (text == "arrival") out = PointKind::kArrival;
  return text == "throughput" || text == "begin" || text == "end" || text == "arrival";
}

bool parse_means(std::string_view text, CountedBy& out) noexcept {
  for (const CountedBy by :
       {CountedBy::kHardware, CountedBy::kJump, CountedBy::kBreakpoint, CountedBy::kSamples}) {
    if (text != name_of(by)) continue;
    out = by;
    return true;
  }
  return false;
}

bool parse_addresses(std::string_view text, std::vector<std::uint64_t>& out) {
  while (!text.empty()) {
    const std::string_view digits = take(text, ',');
    std::uint64_t address = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), address, 16);
    if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size()) return false;
    out.push_back(address);
  }
  return true;
}

std::optional<PlacedPoint> parse_one(std::string_view text) {
  std::array<std::string_view, kFields> fields;
  for (std::size_t i = 0; i + 1 < kFields; ++i) fields[i] = take(text, '\t');
  fields.back() = text;
  PlacedPoint point;
  if (!parse_kind(fields[0], point.kind) || !parse_means(fields[1], point.by) ||
      !parse_addresses(fields[3], point.addresses)) {
    return std::nullopt;
  }
  point.binary = fields[2];
  point.name = fields[4];
  const bool has_place = !point.binary.empty() && !point.addresses.empty();
  if (point.name.empty() || has_place == (point.by == CountedBy::kSamples)) return std::nullopt;
  return point;
}

}  // namespace

const char* name_of(CountedBy by) noexcept {
  switch (by) {
    case CountedBy::kHardware:
      return "hardware";
    case CountedBy::kJump:
      return "jump";
    case CountedBy::kBreakpoint:
      return "breakpoint";
    case CountedBy::kSamples:
      break;
  }
  return "samples";
}

std::vector<PlacedPoint> parse_placed_points(std::string_view list,
                                             std::vector<std::string>& problems) {
  std::vector<PlacedPoint> points;
  while (!list.empty()) {
    const std::string_view line = take(list, '\n');
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
