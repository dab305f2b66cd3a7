// Parsing what separators divide, numbers as text, names of enums. Plain logic; only to_hex()
// allocates.
#ifndef COMMON_TEXT_H
#define COMMON_TEXT_H

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

namespace coz {

// The text before the next `separator`, or all of it; removed from `rest` with the separator.
inline std::string_view take_part(std::string_view& rest, char separator) noexcept {
  const std::string_view part = rest.substr(0, rest.find(separator));
  rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  return part;
}

// nullopt unless the whole text is one number. `base` as std::from_chars has it.
template <typename Number, typename... Base>
std::optional<Number> parse_number(std::string_view text, Base... base) noexcept {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, number, base...);
  return error == std::errc() && parsed == end ? std::optional(number) : std::nullopt;
}

// Names of an enum's values: of all from `first` on, in their order.
template <typename Enum, std::size_t kValues>
constexpr const char* name_of(Enum value, const std::array<const char*, kValues>& names,
                              Enum first = Enum{}) noexcept {
  return names[static_cast<std::size_t>(value) - static_cast<std::size_t>(first)];
}

template <typename Enum, std::size_t kValues>
std::optional<Enum> value_named(std::string_view name,
                                const std::array<const char*, kValues>& names,
                                Enum first = Enum{}) noexcept {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(static_cast<int>(first) + (found - names.begin()));
}

inline std::string to_hex(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const std::uint8_t byte : bytes) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

}  // namespace coz

#endif  // COMMON_TEXT_H
