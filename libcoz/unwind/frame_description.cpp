#include "unwind/frame_description.h"

#include <array>
#include <cstring>

namespace coz {
namespace {

// DW_EH_PE_datarel | DW_EH_PE_sdata4: what linkers write.
constexpr std::uint8_t kSortedTable = 0x3b;
constexpr std::uint8_t kOmitted = 0xff;  // DW_EH_PE_omit

struct IndexRow {
  std::int32_t begin;  // both relative to the index
  std::int32_t entry;
};

TableBytes bytes_from(std::uintptr_t begin, std::uintptr_t end) noexcept {
  if (begin >= end) return {};
  return {reinterpret_cast<const std::uint8_t*>(begin), end - begin};
}

// What follows the length of an entry; empty at the end of the table, or if it is none.
TableBytes body_at(std::uintptr_t entry, std::uintptr_t begin, std::uintptr_t end) noexcept {
  if (entry < begin) return {};
  TableCursor cursor(bytes_from(entry, end));
  return cursor.take_bytes(cursor.take_length());
}

// False if it has something unknown.
bool read_augmentation(TableCursor cursor, const char* letters, FrameDescription& out) noexcept {
  for (; *letters != 0; ++letters) {
    switch (*letters) {
      case 'R':
        out.encoding = cursor.take<std::uint8_t>();
        break;
      case 'L':
        cursor.skip(1);
        break;
      case 'P': {
        const auto encoding = cursor.take<std::uint8_t>();
        // Only its length matters, not what it points to.
        static_cast<void>(cursor.take_pointer(encoding & 0x0f));
        break;
      }
      case 'S':
        out.is_signal_frame = true;
        break;
      case 'B':  // return addresses are signed with the other key
      case 'G':  // memory is tagged
        break;
      default:
        return false;
    }
  }
  return cursor.is_good();
}

// What several functions have in common (a CIE).
bool read_common(TableBytes body, bool& has_augmentation, FrameDescription& out) noexcept {
  TableCursor cursor(body);
  if (cursor.take<std::uint32_t>() != 0) return false;
  const auto version = cursor.take<std::uint8_t>();
  if (version != 1 && version != 3) return false;
  std::array<char, 8> letters{};
  for (char& letter : letters) {
    letter = static_cast<char>(cursor.take<std::uint8_t>());
    if (letter == 0) break;
  }
  if (letters.back() != 0) return false;
  out.code_unit = cursor.take_unsigned();
  out.data_unit = cursor.take_signed();
  out.return_register = version == 1 ? cursor.take<std::uint8_t>() : cursor.take_unsigned();
  has_augmentation = letters[0] == 'z';
  if (has_augmentation) {
    const TableCursor augmentation(cursor.take_bytes(cursor.take_unsigned()));
    if (!read_augmentation(augmentation, letters.data() + 1, out)) return false;
  } else if (letters[0] != 0) {
    return false;
  }
  if (!cursor.is_good()) return false;
  out.common_program = bytes_from(cursor.address(), cursor.address() + cursor.left());
  return true;
}

}  // namespace

bool read_frame_description(TableBytes body, std::uintptr_t table_begin,
                            FrameDescription& out) noexcept {
  TableCursor cursor(body);
  const std::uintptr_t here = cursor.address();
  const auto back = cursor.take<std::uint32_t>();
  if (!cursor.is_good() || back == 0 || back > here) return false;
  out = {};
  bool has_augmentation = false;
  const TableBytes common = body_at(here - back, table_begin, here + body.size());
  if (!read_common(common, has_augmentation, out)) return false;
  out.begin = cursor.take_pointer(out.encoding);
  out.end = out.begin + cursor.take_pointer(out.encoding & 0x0f);
  if (has_augmentation) cursor.skip(cursor.take_unsigned());
  if (!cursor.is_good()) return false;
  out.program = bytes_from(cursor.address(), cursor.address() + cursor.left());
  return true;
}

bool find_frame_description(const LoadedObject& object, std::uintptr_t address,
                            FrameDescription& out) noexcept {
  if (object.unwind < object.begin || object.unwind >= object.end) return false;
  TableCursor cursor(bytes_from(object.unwind, object.end));
  const auto version = cursor.take<std::uint8_t>();
  const auto table_encoding = cursor.take<std::uint8_t>();
  const auto count_encoding = cursor.take<std::uint8_t>();
  const auto rows_encoding = cursor.take<std::uint8_t>();
  if (version != 1 || count_encoding == kOmitted || rows_encoding != kSortedTable) return false;
  static_cast<void>(cursor.take_pointer(table_encoding, object.unwind));
  const std::uintptr_t count = cursor.take_pointer(count_encoding, object.unwind);
  const TableBytes bytes = cursor.take_bytes(count * sizeof(IndexRow));
  if (bytes.empty() || count > bytes.size()) return false;
  const auto row_at = [&](std::size_t row) noexcept {
    IndexRow read{};
    std::memcpy(&read, bytes.data() + row * sizeof read, sizeof read);
    return read;
  };
  const auto wanted = static_cast<std::int64_t>(address - object.unwind);
  std::size_t low = 0;
  std::size_t high = count;  // the first row that begins after the address is in [low, high]
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (row_at(middle).begin <= wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return false;
  const std::uintptr_t entry =
      object.unwind + static_cast<std::uintptr_t>(std::int64_t{row_at(low - 1).entry});
  return read_frame_description(body_at(entry, object.begin, object.end), object.begin, out) &&
         address >= out.begin && address < out.end;
}

}  // namespace coz
