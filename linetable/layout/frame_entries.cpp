#include "linetable/layout/frame_entries.h"

#include <dwarf.h>

#include <unordered_map>

#include "unwind/table_cursor.h"

namespace coz::linetable {
namespace {

constexpr const char* kDamaged = "its unwind table is damaged";
constexpr const char* kUnusual = "its unwind table has an encoding that compilers do not use";
constexpr std::uint8_t kRelation = 0x70;
constexpr std::uint8_t kForm = 0x0f;

// Bytes of a pointer; 0 for one whose size is not fixed.
std::uint16_t width_of(std::uint8_t encoding) {
  switch (encoding & kForm) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
      return 8;
    case DW_EH_PE_udata4:
    case DW_EH_PE_sdata4:
      return 4;
    default:
      return 0;
  }
}

bool is_relative(std::uint8_t encoding) { return (encoding & kRelation) == DW_EH_PE_pcrel; }

struct Encodings {
  std::uint8_t code = DW_EH_PE_absptr;
  std::uint8_t language = DW_EH_PE_omit;
  bool has_augmentation = false;
};

class Reader {
 public:
  Reader(std::span<const std::uint8_t> bytes, std::uint32_t address, FrameTable& out)
      : bytes_(bytes), address_(address), out_(out) {}

  const char* read() {
    TableCursor cursor(bytes_);
    while (!cursor.at_end()) {
      const auto begin = offset_of(cursor);
      const std::uint64_t length = cursor.take_length();
      const TableBytes body = cursor.take_bytes(length);
      if (!cursor.is_good()) return kDamaged;
      if (length == 0) break;  // the end that the linker adds
      if (offset_of(cursor) - begin != length + 4 || length < 4) return kUnusual;
      TableCursor inside(body);
      const auto back = inside.take<std::uint32_t>();
      const Extent whole{begin, begin + static_cast<std::uint32_t>(length) + 4};
      const char* problem =
          back == 0 ? read_common(inside, whole) : read_entry(inside, whole, begin + 4 - back);
      if (problem != nullptr) return problem;
    }
    return nullptr;
  }

 private:
  std::uint32_t offset_of(const TableCursor& cursor) const {
    return static_cast<std::uint32_t>(cursor.address() -
                                      reinterpret_cast<std::uintptr_t>(bytes_.data()));
  }

  const char* read_common(TableCursor cursor, Extent whole) {
    LayoutCommon common{whole.begin, whole.size(), 0, 0};
    Encodings encodings;
    const auto version = cursor.take<std::uint8_t>();
    std::string letters;
    while (const auto letter = cursor.take<char>()) letters += letter;
    cursor.take_unsigned();  // code and data units, register of the return address
    cursor.take_signed();
    version == 1 ? cursor.skip(1) : static_cast<void>(cursor.take_unsigned());
    if (version != 1 && version != 3) return kUnusual;
    if (!letters.empty() && letters[0] != 'z') return kUnusual;
    encodings.has_augmentation = !letters.empty();
    if (encodings.has_augmentation) cursor.take_unsigned();
    for (const char letter : letters) {
      if (letter == 'R') encodings.code = cursor.take<std::uint8_t>();
      if (letter == 'L') encodings.language = cursor.take<std::uint8_t>();
      if (letter == 'P' && !read_personality(cursor, common)) return kUnusual;
      if (std::string_view("zRLPSB").find(letter) == std::string_view::npos) return kUnusual;
    }
    if (!cursor.is_good()) return kDamaged;
    indices_[whole.begin] = out_.commons.size();
    out_.commons.push_back(common);
    encodings_.push_back(encodings);
    return nullptr;
  }

  bool read_personality(TableCursor& cursor, LayoutCommon& common) const {
    const auto encoding = cursor.take<std::uint8_t>();
    const std::uint32_t offset = offset_of(cursor) - common.offset;
    const std::uint16_t width = width_of(encoding);
    if (width == 0) return false;
    if (is_relative(encoding)) {
      common.pointer_offset = static_cast<std::uint16_t>(offset);
      common.pointer_width = width;
    } else if ((encoding & kRelation) != 0) {
      return false;
    }
    cursor.skip(width);
    return true;
  }

  const char* read_entry(TableCursor cursor, Extent whole, std::uint32_t common_offset) {
    const auto found = indices_.find(common_offset);
    if (found == indices_.end()) return kDamaged;
    const Encodings& encodings = encodings_[found->second];
    const std::uint16_t width = width_of(encodings.code);
    if (!is_relative(encodings.code) || width == 0) return kUnusual;
    FrameEntry entry;
    entry.offset = whole.begin;
    entry.size = whole.size();
    entry.common = static_cast<std::uint32_t>(found->second);
    entry.begin_width = width;
    const std::uint64_t here = address_ + offset_of(cursor);
    const std::uint64_t begin = here + take(cursor, width);
    const std::uint64_t size = take(cursor, width);
    if (encodings.has_augmentation) {
      const std::uint64_t language_size = cursor.take_unsigned();
      if (encodings.language != DW_EH_PE_omit && language_size != 0) {
        if (const char* problem = read_language(cursor, encodings.language, entry)) return problem;
      }
    }
    if (!cursor.is_good()) return kDamaged;
    // Functions that the linker removed leave entries with addresses outside.
    if (begin > UINT32_MAX || size > UINT32_MAX - begin || size == 0) return nullptr;
    entry.code = {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(begin + size)};
    out_.entries.push_back(entry);
    return nullptr;
  }

  const char* read_language(TableCursor& cursor, std::uint8_t encoding, FrameEntry& entry) const {
    const std::uint32_t offset = offset_of(cursor) - entry.offset;
    const std::uint16_t width = width_of(encoding);
    if (width == 0) return kUnusual;
    const std::uint64_t value = take(cursor, width);
    if (!is_relative(encoding) && (encoding & kRelation) != 0) return kUnusual;
    entry.has_handlers = value != 0;  // none, whatever it is relative to
    if (!is_relative(encoding) || value == 0) return nullptr;
    entry.pointer_offset = static_cast<std::uint16_t>(offset);
    entry.pointer_width = width;
    return nullptr;
  }

  // Narrow numbers are taken as signed.
  static std::uint64_t take(TableCursor& cursor, std::uint16_t width) {
    if (width == 8) return cursor.take<std::uint64_t>();
    return static_cast<std::uint64_t>(std::int64_t{cursor.take<std::int32_t>()});
  }

  std::span<const std::uint8_t> bytes_;
  std::uint32_t address_;
  FrameTable& out_;
  std::unordered_map<std::uint32_t, std::size_t> indices_;  // of commons, by their offsets
  std::vector<Encodings> encodings_;
};

}  // namespace

const char* read_frame_entries(std::span<const std::uint8_t> bytes, std::uint32_t address,
                               FrameTable& out) {
  out.address = address;
  out.size = static_cast<std::uint32_t>(bytes.size());
  return Reader(bytes, address, out).read();
}

}  // namespace coz::linetable
