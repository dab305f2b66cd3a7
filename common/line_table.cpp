#include "common/line_table.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "common/fnv1a.h"

namespace coz {
namespace {

constexpr const char* kNotATable = "not a line table";
constexpr const char* kOtherVersion = "a line table of another version of coz";
constexpr const char* kDamaged = "the line table is damaged";

const char* check_header(const LineTableHeader& header, std::size_t file_size) noexcept {
  if (std::memcmp(header.magic, kLineTableMagic, sizeof(kLineTableMagic)) != 0) return kNotATable;
  if (header.version != kLineTableVersion) return kOtherVersion;
  if (header.header_size != sizeof(LineTableHeader) || header.file_size != file_size ||
      header.build_id_size > kMaxBuildIdSize ||
      header.header_checksum != fnv1a(&header, offsetof(LineTableHeader, header_checksum))) {
    return kDamaged;
  }
  return nullptr;
}

// The entries of a section, or false when it does not lie, aligned, inside the file.
template <typename T>
bool view_section(const char* file, std::size_t file_size, const LineTableSection& section,
                  std::span<const T>& out) noexcept {
  if (section.offset % 8 != 0 || section.offset < sizeof(LineTableHeader) ||
      section.offset > file_size || section.count > (file_size - section.offset) / sizeof(T)) {
    return false;
  }
  out = {reinterpret_cast<const T*>(file + section.offset), section.count};
  return true;
}

}  // namespace

bool path_ends_with(std::string_view path, std::string_view suffix) noexcept {
  if (suffix.empty() || !path.ends_with(suffix)) return false;
  if (path.size() == suffix.size() || suffix.front() == '/') return true;
  return path[path.size() - suffix.size() - 1] == '/';
}

void Unmapping::operator()(const char* file) const noexcept {
  munmap(const_cast<char*>(file), size);
}

const char* LineTable::open(const char* path, LineTable& out) noexcept {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return "the line table cannot be opened";
  const char* error = open_descriptor(fd, out);
  close(fd);
  return error;
}

const char* LineTable::open_descriptor(int fd, LineTable& out) noexcept {
  struct stat status{};
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return kNotATable;
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size < sizeof(LineTableHeader)) return kNotATable;
  void* mapping = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (mapping == MAP_FAILED) return "the line table cannot be mapped";
  LineTable table;
  if (const char* error = table.adopt(static_cast<const char*>(mapping), size)) return error;
  out = std::move(table);
  return nullptr;
}

const char* LineTable::adopt(const char* file, std::size_t size) noexcept {
  file_ = {file, Unmapping{size}};
  const auto& header = *reinterpret_cast<const LineTableHeader*>(file);
  if (const char* error = check_header(header, size)) return error;
  if (!view_section(file, size, header.starts, starts_) ||
      !view_section(file, size, header.chains, chains_) ||
      !view_section(file, size, header.chain_begins, chain_begins_) ||
      !view_section(file, size, header.frames, frames_) ||
      !view_section(file, size, header.lines, lines_) ||
      !view_section(file, size, header.files, files_) ||
      !view_section(file, size, header.functions, functions_) ||
      !view_section(file, size, header.objects, objects_) ||
      !view_section(file, size, header.strings, strings_)) {
    return kDamaged;
  }
  const bool consistent = starts_.size() == chains_.size() && !chain_begins_.empty() &&
                          chain_begins_.front() == 0 && chain_begins_.back() == frames_.size() &&
                          !strings_.empty() && strings_.back() == '\0';
  if (!consistent) return kDamaged;
  base_address_ = header.base_address;
  build_id_ = {header.build_id, header.build_id_size};
  return nullptr;
}

std::span<const LineTableFrame> LineTable::find_chain(std::uint64_t address) const noexcept {
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), address);
  if (next == starts_.begin()) return {};
  const auto row = static_cast<std::size_t>(next - starts_.begin()) - 1;
  const std::uint32_t chain = chains_[row];
  if (chain >= chain_begins_.size() - 1) return {};  // kNoChain is caught here, too
  const std::uint32_t begin = chain_begins_[chain];
  const std::uint32_t end = chain_begins_[chain + 1];
  if (begin > end || end > frames_.size()) return {};
  return frames_.subspan(begin, end - begin);
}

