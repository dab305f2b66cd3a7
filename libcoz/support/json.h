// Writes one JSON object, a field at a time, into a string. Allocates.
//
// Text that is not valid UTF-8 (a path may hold any bytes) has each offending byte replaced by
// U+FFFD, so that every reader accepts the line.
#ifndef LIBCOZ_SUPPORT_JSON_H
#define LIBCOZ_SUPPORT_JSON_H

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace coz {

class JsonWriter {
 public:
  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }

  JsonWriter& key(std::string_view name);
  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }
  void value(bool truth);
  void value(double number);  // finite
  void value(std::integral auto number) {
    separate();
    text_ += std::to_string(number);
  }

  template <typename Value>
  void field(std::string_view name, const Value& v) {
    key(name).value(v);
  }

  const std::string& text() const noexcept { return text_; }

 private:
  void open(char bracket);
  void close(char bracket);
  void separate();
  void quote(std::string_view text);

  std::string text_;
  bool first_ = true;  // nothing stands in the innermost bracket yet
  bool after_key_ = false;
};

}  // namespace coz

#endif  // LIBCOZ_SUPPORT_JSON_H
