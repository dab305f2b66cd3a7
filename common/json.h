// Writes one JSON object, a field at a time, into a string. Allocates.
//
// Text that is not valid UTF-8 (a path may hold any bytes) has each offending byte replaced by
// U+FFFD, so that every reader accepts the line.
#ifndef COMMON_JSON_H
#define COMMON_JSON_H

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace coz {

class JsonWriter {
 public:
  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }

  JsonWriter& key(std::string_view name);
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(bool truth) { return raw(truth ? "true" : "false"); }
  JsonWriter& value(double number);  // finite
  JsonWriter& value(std::integral auto number) { return raw(std::to_string(number)); }

  template <typename Value>
  JsonWriter& field(std::string_view name, const Value& v) {
    return key(name).value(v);
  }

  const std::string& text() const noexcept { return text_; }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  JsonWriter& raw(std::string_view text);
  void separate();
  void quote(std::string_view text);

  std::string text_;
  bool first_ = true;  // nothing stands in the innermost bracket yet
  bool after_key_ = false;
};

}  // namespace coz

#endif  // COMMON_JSON_H