std::size_t LineTable::frames_in_scope(std::uint64_t address,
                                       std::span<const std::uint8_t> file_in_scope,
                                       std::span<LineLocation> out,
                                       Lineless lineless) const noexcept {
  std::size_t found = 0;
  for (const LineTableFrame& frame : find_chain(address)) {
    if (found == out.size()) break;
    if (frame.line >= lines_.size()) continue;
    const LineTableLine line = lines_[frame.line];
    const bool in_scope = line.file < file_in_scope.size() && file_in_scope[line.file] != 0;
    if (line.line == 0 ? lineless == Lineless::kFind : in_scope) {
      out[found++] = LineLocation{frame.line, frame.function};
    }
  }
  return found;
}

std::optional<LineTableLine> LineTable::line(std::uint32_t line_id) const noexcept {
  if (line_id >= lines_.size()) return std::nullopt;
  return lines_[line_id];
}

const char* LineTable::string_at(std::span<const std::uint32_t> offsets,
                                 std::uint32_t index) const noexcept {
  if (index >= offsets.size() || offsets[index] >= strings_.size()) return nullptr;
  return strings_.data() + offsets[index];
}

const char* LineTable::file_path(std::uint32_t file_id) const noexcept {
  return string_at(files_, file_id);
}

const char* LineTable::function_name(std::uint32_t function_id) const noexcept {
  return string_at(functions_, function_id);
}

ObjectLocation LineTable::find_object(std::uint64_t address) const noexcept {
  const auto next = std::upper_bound(
      objects_.begin(), objects_.end(), address,
      [](std::uint64_t wanted, const LineTableObject& each) { return wanted < each.begin; });
  if (next == objects_.begin()) return {};
  const LineTableObject& object = *std::prev(next);
  const std::uint64_t offset = address - object.begin;
  if (offset >= object.size || object.name >= strings_.size()) return {};
  return {strings_.data() + object.name, static_cast<std::uint32_t>(offset)};
}

std::vector<std::uint8_t> LineTable::files_in_scope(const SourceScope& scope) const {
  std::vector<std::uint8_t> in_scope(files_.size());
  for (std::uint32_t file = 0; file < in_scope.size(); ++file) {
    in_scope[file] = scope.contains(file_path(file)) ? 1 : 0;
  }
  return in_scope;
}

std::optional<LineTableLine> LineTable::first_line_of(std::uint32_t function_id) const {
  constexpr LineTableLine kUnknown{0xffffffffU, 0};
  if (first_lines_.empty()) {
    first_lines_.resize(functions_.size(), kUnknown);
    for (const LineTableFrame& frame : frames_) {
      if (frame.function >= first_lines_.size() || frame.line >= lines_.size()) continue;
      LineTableLine& first = first_lines_[frame.function];
      const LineTableLine& line = lines_[frame.line];
      // Of functions of the same name one may have lines and another none.
      const bool is_earlier = line.file == first.file && line.line != 0 && line.line < first.line;
      if (first.line == 0 ? first.file == kUnknown.file || line.line != 0 : is_earlier) {
        first = line;
      }
    }
  }
  if (function_id >= first_lines_.size() || first_lines_[function_id].file == kUnknown.file) {
    return std::nullopt;
  }
  return first_lines_[function_id];
}

std::string LineTable::function_location(std::uint32_t function_id) const {
  const char* name = function_name(function_id);
  const auto line = first_line_of(function_id);
  const char* path = line ? file_path(line->file) : nullptr;
  const std::string file = path == nullptr ? "" : std::string(path) + ":";
  return file + (name == nullptr ? "?" : name);
}

std::optional<std::uint32_t> LineTable::find_line(
    std::string_view path_suffix, std::uint32_t line,
    std::span<const std::uint8_t> file_in_scope) const noexcept {
  if (line == 0) return std::nullopt;
  std::optional<std::uint32_t> inside;
  std::optional<std::uint32_t> outside;
  for (std::uint32_t id = 0; id < lines_.size(); ++id) {
    if (lines_[id].line != line) continue;
    const std::uint32_t file = lines_[id].file;
    const char* path = file_path(file);
    if (path == nullptr || !path_ends_with(path, path_suffix)) continue;
    if (path_suffix == path) return id;
    const bool in_scope = file < file_in_scope.size() && file_in_scope[file] != 0;
    auto& first = in_scope ? inside : outside;
    if (!first) first = id;
  }
  return inside ? inside : outside;
}

}  // namespace coz
