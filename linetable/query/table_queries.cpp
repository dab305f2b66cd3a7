#include "linetable/query/table_queries.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "common/json.h"
#include "common/text.h"
#include "linetable/dwarf/source_path.h"
#include "linetable/query/function_match.h"

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

void write_location(JsonWriter& json, const std::string& location, const char* function) {
  json.begin_object();
  json.key("location").value(location);
  json.key("function").value(function == nullptr ? "" : function);
}

void write_line(JsonWriter& json, const LineTable& table, LineTableLine line,
                std::uint32_t function) {
  write_location(json, location_of(table, line), table.function_name(function));
}

bool is_in_scope(const std::vector<std::uint8_t>& files_in_scope, LineTableLine line) {
  return line.file < files_in_scope.size() && files_in_scope[line.file] != 0;
}

// A byte for each function: 1 if a frame of it lies in scope, or has no line.
std::vector<std::uint8_t> functions_in_scope(const LineTable& table,
                                             const std::vector<std::uint8_t>& files_in_scope) {
  std::vector<std::uint8_t> in_scope(table.function_count());
  for (const LineTableFrame& frame : table.frames()) {
    const auto line = table.line(frame.line);
    if (!line || frame.function >= in_scope.size()) continue;
    if (line->line == 0 || is_in_scope(files_in_scope, *line)) in_scope[frame.function] = 1;
  }
  return in_scope;
}

struct FileLines {
  std::uint32_t file;
  std::size_t lines;
};

std::vector<FileLines> count_lines(const LineTable& table) {
  std::vector<FileLines> files(table.file_count());
  for (std::uint32_t file = 0; file < files.size(); ++file) files[file] = {file, 0};
  for (std::uint32_t id = 0; id < table.line_count(); ++id) {
    const LineTableLine line = *table.line(id);
    if (line.line != 0 && line.file < files.size()) ++files[line.file].lines;
  }
  // The binary itself stands for functions without lines.
  std::erase_if(files, [](const FileLines& file) { return file.lines == 0; });
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
    if (line.line == 0 || path == nullptr || !path_ends_with(path, wanted.path)) continue;
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

// The lines that the user may mean: the one whose path was written whole; else those in scope;
// where none is, the first of the others. In order of path.
std::vector<std::uint32_t> lines_named(const LineTable& table, const Location& wanted,
                                       const std::vector<std::uint8_t>& files_in_scope) {
  std::vector<std::uint32_t> inside;
  std::optional<std::uint32_t> outside;
  for (std::uint32_t id = 0; id < table.line_count(); ++id) {
    const LineTableLine line = *table.line(id);
    const char* path = table.file_path(line.file);
    if (line.line != wanted.line || path == nullptr || !path_ends_with(path, wanted.path)) continue;
    if (wanted.path == path) return {id};
    if (is_in_scope(files_in_scope, line)) {
      inside.push_back(id);
    } else if (!outside) {
      outside = id;
    }
  }
  if (inside.empty() && outside) inside.push_back(*outside);
  return inside;
}

void begin_choice(JsonWriter& json, const char* kind, const std::string& wanted) {
  json.begin_object().key("kind").value(kind).key("wanted").value(wanted);
  json.key("found").begin_array();
}

void end_choice(JsonWriter& json, const std::vector<std::string>& nearest) {
  json.end_array().key("nearest").begin_array();
  for (const std::string& location : nearest) json.value(location);
  json.end_array().end_object();
}

void write_lines_found(JsonWriter& json, const LineTable& table,
                       const std::vector<std::uint8_t>& files_in_scope,
                       const std::vector<WantedTargets::Line>& wanted) {
  std::vector<std::uint32_t> functions;
  for (const WantedTargets::Line& choice : wanted) {
    const std::vector<std::uint32_t> found = lines_named(table, choice.location, files_in_scope);
    std::vector<std::string> nearest;
    begin_choice(json, "line", choice.text);
    for (const std::uint32_t id : found) {
      if (functions.empty()) functions = function_of_lines(table);
      write_line(json, table, *table.line(id), functions[id]);
      json.key("in_scope").value(is_in_scope(files_in_scope, *table.line(id))).end_object();
    }
    if (found.empty()) {
      for (const LineTableLine line : nearest_lines(table, choice.location)) {
        nearest.push_back(location_of(table, line));
      }
    }
    end_choice(json, nearest);
  }
}

std::vector<std::string> nearest_functions(const LineTable& table, std::string_view wanted) {
  NearestNames nearest(wanted);
  for (std::uint32_t id = 0; id < table.function_count(); ++id) {
    if (const char* name = table.function_name(id)) nearest.consider(name);
  }
  return nearest.best();
}

void write_functions_found(JsonWriter& json, const LineTable& table,
                           const std::vector<std::uint8_t>& in_scope,
                           const std::vector<std::string>& wanted) {
  for (const std::string& text : wanted) {
    bool any = false;
    begin_choice(json, "function", text);
    for (std::uint32_t id = 0; id < table.function_count(); ++id) {
      const char* name = table.function_name(id);
      const auto line = table.first_line_of(id);
      const char* path = line ? table.file_path(line->file) : nullptr;
      if (name == nullptr || !matches_function(text, name, path == nullptr ? "" : path)) continue;
      any = true;
      write_location(json, table.function_location(id), name);
      json.key("in_scope").value(in_scope[id] != 0).end_object();
    }
    end_choice(json, any ? std::vector<std::string>() : nearest_functions(table, text));
  }
}

void write_files(JsonWriter& json, const LineTable& table, const std::vector<FileLines>& files) {
  json.begin_array();
  for (const FileLines& file : files) {
    if (const char* path = table.file_path(file.file)) json.value(path);
  }
  json.end_array();
}

}  // namespace

