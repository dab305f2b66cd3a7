#include "common/line_table.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "common/fnv1a.h"
#include "tests/linetable/innermost_in_scope.h"
#include "tests/linetable/sample_table.h"
#include "tests/linetable/temporary_folder.h"

using coz::LineTable;
using coz::LineTableHeader;
using coz::SourceScope;

namespace {

const char* open_bytes(const std::string& bytes, LineTable& out) {
  const TemporaryFolder folder;
  write_whole(folder / "table", bytes);
  return LineTable::open((folder / "table").c_str(), out);
}

// Asks everything that can be asked; under a sanitizer, any step outside the mapping shows.
std::size_t ask_everything(const LineTable& table) {
  std::size_t seen = 0;
  const std::vector<std::uint8_t> all(table.file_count(), 1);
  for (std::uint64_t address = 0; address < 0x80; ++address) {
    seen += table.find_chain(address).size();
    if (const char* name = table.find_object(address).name) seen += std::strlen(name);
    if (const auto found = innermost_in_scope(table, address, all)) {
      seen += table.line(found->line_id).has_value() ? 1 : 0;
      const char* name = table.function_name(found->function_id);
      seen += name == nullptr ? 0 : std::strlen(name);
    }
  }
  seen += table.find_chain(UINT64_MAX).size();
  for (std::uint32_t id = 0; id < table.line_count(); ++id) {
    const char* path = table.file_path(table.line(id)->file);
    seen += path == nullptr ? 0 : std::strlen(path);
  }
  seen += table.files_in_scope(SourceScope()).size();
  seen += table.find_line("a.c", 10).has_value() ? 1 : 0;
  return seen;
}

void seal(std::string& bytes) {
  LineTableHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  header.file_size = bytes.size();
  header.header_checksum = coz::fnv1a(&header, offsetof(LineTableHeader, header_checksum));
  std::memcpy(bytes.data(), &header, sizeof(header));
}

}  // namespace

TEST_CASE("a table answers what it was built from", "[line_table]") {
  LineTable table;
  REQUIRE(open_bytes(sample_table(), table) == nullptr);
  CHECK(table.base_address() == kSampleBase);
  CHECK(std::equal(table.build_id().begin(), table.build_id().end(), kSampleBuildId.begin(),
                   kSampleBuildId.end()));
  const auto chain = table.find_chain(0x2f);
  REQUIRE(chain.size() == 2);
  CHECK(std::string(table.function_name(chain[0].function)) == "inner");
  CHECK(std::string(table.function_name(chain[1].function)) == "outer");
  CHECK(table.line(chain[1].line)->line == 11);
  CHECK(table.find_chain(0x0f).empty());
  CHECK(table.find_chain(0x40).empty());
  CHECK(table.find_chain(0x60).empty());
  CHECK(table.find_chain(0x100000000ULL + 0x10).empty());
  CHECK(table.function_name(coz::kNoFunction) == nullptr);
}

TEST_CASE("the innermost frame in scope is found", "[line_table]") {
  LineTable table;
  REQUIRE(open_bytes(sample_table(), table) == nullptr);
  const auto by_default = table.files_in_scope(SourceScope());
  auto found = innermost_in_scope(table, 0x20, by_default);
  REQUIRE(found);
  CHECK(table.line(found->line_id)->line == 5);
  CHECK_FALSE(innermost_in_scope(table, 0x50, by_default));

  const auto only_a = table.files_in_scope(SourceScope("a.c"));
  found = innermost_in_scope(table, 0x20, only_a);
  REQUIRE(found);
  CHECK(table.line(found->line_id)->line == 11);
  CHECK(std::string(table.function_name(found->function_id)) == "outer");
  CHECK_FALSE(innermost_in_scope(table, 0x20, {}));
}

TEST_CASE("lines are found by the ends of their paths", "[line_table]") {
  LineTable table;
  REQUIRE(open_bytes(sample_table(), table) == nullptr);
  CHECK(table.find_line("/src/a.c", 10));
  CHECK(table.find_line("src/a.c", 10) == table.find_line("a.c", 10));
  CHECK_FALSE(table.find_line("c/a.c", 10));
  CHECK_FALSE(table.find_line(".c", 10));
  CHECK_FALSE(table.find_line("a.c", 99));
  CHECK_FALSE(table.find_line("", 10));
}

TEST_CASE("a table can be moved", "[line_table]") {
  LineTable table;
  REQUIRE(open_bytes(sample_table(), table) == nullptr);
  LineTable moved(std::move(table));
  CHECK(moved.find_chain(0x10).size() == 1);
  LineTable assigned;
  assigned = std::move(moved);
  CHECK(assigned.find_chain(0x10).size() == 1);
  CHECK(LineTable().find_chain(0).empty());
}

TEST_CASE("a table cut short anywhere is refused", "[line_table]") {
  const std::string whole = sample_table();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    INFO(size);
    std::string cut = whole.substr(0, size);
    LineTable table;
    CHECK(open_bytes(cut, table) != nullptr);
    CHECK(table.row_count() == 0);
    if (size < sizeof(LineTableHeader)) continue;
    // Even with a header that agrees to the size, some section does not fit.
    seal(cut);
    if (open_bytes(cut, table) == nullptr) ask_everything(table);
  }
}

TEST_CASE("a damaged header is refused", "[line_table]") {
  const std::string whole = sample_table();
  for (std::size_t i = 0; i < sizeof(LineTableHeader); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x41);
    LineTable table;
    INFO(i);
    CHECK(open_bytes(damaged, table) != nullptr);
  }
}

TEST_CASE("no damage leads out of the mapping", "[line_table]") {
  const std::string whole = sample_table();
  std::mt19937 random(11);
  std::size_t opened = 0;
  std::size_t seen = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = whole;
    for (int flips = 1 + round % 4; flips > 0; --flips) {
      // Past the magic and the version: the rest of the header is damaged with a right checksum.
      const std::size_t at = 16 + random() % (damaged.size() - 16);
      damaged[at] = static_cast<char>(random());
    }
    seal(damaged);
    LineTable table;
    if (open_bytes(damaged, table) != nullptr) continue;
    ++opened;
    seen += ask_everything(table);
  }
  CHECK(opened > 100);
  CHECK(seen > 0);
}

TEST_CASE("a file that is not a table is refused", "[line_table]") {
  const TemporaryFolder folder;
  LineTable table;
  CHECK(LineTable::open((folder / "missing").c_str(), table) != nullptr);
  CHECK(LineTable::open(folder.path().c_str(), table) != nullptr);
  CHECK(open_bytes(std::string(4096, 'x'), table) != nullptr);
}
