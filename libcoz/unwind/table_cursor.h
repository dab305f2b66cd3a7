// Takes the parts of an unwind table one after the other: numbers of DWARF (section 7.6) and
// encoded pointers (Linux Standard Base 5.0, section 10.5).
//
// It never leaves the bytes it was given: what lies outside is taken as 0, and is_good() is false
// from then on. Signal-safe.
#ifndef LIBCOZ_UNWIND_TABLE_CURSOR_H
#define LIBCOZ_UNWIND_TABLE_CURSOR_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace coz {

using TableBytes = std::span<const std::uint8_t>;

class TableCursor {
 public:
  explicit TableCursor(TableBytes bytes) noexcept : bytes_(bytes) {}

  bool is_good() const noexcept { return good_; }
  bool at_end() const noexcept { return !good_ || at_ == bytes_.size(); }
  std::size_t left() const noexcept { return bytes_.size() - at_; }
  std::uintptr_t address() const noexcept {
    return reinterpret_cast<std::uintptr_t>(bytes_.data()) + at_;
  }

  template <typename Number>
  Number take() noexcept {
    Number number = 0;
    const TableBytes from = take_bytes(sizeof number);
    if (!from.empty()) std::memcpy(&number, from.data(), sizeof number);
    return number;
  }

  std::uint64_t take_unsigned() noexcept {
    unsigned shift = 0;
    return take_groups(shift);
  }

  std::int64_t take_signed() noexcept {
    unsigned shift = 0;
    std::uint64_t number = take_groups(shift);
    if (shift < 64 && (number >> (shift - 1) & 1) != 0) number |= ~std::uint64_t{0} << shift;
    return static_cast<std::int64_t>(number);
  }

  // How many bytes follow, in front of an entry: 32 bits, or 64 behind a mark.
  std::uint64_t take_length() noexcept {
    const auto length = take<std::uint32_t>();
    return length == 0xffffffff ? take<std::uint64_t>() : length;
  }

  TableBytes take_bytes(std::uint64_t size) noexcept {
    if (!good_ || size > left()) {
      good_ = false;
      return {};
    }
    const TableBytes taken = bytes_.subspan(at_, static_cast<std::size_t>(size));
    at_ += taken.size();
    return taken;
  }

  void skip(std::uint64_t size) noexcept { static_cast<void>(take_bytes(size)); }

  // `data`: the base of addresses that are relative to the data. An encoding that unwind tables do
  // not have makes the cursor bad.
  std::uintptr_t take_pointer(std::uint8_t encoding, std::uintptr_t data = 0) noexcept {
    const std::uintptr_t here = address();
    const auto value = static_cast<std::uintptr_t>(take_encoded(encoding & 0x0f));
    switch (encoding & 0x70) {
      case 0x00:
        return value;
      case 0x10:
        return value + here;
      case 0x30:
        return value + data;
      default:
        good_ = false;
        return 0;
    }
  }

 private:
  std::uint64_t take_groups(unsigned& shift) noexcept {
    std::uint64_t number = 0;
    std::uint8_t group = 0;
    do {
      group = take<std::uint8_t>();
      if (shift < 64) number |= std::uint64_t{group & 0x7fU} << shift;
      shift += 7;
    } while (good_ && (group & 0x80) != 0);
    return number;
  }

  std::int64_t take_encoded(std::uint8_t format) noexcept {
    switch (format) {
      case 0x00:
      case 0x04:
      case 0x0c:
        return take<std::int64_t>();
      case 0x01:
        return static_cast<std::int64_t>(take_unsigned());
      case 0x02:
        return take<std::uint16_t>();
      case 0x03:
        return take<std::uint32_t>();
      case 0x09:
        return take_signed();
      case 0x0a:
        return take<std::int16_t>();
      case 0x0b:
        return take<std::int32_t>();
      default:
        good_ = false;
        return 0;
    }
  }

  TableBytes bytes_;
  std::size_t at_ = 0;
  bool good_ = true;
};

}  // namespace coz

#endif  // LIBCOZ_UNWIND_TABLE_CURSOR_H
