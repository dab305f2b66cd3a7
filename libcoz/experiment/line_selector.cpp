#include "experiment/line_selector.h"

#include <algorithm>
#include <vector>

namespace coz {

std::optional<std::uint32_t> draw_line(std::span<const LineSamples> lines, Random& random) {
  double all = 0;
  for (const LineSamples& line : lines) all += static_cast<double>(line.samples);
  if (all <= 0) return std::nullopt;

  std::vector<double> up_to;
  up_to.reserve(lines.size());
  double sum = 0;
  for (const LineSamples& line : lines) {
    const double share = static_cast<double>(line.samples) / all;
    sum += share >= kFloorFrom ? std::max(share, kFloor) : share;
    up_to.push_back(sum);
  }
  const auto drawn = std::upper_bound(up_to.begin(), up_to.end(), random.fraction() * sum);
  const auto index =
      std::min<std::size_t>(static_cast<std::size_t>(drawn - up_to.begin()), lines.size() - 1);
  return lines[index].line;
}

}  // namespace coz
