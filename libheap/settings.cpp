#include "libheap/settings.h"

#include <charconv>

namespace coz::heap {
namespace {

template <typename Number>
bool parse_number(std::string_view text, Number& number) noexcept {
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  return parsed.ec == std::errc{} && parsed.ptr == end;
}

bool parse_mode(std::string_view text, Settings& settings) noexcept {
  constexpr std::string_view kCounted = "shuffle:";
  if (text == "offset") return settings.offset = true;
  if (text == "zero") return settings.zero = true;
  if (text == "shuffle") {
    settings.shuffle = kShuffle;
    return true;
  }
  return text.starts_with(kCounted) &&
         parse_number(text.substr(kCounted.size()), settings.shuffle) && settings.shuffle >= 2 &&
         settings.shuffle <= kMaxShuffle;
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
  return parse_number(text, seed);
}

}  // namespace coz::heap
