#include "queries.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <vector>

#include "source_path.h"
#include "table_builder.h"

#include "support/json.h"

namespace coz::linetable {
namespace {

constexpr std::size_t kMaxListedFiles = 50;
constexpr std::size_t kMaxNearest = 6;

std::string location_of(const LineTable& table, LineTableLine line) {
  const char* path = table.file_path(line.file);
  return (path == nullptr ? "?" : path) + (":" + std::to_string(line.line));
}

// The function that each line is in; for a line in several (a template's), the first in the table.
std::vector<std::uint32_t> function_of_lines(const LineTable& table) {
  std::vector<std::uint32_t> functions(table.line_count(), kNoFunction);
  for (const LineTableFrame& frame : table.frames()) {
    if (frame.line < functions.size() && functions[frame.line] == kNoFunction) {
      functions[frame.line] = frame.function;
    }
  }
  return functions;
}

void write_line(JsonWriter& json, const LineTable& table, LineTableLine line,
                std::uint32_t function) {
  const char* name = table.function_name(function);
  json.begin_object();
  json.key("location").value(location_of(table, line));
  json.key("function").value(name == nullptr ? "" : name);
  json.end_object();
}

struct FileLines {
  std::uint32_t file;
  std::size_t lines;
};

std::vector<FileLines> count_lines(const LineTable& table) {
  std::vector<FileLines> files(table.file_count());
  for (std::uint32_t file = 0; file < files.size(); ++file) files[file] = {file, 0};
  for (std::uint32_t id = 0; id < table.line_count(); ++id) {
    const std::uint32_t file = table.line(id)->file;
    if (file < files.size()) ++files[file].lines;
  }
  return files;
}

// The lines with code just above and just below the wanted one, in every file that it may mean.
std::vector<LineTableLine> nearest_lines(const LineTable& table, const Location& wanted) {
  struct Neighbours {
    std::optional<LineTableLine> above;
    std::optional<LineTableLine> below;
  };
  std::vector<Neighbours> by_file(table.file_count());
  for (std::uint32_t id = 0; id < table.line_count(); ++id) {
    const LineTableLine line = *table.line(id);
    const char* path = table.file_path(line.file);
    if (path == nullptr || !path_ends_with(path, wanted.path)) continue;
    Neighbours& near = by_file[line.file];
    const bool is_above = line.line < wanted.line;
    if (is_above && (!near.above || near.above->line < line.line)) near.above = line;
    if (!is_above && (!near.below || near.below->line > line.line)) near.below = line;
  }
  std::vector<LineTableLine> nearest;
  for (const Neighbours& near : by_file) {
    if (nearest.size() >= kMaxNearest) break;
    if (near.above) nearest.push_back(*near.above);
    if (near.below) nearest.push_back(*near.below);
  }
  return nearest;
}

void write_wanted(JsonWriter& json, const LineTable& table, const std::optional<Location>& wanted) {
  std::uint32_t found = kNoLine;
  if (wanted) found = table.find_line(wanted->path, wanted->line).value_or(kNoLine);
  json.key("line");
  if (const auto line = table.line(found)) {
    write_line(json, table, *line, function_of_lines(table)[found]);
  } else {
    json.null();
  }
  json.key("nearest").begin_array();
  if (wanted && found == kNoLine) {
    for (const LineTableLine line : nearest_lines(table, *wanted)) {
      json.value(location_of(table, line));
    }
  }
  json.end_array();
}

}  // namespace

std::optional<Location> parse_location(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  const std::string_view digits = text.substr(colon + 1);
  Location location;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), location.line);
  if (error != std::errc() || end != digits.data() + digits.size() || location.line == 0) {
    return std::nullopt;
  }
  location.path = normalise_source_path({}, text.substr(0, colon));
  return location;
}

std::string describe_scope(const LineTable& table, const SourceScope& scope,
                           const std::optional<Location>& wanted) {
  const std::vector<std::uint8_t> in_scope = table.files_in_scope(scope);
  std::vector<FileLines> files = count_lines(table);
  std::size_t lines = 0;
  for (const FileLines& file : files) lines += in_scope[file.file] != 0 ? file.lines : 0;

  JsonWriter json;
  json.begin_object();
  json.key("lines").value(lines);
  json.key("files").begin_array();
  for (const FileLines& file : files) {
    const char* path = table.file_path(file.file);
    if (in_scope[file.file] != 0 && path != nullptr) json.value(path);
  }
  json.end_array();

  std::stable_sort(files.begin(), files.end(),
                   [](const FileLines& a, const FileLines& b) { return a.lines > b.lines; });
  files.resize(std::min(files.size(), kMaxListedFiles));
  json.key("all_files").begin_array();
  for (const FileLines& file : files) {
    if (const char* path = table.file_path(file.file)) json.value(path);
  }
  json.end_array();
  write_wanted(json, table, wanted);
  json.end_object();
  return json.text();
}

void list_lines(const LineTable& table, const SourceScope& scope,
                const std::function<void(const std::string&)>& print) {
  const std::vector<std::uint8_t> in_scope = table.files_in_scope(scope);
  const std::vector<std::uint32_t> functions = function_of_lines(table);
  for (std::uint32_t id = 0; id < table.line_count(); ++id) {
    const LineTableLine line = *table.line(id);
    if (line.file >= in_scope.size() || in_scope[line.file] == 0) continue;
    JsonWriter json;
    write_line(json, table, line, functions[id]);
    print(json.text());
  }
}

}  // namespace coz::linetable
