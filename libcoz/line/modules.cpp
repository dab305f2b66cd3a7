#include "line/modules.h"

#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace coz {
namespace {

// Of a chain of frames; further ones are of no interest to anyone.
constexpr std::size_t kMostPlaces = 4;

struct Wanted {
  const char* binary;
  std::optional<Loading> found;
};

bool is_same_file(const char* a, const char* b) {
  struct stat x, y;
  return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

int visit_loaded(dl_phdr_info* info, size_t, void* argument) {
  Wanted& wanted = *static_cast<Wanted*>(argument);
  // The main executable has an empty name.
  const bool is_main = info->dlpi_name == nullptr || info->dlpi_name[0] == '\0';
  if (!is_same_file(is_main ? "/proc/self/exe" : info->dlpi_name, wanted.binary)) return 0;
  std::uintptr_t begin = UINTPTR_MAX;
  std::uintptr_t end = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) & segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    begin = std::min<std::uintptr_t>(begin, info->dlpi_addr + segment.p_vaddr);
    end = std::max<std::uintptr_t>(end, info->dlpi_addr + segment.p_vaddr + segment.p_memsz);
  }
  if (begin >= end) return 0;
  wanted.found = Loading{begin, end, info->dlpi_addr};
  return 1;
}

}  // namespace

std::optional<Loading> find_loading(const char* binary) {
  Wanted wanted{binary, std::nullopt};
  dl_iterate_phdr(visit_loaded, &wanted);
  return wanted.found;
}

void Modules::load(std::string_view list, const SourceScope& scope, Lineless lineless,
                   std::vector<std::string>& problems) {
  lineless_ = lineless;
  while (!list.empty()) {
    const std::string_view entry = list.substr(0, list.find('\n'));
    list.remove_prefix(std::min(list.size(), entry.size() + 1));
    const std::size_t tab = entry.find('\t');
    if (tab == std::string_view::npos) continue;
    const std::string binary(entry.substr(0, tab));
    const std::string table(entry.substr(tab + 1));

    Module module;
    if (const char* problem = LineTable::open(table.c_str(), module.table)) {
      problems.push_back("the line table " + table + " cannot be used (" + problem +
                         "); nothing in " + binary + " is profiled. Delete the file and run again");
      continue;
    }
    const auto loading = find_loading(binary.c_str());
    if (!loading) continue;  // loaded later, or not at all
    module.begin = loading->begin;
    module.end = loading->end;
    module.load_bias = loading->load_bias;
    module.first_line = line_count_;
    module.first_function = function_count_;
    function_count_ += static_cast<std::uint32_t>(module.table.function_count());
    module.file_in_scope = module.table.files_in_scope(scope);
    line_count_ += static_cast<std::uint32_t>(module.table.line_count());
    modules_.push_back(std::move(module));
  }
}

std::size_t Modules::find(std::uintptr_t address, std::span<Place> out) const noexcept {
  for (const Module& module : modules_) {
    if (address < module.begin || address >= module.end) continue;
    std::array<LineLocation, kMostPlaces> found;
    const std::size_t count = module.table.frames_in_scope(
        address - module.load_bias - module.table.base_address(), module.file_in_scope,
        std::span(found).first(std::min(out.size(), found.size())), lineless_);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t function = found[i].function_id;
      out[i] = {module.first_line + found[i].line_id,
                function == kNoFunction ? kNoFunction : module.first_function + function};
    }
    return count;
  }
  return 0;
}

const Module* Modules::module_of_line(std::uint32_t line) const noexcept {
  for (const Module& module : modules_) {
    if (line >= module.first_line && line - module.first_line < module.table.line_count()) {
      return &module;
    }
  }
  return nullptr;
}

bool Modules::is_line(std::uint32_t line) const noexcept {
  const Module* module = module_of_line(line);
  const auto found =
      module == nullptr ? std::nullopt : module->table.line(line - module->first_line);
  return found && found->line != 0;
}

std::string Modules::location(std::uint32_t line) const {
  const Module* module = module_of_line(line);
  if (module == nullptr) return "?";
  const auto found = module->table.line(line - module->first_line);
  if (!found) return "?";
  const char* path = module->table.file_path(found->file);
  if (path == nullptr) return "?";
  return found->line == 0 ? path : std::string(path) + ":" + std::to_string(found->line);
}

const Module* Modules::module_of_function(std::uint32_t function) const noexcept {
  for (const Module& module : modules_) {
    if (function >= module.first_function &&
        function - module.first_function < module.table.function_count()) {
      return &module;
    }
  }
  return nullptr;
}

const char* Modules::function_name(std::uint32_t function) const noexcept {
  const Module* module = module_of_function(function);
  return module == nullptr ? nullptr
                           : module->table.function_name(function - module->first_function);
}

std::string Modules::function_location(std::uint32_t function) const {
  const Module* module = module_of_function(function);
  if (module == nullptr) return "?";
  return module->table.function_location(function - module->first_function);
}

std::optional<std::uint32_t> Modules::find_line(std::string_view location) const noexcept {
  const std::size_t colon = location.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view digits = location.substr(colon + 1);
  std::uint32_t number = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size()) return std::nullopt;
  for (const Module& module : modules_) {
    if (const auto id = module.table.find_line(location.substr(0, colon), number)) {
      return module.first_line + *id;
    }
  }
  return std::nullopt;
}

std::optional<std::uint32_t> Modules::find_function(std::string_view location) const {
  for (const Module& module : modules_) {
    for (std::uint32_t id = 0; id < module.table.function_count(); ++id) {
      const char* name = module.table.function_name(id);
      if (name == nullptr || !location.ends_with(name)) continue;
      if (module.table.function_location(id) == location) return module.first_function + id;
    }
  }
  return std::nullopt;
}

std::string Modules::build_id() const {
  std::string hex;
  if (modules_.empty()) return hex;
  for (const std::uint8_t byte : modules_.front().table.build_id()) {
    constexpr char kDigits[] = "0123456789abcdef";
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

}  // namespace coz
