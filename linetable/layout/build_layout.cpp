#include "linetable/layout/build_layout.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <vector>

#include "common/json.h"
#include "common/layout_plan.h"
#include "linetable/cache/table_cache.h"
#include "linetable/elf/elf_file.h"
#include "linetable/layout/layout_planner.h"
#include "linetable/layout/program_reader.h"
#include "linetable/symbols/demangle.h"

namespace coz::linetable {
namespace {

constexpr std::size_t kMostPinned = 1000;  // that are listed, the largest first

LayoutAnswer fail(LayoutError error, const char* kind, const std::string& message,
                  const char* remedy = "") {
  JsonWriter json;
  json.begin_object().field("error", kind).field("message", message);
  json.field("remedy", remedy).end_object();
  return {error, json.text()};
}

FileIdentity identity_of(const ElfFile& file) {
  const struct stat& status = file.status();
  return {status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size),
          status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

std::string describe(const ElfFile& file, const ProgramCode& program, const std::string& path,
                     PlannedLayout& layout) {
  std::stable_sort(layout.pinned.begin(), layout.pinned.end(),
                   [](const auto& a, const auto& b) { return a.extent.size() > b.extent.size(); });
  JsonWriter json;
  json.begin_object().field("plan", path).field("binary", file.path());
  json.field("text_bytes", layout.text_bytes).field("movable_bytes", layout.movable_bytes);
  json.field("functions", layout.functions).field("units", layout.units.size());
  json.field("kept_entries", layout.kept_entries).field("fixups", layout.fixups.size());
  json.field("table_entries", layout.tables.size()).field("frames", layout.frames.size());
  json.field("alignment", layout.alignment);
  json.field("pinned_count", layout.pinned.size()).key("pinned").begin_array();
  for (std::size_t i = 0; i < std::min(layout.pinned.size(), kMostPinned); ++i) {
    const PinnedCode& code = layout.pinned[i];
    json.begin_object().field("function", demangled(code.name.c_str()));
    json.field("address", program.base + code.extent.begin);
    json.field("bytes", code.extent.size()).field("reason", code.reason).end_object();
  }
  json.end_array().end_object();
  return json.text();
}

template <typename Entry>
void append(std::string& bytes, std::span<const Entry> entries) {
  const std::size_t begin = bytes.size();
  bytes.append(reinterpret_cast<const char*>(entries.data()), entries.size_bytes());
  bytes.resize(begin + layout_section_size<Entry>(entries.size()));
}

std::string serialise(const ElfFile& file, const ProgramCode& program, const PlannedLayout& layout,
                      const std::string& text) {
  LayoutPlanHeader header;
  std::copy(std::begin(kLayoutPlanMagic), std::end(kLayoutPlanMagic), header.magic);
  header.version = kLayoutPlanVersion;
  header.alignment = layout.alignment;
  header.identity = identity_of(file);
  header.base = program.base;
  header.image_size = program.image_size;
  header.register_frame = program.register_frame;
  header.eh_frame = program.frames.address;
  header.eh_frame_size = program.frames.size;
  header.unit_count = static_cast<std::uint32_t>(layout.units.size());
  header.fixup_count = static_cast<std::uint32_t>(layout.fixups.size());
  header.entry_count = static_cast<std::uint32_t>(layout.entries.size());
  header.table_count = static_cast<std::uint32_t>(layout.tables.size());
  header.common_count = static_cast<std::uint32_t>(layout.commons.size());
  header.frame_count = static_cast<std::uint32_t>(layout.frames.size());
  header.text_size = text.size();
  std::string bytes;
  append(bytes, std::span<const LayoutPlanHeader>(&header, 1));
  append<LayoutUnit>(bytes, layout.units);
  append<LayoutFixup>(bytes, layout.fixups);
  append<LayoutEntry>(bytes, layout.entries);
  append<LayoutTable>(bytes, layout.tables);
  append<LayoutCommon>(bytes, layout.commons);
  append<LayoutFrame>(bytes, layout.frames);
  append<char>(bytes, text);
  return bytes;
}

// The answer in a plan of the cache, if it is for this file, and the plan was written there.
std::string find_cached(const TableCache& cache, const std::string& name, const ElfFile& file) {
  const std::vector<std::byte> bytes = cache.read(name, last_change(file));
  LayoutPlan plan;
  if (bytes.empty() || read_layout_plan(bytes, plan) != nullptr) return {};
  if (plan.header->identity != identity_of(file)) return {};
  std::string answer(plan.text.begin(), plan.text.end());
  JsonWriter path;
  path.value(cache.path_of(name));
  if (answer.find(path.text()) == std::string::npos) return {};
  return answer;
}

std::string real_path(const std::string& binary) {
  std::error_code unresolved;
  const std::string path = std::filesystem::canonical(binary, unresolved).string();
  return unresolved ? binary : path;
}

}  // namespace

LayoutAnswer describe_units(const BuildOptions& options, const std::vector<std::uint32_t>& units) {
  const std::string path = real_path(options.binary);
  ElfFile file;
  const char* error = file.open(path);
  if (error != nullptr) return fail(LayoutError::kNotElf, "not-elf", path + " " + error);
  ProgramCode program;
  const Refusal refusal = read_program(file, program);
  if (refusal.reason != nullptr) {
    return fail(LayoutError::kRefused, "refused", path + " " + refusal.reason, refusal.remedy);
  }
  const PlannedLayout layout = plan_layout(program);
  JsonWriter json;
  json.begin_object().key("units").begin_array();
  for (const std::uint32_t number : units) {
    if (number >= layout.units.size()) continue;
    const LayoutUnit& unit = layout.units[number];
    json.begin_object().field("unit", number).field("address", program.base + unit.begin);
    json.field("bytes", unit.size).key("functions").begin_array();
    for (const CodeFunction& function : program.functions) {
      const bool is_inside = function.extent.begin - unit.begin < unit.size;
      if (is_inside && !function.name.empty()) json.value(demangled(function.name.c_str()));
    }
    json.end_array().end_object();
  }
  json.end_array().end_object();
  return {LayoutError::kNone, json.text()};
}

LayoutAnswer build_layout(const BuildOptions& options) {
  const timespec started = file_clock();
  const std::string path = real_path(options.binary);
  ElfFile file;
  const char* error = file.open(path);
  if (error != nullptr) return fail(LayoutError::kNotElf, "not-elf", path + " " + error);

  const std::string dir = options.cache_dir.empty() ? default_cache_dir() : options.cache_dir;
  TableCache cache;
  if (const char* unusable = cache.open(dir)) {
    return fail(LayoutError::kCache, "cache", "the folder " + dir + " cannot be used: " + unusable);
  }
  const std::string name = layout_name(file);
  if (options.reuse_cached) {
    std::string cached = find_cached(cache, name, file);
    if (!cached.empty()) return {LayoutError::kNone, std::move(cached)};
  }
  ProgramCode program;
  const Refusal refusal = read_program(file, program);
  if (refusal.reason != nullptr) {
    return fail(LayoutError::kRefused, "refused", path + " " + refusal.reason, refusal.remedy);
  }
  PlannedLayout layout = plan_layout(program);
  const std::string answer = describe(file, program, cache.path_of(name), layout);
  if (const char* problem = cache.store(name, serialise(file, program, layout, answer), started)) {
    return fail(LayoutError::kCache, "cache",
                cache.path_of(name) + " cannot be written: " + problem);
  }
  return {LayoutError::kNone, answer};
}

}  // namespace coz::linetable
