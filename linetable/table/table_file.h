// The sections of a line table as vectors, and their layout as a file (line_table_format.h).
#ifndef LINETABLE_TABLE_TABLE_FILE_H
#define LINETABLE_TABLE_TABLE_FILE_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/line_table_format.h"

namespace coz::linetable {

struct TableContent {
  std::vector<std::uint32_t> starts;
  std::vector<std::uint32_t> chains;
  std::vector<std::uint32_t> chain_begins{0};
  std::vector<LineTableFrame> frames;
  std::vector<LineTableLine> lines;
  std::vector<std::uint32_t> files;
  std::vector<std::uint32_t> functions;
  std::vector<LineTableObject> objects;
  std::vector<char> strings;

  // Appends `text` to the strings and returns its offset.
  std::uint32_t add_string(std::string_view text);
};

// The bytes of the file; empty when the content would outgrow the format's 32-bit indices.
[[nodiscard]] std::string write_table(const TableContent& content, std::uint64_t base_address,
                                      std::span<const std::uint8_t> build_id);

}  // namespace coz::linetable

#endif  // LINETABLE_TABLE_TABLE_FILE_H
