#include "unwind/frame_description.h"

#include <dlfcn.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

namespace {

// An unwind table as linkers write it, in memory of its own: the index, a CIE, and FDEs.
class MadeTable {
 public:
  static constexpr std::int32_t kCode = 0x10000;  // of the first function, from the index

  explicit MadeTable(const char* letters = "zR", std::uint8_t version = 1) {
    bytes_.resize(kEntries);
    cie_ = begin();
    put<std::uint32_t>(0);
    put<std::uint8_t>(version);
    for (const char* letter = letters; *letter != 0; ++letter) put(*letter);
    put('\0');
    put<std::uint8_t>(1);     // unit of code
    put<std::uint8_t>(0x78);  // of data: -8
    put<std::uint8_t>(16);    // return address
    for (const char* letter = letters; *letter != 0; ++letter) augmentation(*letter);
    end(cie_);
  }

  // Of `size` bytes of code, behind `gap` bytes that belong to nobody.
  void add(std::uint32_t size, std::uint32_t gap = 0) {
    code_ += static_cast<std::int32_t>(gap);
    const std::size_t at = begin();
    put(static_cast<std::uint32_t>(bytes_.size() - cie_));
    put(code_ - static_cast<std::int32_t>(bytes_.size()));
    put(size);
    put<std::uint8_t>(0);
    end(at);
    rows_.push_back({code_, static_cast<std::int32_t>(at)});
    code_ += static_cast<std::int32_t>(size);
  }

  coz::LoadedObject object() {
    const std::uint8_t header[] = {1, 0x1b, 0x03, 0x3b};
    std::memcpy(bytes_.data(), header, sizeof header);
    const auto count = static_cast<std::uint32_t>(rows_.size());
    std::memcpy(bytes_.data() + 8, &count, sizeof count);
    if (count != 0) std::memcpy(bytes_.data() + 12, rows_.data(), count * sizeof rows_[0]);
    const auto begin = reinterpret_cast<std::uintptr_t>(bytes_.data());
    return {begin, begin + bytes_.size(), begin};
  }
  std::uintptr_t code(std::uint32_t offset) {
    return object().begin + static_cast<std::uintptr_t>(kCode) + offset;
  }
  std::vector<std::uint8_t>& bytes() { return bytes_; }

  static constexpr std::size_t kEntries = 256;  // where those begin

 private:
  struct Row {
    std::int32_t begin;
    std::int32_t entry;
  };

  template <typename Number>
  void put(Number number) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof number);
    std::memcpy(bytes_.data() + at, &number, sizeof number);
  }
  void augmentation(char letter) {
    switch (letter) {
      case 'z':
        put<std::uint8_t>(7);
        break;
      case 'R':
        put<std::uint8_t>(0x1b);
        break;
      case 'L':
        put<std::uint8_t>(0x1b);
        break;
      case 'P':
        put<std::uint8_t>(0x9b);
        put<std::uint32_t>(77);
        break;
      default:
        break;
    }
  }
  std::size_t begin() {
    put<std::uint32_t>(0);
    return bytes_.size() - 4;
  }
  // As long as the augmentation says at least, and in fours.
  void end(std::size_t at) {
    bytes_.resize((bytes_.size() + 8 + 3) / 4 * 4);
    const auto size = static_cast<std::uint32_t>(bytes_.size() - at - 4);
    std::memcpy(bytes_.data() + at, &size, sizeof size);
  }

  std::vector<std::uint8_t> bytes_;
  std::vector<Row> rows_;
  std::size_t cie_ = 0;
  std::int32_t code_ = kCode;
};

bool is_found(MadeTable& table, std::uint32_t offset, coz::FrameDescription& out) {
  return coz::find_frame_description(table.object(), table.code(offset), out);
}

}  // namespace

TEST_CASE("the entry for an address, and none between functions", "[unwind]") {
  MadeTable table;
  table.add(16);
  table.add(100, 16);
  table.add(1, 0);
  coz::FrameDescription found;
  for (const std::uint32_t offset : {0U, 15U}) {
    REQUIRE(is_found(table, offset, found));
    CHECK(found.begin == table.code(0));
    CHECK(found.end == table.code(16));
  }
  CHECK_FALSE(is_found(table, 16, found));
  CHECK_FALSE(is_found(table, 31, found));
  for (const std::uint32_t offset : {32U, 131U}) {
    REQUIRE(is_found(table, offset, found));
    CHECK(found.begin == table.code(32));
  }
  REQUIRE(is_found(table, 132, found));
  CHECK_FALSE(is_found(table, 133, found));
  CHECK_FALSE(coz::find_frame_description(table.object(), table.code(0) - 1, found));
  CHECK(found.code_unit == 1);
  CHECK(found.data_unit == -8);
  CHECK(found.return_register == 16);
  CHECK_FALSE(found.is_signal_frame);
}

TEST_CASE("what compilers say of a frame", "[unwind]") {
  coz::FrameDescription found;
  for (const char* letters : {"zR", "zPLR", "zLPR", "zRS", "zRB"}) {
    for (const int version : {1, 3}) {
      CAPTURE(letters, version);
      MadeTable table(letters, static_cast<std::uint8_t>(version));
      table.add(16);
      REQUIRE(is_found(table, 3, found));
      CHECK(found.begin == table.code(0));
      CHECK(found.is_signal_frame == (std::strchr(letters, 'S') != nullptr));
    }
  }
  for (const char* letters : {"zRx", "eh", "zRRRRRRR"}) {
    CAPTURE(letters);
    MadeTable table(letters);
    table.add(16);
    CHECK_FALSE(is_found(table, 3, found));
  }
  MadeTable later("zR", 5);
  later.add(16);
  CHECK_FALSE(is_found(later, 3, found));
}

TEST_CASE("an object without an index, or with another, has no entries", "[unwind]") {
  MadeTable table;
  coz::FrameDescription found;
  CHECK_FALSE(is_found(table, 0, found));  // no rows
  table.add(16);
  coz::LoadedObject object = table.object();
  object.unwind = 0;
  CHECK_FALSE(coz::find_frame_description(object, table.code(0), found));
  object = table.object();
  object.end = object.begin + 16;  // cut within the rows
  CHECK_FALSE(coz::find_frame_description(object, table.code(0), found));
  object = table.object();
  const std::uintptr_t code = table.code(0);
  CHECK(coz::find_frame_description(object, code, found));
  table.bytes()[3] = 0x1b;
  CHECK_FALSE(coz::find_frame_description(object, code, found));
}

TEST_CASE("tables cut anywhere are read to where they end", "[unwind]") {
  MadeTable table("zPLR");
  table.add(16);
  table.add(16);
  const coz::LoadedObject whole = table.object();
  for (std::size_t size = 0; size < table.bytes().size(); ++size) {
    // Of exactly that size, for the sanitizers.
    const std::vector<std::uint8_t> cut(table.bytes().begin(),
                                        table.bytes().begin() + static_cast<std::ptrdiff_t>(size));
    const auto begin = reinterpret_cast<std::uintptr_t>(cut.data());
    coz::FrameDescription found;
    CHECK_FALSE(coz::find_frame_description({begin, begin + size, begin},
                                            begin + (table.code(20) - whole.begin), found));
  }
}

TEST_CASE("functions of libraries have entries", "[unwind]") {
  const auto address =
      reinterpret_cast<std::uintptr_t>(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"));
  coz::LoadedObject object;
  REQUIRE(coz::find_loaded_object(address, object));
  coz::FrameDescription found;
  REQUIRE(coz::find_frame_description(object, address, found));
  CHECK(found.begin == address);
}
