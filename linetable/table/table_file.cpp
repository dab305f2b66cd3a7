#include "linetable/table/table_file.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>

#include "common/fnv1a.h"
#include "common/line_table.h"

namespace coz::linetable {
namespace {

template <typename T>
LineTableSection append(std::string& file, const std::vector<T>& entries) {
  file.resize((file.size() + 7) / 8 * 8, '\0');
  const LineTableSection section{file.size(), entries.size()};
  if (!entries.empty()) {
    file.append(reinterpret_cast<const char*>(entries.data()), entries.size() * sizeof(T));
  }
  return section;
}

std::size_t size_in_file(const TableContent& content) {
  constexpr std::size_t kPadding = 9 * 8;
  return sizeof(LineTableHeader) + kPadding + content.starts.size() * 4 +
         content.chains.size() * 4 + content.chain_begins.size() * 4 + content.frames.size() * 8 +
         content.lines.size() * 8 + content.files.size() * 4 + content.functions.size() * 4 +
         content.objects.size() * sizeof(LineTableObject) + content.strings.size();
}

}  // namespace

std::uint32_t TableContent::add_string(std::string_view text) {
  const auto offset = static_cast<std::uint32_t>(strings.size());
  strings.insert(strings.end(), text.begin(), text.end());
  strings.push_back('\0');
  return offset;
}

std::string write_table(const TableContent& content, std::uint64_t base_address,
                        std::span<const std::uint8_t> build_id) {
  constexpr std::size_t kMaxIndex = std::numeric_limits<std::uint32_t>::max();
  if (content.frames.size() >= kMaxIndex || content.strings.size() >= kMaxIndex) return {};

  std::string file;
  file.reserve(size_in_file(content));
  file.resize(sizeof(LineTableHeader), '\0');
  LineTableHeader header{};
  std::memcpy(header.magic, kLineTableMagic, sizeof(kLineTableMagic));
  header.version = kLineTableVersion;
  header.header_size = sizeof(header);
  header.base_address = base_address;
  const std::size_t id_size = std::min<std::size_t>(build_id.size(), kMaxBuildIdSize);
  header.build_id_size = static_cast<std::uint32_t>(id_size);
  std::copy_n(build_id.begin(), id_size, header.build_id);
  header.starts = append(file, content.starts);
  header.chains = append(file, content.chains);
  header.chain_begins = append(file, content.chain_begins);
  header.frames = append(file, content.frames);
  header.lines = append(file, content.lines);
  header.files = append(file, content.files);
  header.functions = append(file, content.functions);
  header.objects = append(file, content.objects);
  // A reader relies on the strings' ending in a NUL, so there has to be one.
  header.strings = append(file, content.strings.empty() ? std::vector<char>(1) : content.strings);
  header.file_size = file.size();
  header.header_checksum = fnv1a(&header, offsetof(LineTableHeader, header_checksum));
  std::memcpy(file.data(), &header, sizeof(header));
  return file;
}

}  // namespace coz::linetable
