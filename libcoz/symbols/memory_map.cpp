#include "symbols/memory_map.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace coz {
namespace {

constexpr std::string_view kDeleted = " (deleted)";

// "7f00-7f10 r-xp 00000000 08:01 1234    /path".
std::optional<Mapping> parse_line(std::string_view line) {
  Mapping mapping;
  const char* end = line.data() + line.size();
  const auto begin_parsed =
      std::from_chars(line.data(), line.data() + line.size(), mapping.begin, 16);
  if (begin_parsed.ec != std::errc() || begin_parsed.ptr == end || *begin_parsed.ptr != '-') {
    return std::nullopt;
  }
  const auto end_parsed = std::from_chars(begin_parsed.ptr + 1, end, mapping.end, 16);
  if (end_parsed.ec != std::errc()) return std::nullopt;
  // No field before the path has a slash.
  const std::size_t slash = line.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  mapping.path = line.substr(slash);
  if (mapping.path.ends_with(kDeleted)) mapping.path.remove_suffix(kDeleted.size());
  return mapping;
}

}  // namespace

std::vector<Mapping> parse_memory_map(std::string_view text) {
  std::vector<Mapping> mappings;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (const auto mapping = parse_line(line)) mappings.push_back(*mapping);
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
