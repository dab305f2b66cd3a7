#include "symbols/memory_map.h"

#include <algorithm>
#include <optional>

#include "common/text.h"

namespace coz {
namespace {

constexpr std::string_view kDeleted = " (deleted)";

// "7f00-7f10 r-xp 00000000 08:01 1234    /path".
std::optional<Mapping> parse_line(std::string_view line) {
  // No field before the path has a slash.
  const std::size_t slash = line.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  Mapping mapping{0, 0, line.substr(slash)};
  const auto begin = parse_number<std::uintptr_t>(take_part(line, '-'), 16);
  const auto end = parse_number<std::uintptr_t>(take_part(line, ' '), 16);
  if (!begin || !end) return std::nullopt;
  mapping.begin = *begin;
  mapping.end = *end;
  if (mapping.path.ends_with(kDeleted)) mapping.path.remove_suffix(kDeleted.size());
  return mapping;
}

}  // namespace

std::vector<Mapping> parse_memory_map(std::string_view text) {
  std::vector<Mapping> mappings;
  while (!text.empty()) {
    if (const auto mapping = parse_line(take_part(text, '\n'))) mappings.push_back(*mapping);
  }
  return mappings;
}

std::string_view file_at(const std::vector<Mapping>& mappings, std::uintptr_t address) {
  const auto next = std::upper_bound(
      mappings.begin(), mappings.end(), address,
      [](std::uintptr_t at, const Mapping& mapping) { return at < mapping.begin; });
  if (next == mappings.begin() || address >= (next - 1)->end) return {};
  return (next - 1)->path;
}

}  // namespace coz
