// A writer of JSON, just large enough for what coz-linetable prints.
#ifndef LINETABLE_JSON_H
#define LINETABLE_JSON_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace coz::linetable {

// The length of the well-formed UTF-8 sequence that `text` begins with; 0 if it does not.
[[nodiscard]] inline std::size_t utf8_length(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto continues = [&](std::size_t i, unsigned char low, unsigned char high) {
    return i < text.size() && byte(i) >= low && byte(i) <= high;
  };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return continues(1, 0x80, 0xbf) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    // Neither longer than needed (E0) nor a surrogate (ED).
    const unsigned char low = lead == 0xe0 ? 0xa0 : 0x80;
    const unsigned char high = lead == 0xed ? 0x9f : 0xbf;
    return continues(1, low, high) && continues(2, 0x80, 0xbf) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    // Neither longer than needed (F0) nor beyond U+10FFFF (F4).
    const unsigned char low = lead == 0xf0 ? 0x90 : 0x80;
    const unsigned char high = lead == 0xf4 ? 0x8f : 0xbf;
    return continues(1, low, high) && continues(2, 0x80, 0xbf) && continues(3, 0x80, 0xbf) ? 4 : 0;
  }
  return 0;
}

class JsonWriter {
 public:
  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }

  JsonWriter& key(std::string_view name) {
    string(name);
    text_ += ": ";
    first_ = true;
    return *this;
  }

  JsonWriter& number(std::uint64_t value) { return raw(std::to_string(value)); }
  JsonWriter& boolean(bool value) { return raw(value ? "true" : "false"); }
  JsonWriter& null() { return raw("null"); }

  // Paths and names may hold any bytes; what is not UTF-8 becomes U+FFFD.
  JsonWriter& string(std::string_view value) {
    separate();
    text_.push_back('"');
    while (!value.empty()) {
      const std::size_t length = utf8_length(value);
      if (length == 0) {
        text_ += "\xef\xbf\xbd";
      } else if (length == 1) {
        escape(value.front());
      } else {
        text_.append(value.substr(0, length));
      }
      value.remove_prefix(length == 0 ? 1 : length);
    }
    text_.push_back('"');
    return *this;
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  JsonWriter& open(char bracket) {
    separate();
    text_.push_back(bracket);
    first_ = true;
    return *this;
  }

  JsonWriter& close(char bracket) {
    text_.push_back(bracket);
    first_ = false;
    return *this;
  }

  JsonWriter& raw(std::string_view value) {
    separate();
    text_.append(value);
    return *this;
  }

  void separate() {
    if (!first_) text_ += ", ";
    first_ = false;
  }

  void escape(char character) {
    constexpr char kDigits[] = "0123456789abcdef";
    const auto code = static_cast<unsigned char>(character);
    if (character == '"' || character == '\\') {
      text_.push_back('\\');
      text_.push_back(character);
    } else if (code < 0x20 || code == 0x7f) {
      text_ += "\\u00";
      text_.push_back(kDigits[code >> 4]);
      text_.push_back(kDigits[code & 15]);
    } else {
      text_.push_back(character);
    }
  }

  std::string text_;
  bool first_ = true;  // nothing stands before the next value in its container
};

}  // namespace coz::linetable

#endif  // LINETABLE_JSON_H
