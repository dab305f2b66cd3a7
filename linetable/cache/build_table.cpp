#include "linetable/cache/build_table.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "common/json.h"
#include "common/line_table.h"
#include "common/text.h"
#include "linetable/cache/table_cache.h"
#include "linetable/dwarf/debug_info.h"
#include "linetable/symbols/symbol_functions.h"
#include "linetable/symbols/symbol_objects.h"
#include "linetable/table/table_builder.h"

namespace coz::linetable {
namespace {

void fail(BuildResult& result, BuildError error, std::string message) {
  result.error = error;
  result.message = std::move(message);
}

void describe(const LineTable& table, BuildResult& result) {
  result.rows = table.row_count();
  result.lines = table.line_count();
  result.files = table.file_count();
  result.functions = table.function_count();
}

std::string advice_without_debug_info(const ElfFile& binary) {
  return binary.path() +
         " has no debug information: compile it with -g, and do not strip it, or install its "
         "separate debug file";
}

std::string nothing_found(const BuildResult& result, const BuildOptions& options) {
  if (options.functions) {
    return result.binary + " has neither debug information, nor symbols of functions, nor an " +
           "unwind table: do not strip it of everything";
  }
  return result.debug_file +
         " has debug information, but no line of source for any code: compile with -g";
}

// Builds the table of `binary` and stores it.
void build_anew(const ElfFile& binary, const ElfFile& debug_file, const BuildOptions& options,
                const TableCache& cache, timespec started, BuildResult& result) {
  TableBuilder builder;
  DebugInfoRead read;
  if (!result.debug_file.empty()) {
    read = read_debug_info(binary, debug_file, builder, result.warnings);
  }
  if (options.functions) read.rows += add_symbol_functions(binary, debug_file, builder);
  if (read.rows == 0) return fail(result, BuildError::kNoDebugInfo, nothing_found(result, options));
  add_symbol_objects(binary, debug_file, builder);
  const std::string bytes = builder.finish(binary.base_address(), binary.build_id());
  if (bytes.empty()) {
    return fail(result, BuildError::kCache, "the line table of " + binary.path() + " is too big");
  }
  const std::string name = table_name(binary, options.functions);
  // So old, it serves this run, and the next makes it anew: what is missing may be there by then.
  const timespec made_from = read.lacks_files ? timespec{} : started;
  const char* error = cache.store(name, bytes, made_from);
  LineTable table;
  if (error == nullptr) error = LineTable::open(cache.path_of(name).c_str(), table);
  if (error != nullptr) {
    return fail(result, BuildError::kCache,
                "the line table " + cache.path_of(name) + " cannot be written: " + error);
  }
  describe(table, result);
}

}  // namespace

BuildResult build_table(const BuildOptions& options) {
  BuildResult result;
  const timespec started = file_clock();
  std::error_code unresolved;
  result.binary = std::filesystem::canonical(options.binary, unresolved).string();
  if (unresolved) result.binary = options.binary;
  ElfFile binary;
  const char* error = binary.open(result.binary);
  if (error == nullptr && !binary.is_loadable()) {
    error = "is neither an executable nor a shared library";
  }
  if (error != nullptr) {
    fail(result, BuildError::kNotElf, result.binary + " " + error);
    return result;
  }
  result.build_id = to_hex(binary.build_id());

  std::optional<ElfFile> separate;
  if (!binary.has_debug_info()) {
    separate = find_separate_debug_file(binary, options.search, result.warnings);
    if (!separate && !options.functions) {
      fail(result, BuildError::kNoDebugInfo, advice_without_debug_info(binary));
      return result;
    }
  }
  const ElfFile& debug_file = separate ? *separate : binary;
  if (separate || binary.has_debug_info()) result.debug_file = debug_file.path();

  const std::string dir = options.cache_dir.empty() ? default_cache_dir() : options.cache_dir;
  TableCache cache;
  if (const char* unusable = cache.open(dir)) {
    fail(result, BuildError::kCache,
         dir.empty() ? "there is no folder for line tables: HOME and XDG_CACHE_HOME are not set"
                     : "the folder for line tables " + dir + " cannot be used: " + unusable);
    return result;
  }
  const std::string name = table_name(binary, options.functions);
  result.table = cache.path_of(name);
  if (options.reuse_cached) {
    if (const auto table =
            cache.find(name, binary, later_of(last_change(binary), last_change(debug_file)))) {
      result.cached = true;
      describe(*table, result);
      return result;
    }
  }
  build_anew(binary, debug_file, options, cache, started, result);
  return result;
}

std::string to_json(const BuildResult& result) {
  constexpr const char* kErrorNames[] = {"", "no-debug-info", "not-elf", "cache"};
  JsonWriter json;
  json.begin_object();
  if (result.error != BuildError::kNone) {
    json.key("error").value(kErrorNames[static_cast<int>(result.error)]);
    json.key("message").value(result.message);
  } else {
    json.key("table").value(result.table).key("binary").value(result.binary);
    json.key("build_id").value(result.build_id).key("debug_file").value(result.debug_file);
    json.key("cached").value(result.cached).key("rows").value(result.rows);
    json.key("lines").value(result.lines).key("files").value(result.files);
    json.key("functions").value(result.functions);
  }
  json.key("warnings").begin_array();
  for (const std::string& warning : result.warnings) json.value(warning);
  json.end_array().end_object();
  return json.text();
}

}  // namespace coz::linetable
