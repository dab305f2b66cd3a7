#include "experiment/line_selector.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace coz {
namespace {

// Draws ahead for which a line's share is owed to it: with fewer the order would hardly be random.
constexpr double kAhead = 2;
// A line that has had its share, or more, keeps this part of its chance.
constexpr double kLeast = 0.05;

}  // namespace

std::optional<std::uint32_t> LineSelector::draw(std::span<const LineSamples> lines,
                                                Random& random) {
  double all = 0;
  for (const LineSamples& line : lines) all += static_cast<double>(line.samples);
  if (all <= 0) return std::nullopt;

  std::vector<double> up_to;
  up_to.reserve(lines.size());
  double sum = 0;
  for (const LineSamples& line : lines) up_to.push_back(sum += chance(line, all));
  const auto found = std::upper_bound(up_to.begin(), up_to.end(), random.fraction() * sum);
  const auto index =
      std::min<std::size_t>(static_cast<std::size_t>(found - up_to.begin()), lines.size() - 1);
  ++drawn_[lines[index].line];
  ++draws_;
  return lines[index].line;
}

double LineSelector::chance(const LineSamples& line, double all) const {
  // What the line has for certain: at first most lines have a single sample, or none.
  const auto samples = static_cast<double>(line.samples);
  double share = std::max(samples - std::sqrt(samples), 0.1 * samples) / all;
  share = share >= kFloorFrom ? std::max(share, kFloor) : share * share / kFloorFrom;
  const auto drawn = drawn_.find(line.line);
  const double had = drawn == drawn_.end() ? 0 : static_cast<double>(drawn->second);
  const double lacks = share * (static_cast<double>(draws_) + kAhead) - had;
  // A line that turns up late is owed much, but must not keep the others waiting until it is paid.
  return std::clamp(lacks, kLeast * share, kAhead);
}

}  // namespace coz