std::optional<Location> parse_location(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  const auto line = parse_number<std::uint32_t>(text.substr(colon + 1));
  if (!line || *line == 0) return std::nullopt;
  std::string path = normalise_source_path({}, text.substr(0, colon));
  while (path.starts_with("../")) path.erase(0, 3);  // files are found by the end of their paths
  return Location{std::move(path), *line};
}

std::string describe_scope(const LineTable& table, const SourceScope& scope,
                           const WantedTargets& wanted_targets) {
  const std::vector<std::uint8_t> in_scope = table.files_in_scope(scope);
  const std::vector<std::uint8_t> functions = functions_in_scope(table, in_scope);
  std::vector<FileLines> all = count_lines(table);
  std::vector<FileLines> files;
  std::size_t lines = 0;
  for (const FileLines& file : all) {
    if (in_scope[file.file] == 0) continue;
    files.push_back(file);
    lines += file.lines;
  }
  // A reader looks for the program's own files, not for those of the system.
  const std::vector<std::uint8_t> own = table.files_in_scope(SourceScope());
  std::stable_sort(all.begin(), all.end(), [&](const FileLines& a, const FileLines& b) {
    return std::pair(own[a.file] != 0, a.lines) > std::pair(own[b.file] != 0, b.lines);
  });
  all.resize(std::min(all.size(), kMaxListedFiles));

  JsonWriter json;
  json.begin_object();
  json.key("lines").value(lines);
  json.key("functions").value(std::count(functions.begin(), functions.end(), 1));
  json.key("files");
  write_files(json, table, files);
  json.key("all_files");
  write_files(json, table, all);
  json.key("chosen").begin_array();
  write_lines_found(json, table, in_scope, wanted_targets.lines);
  write_functions_found(json, table, functions, wanted_targets.functions);
  json.end_array().end_object();
  return json.text();
}

namespace {

void list_functions(const LineTable& table, const std::vector<std::uint8_t>& in_scope,
                    const std::function<void(const std::string&)>& print) {
  struct Entry {
    std::string path;
    std::uint32_t function;
  };
  std::vector<Entry> entries;
  for (std::uint32_t id = 0; id < in_scope.size(); ++id) {
    if (in_scope[id] == 0) continue;
    const auto line = table.first_line_of(id);
    const char* path = line ? table.file_path(line->file) : nullptr;
    entries.push_back({path == nullptr ? "" : path, id});
  }
  const auto name = [&](const Entry& entry) {
    const char* text = table.function_name(entry.function);
    return std::string_view(text == nullptr ? "" : text);
  };
  std::sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
    return std::pair(std::string_view(a.path), name(a)) <
           std::pair(std::string_view(b.path), name(b));
  });
  for (const Entry& entry : entries) {
    JsonWriter json;
    write_location(json, table.function_location(entry.function),
                   table.function_name(entry.function));
    json.end_object();
    print(json.text());
  }
}

}  // namespace

void list_lines(const LineTable& table, const SourceScope& scope, bool functions,
                const std::function<void(const std::string&)>& print) {
  const std::vector<std::uint8_t> in_scope = table.files_in_scope(scope);
  if (functions) return list_functions(table, functions_in_scope(table, in_scope), print);
  const std::vector<std::uint32_t> function_of_line = function_of_lines(table);
  for (std::uint32_t id = 0; id < table.line_count(); ++id) {
    const LineTableLine line = *table.line(id);
    if (line.line == 0 || !is_in_scope(in_scope, line)) continue;
    JsonWriter json;
    write_line(json, table, line, function_of_line[id]);
    json.end_object();
    print(json.text());
  }
}

}  // namespace coz::linetable
