#include "libheap/settings.h"

#include "common/text.h"

namespace coz::heap {
namespace {

bool parse_mode(std::string_view text, Settings& settings) noexcept {
  constexpr std::string_view kCounted = "shuffle:";
  if (text == "offset") return settings.offset = true;
  if (text == "zero") return settings.zero = true;
  if (text == "shuffle") {
    settings.shuffle = kShuffle;
    return true;
  }
  if (!text.starts_with(kCounted)) return false;
  const auto number = parse_number<std::uint32_t>(text.substr(kCounted.size()));
  if (!number || *number < 2 || *number > kMaxShuffle) return false;
  settings.shuffle = *number;
  return true;
}

}  // namespace

bool parse_heap(std::string_view text, Settings& settings) noexcept {
  for (;;) {
    const std::size_t comma = text.find(',');
    if (!parse_mode(text.substr(0, comma), settings)) return false;
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
}

bool parse_seed(std::string_view text, std::uint64_t& seed) noexcept {
  const auto number = parse_number<std::uint64_t>(text);
  if (number) seed = *number;
  return number.has_value();
}

}  // namespace coz::heap
