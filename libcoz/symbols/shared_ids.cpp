#include "symbols/shared_ids.h"

#include <string>
#include <string_view>
#include <unordered_map>

#include "symbols/modules.h"

namespace coz {
namespace {

// Files in scope of a module.
using FilesByPath = std::unordered_map<std::string_view, std::uint32_t>;

FilesByPath files_in_scope(const Module& module) {
  FilesByPath files;
  for (std::uint32_t file = 0; file < module.file_in_scope.size(); ++file) {
    const char* path = module.table.file_path(file);
    if (path != nullptr && module.file_in_scope[file] != 0) files.emplace(path, file);
  }
  return files;
}

// What a module and one before it have in common.
class Common {
 public:
  Common(Module& module, const FilesByPath& files, const Module& first)
      : module_(module), first_(first) {
    for (std::uint32_t file = 0; file < first.table.file_count(); ++file) {
      const char* path = first.table.file_path(file);
      const auto found = path == nullptr ? files.end() : files.find(path);
      if (found == files.end()) continue;
      if (files_.empty()) files_.resize(first.table.file_count(), kNone);
      files_[file] = found->second;
    }
  }

  bool is_none() const { return files_.empty(); }

  void share_lines() const {
    std::unordered_map<std::uint64_t, std::uint32_t> ids;  // by file of the module, and line
    const auto key = [](std::uint64_t file, std::uint32_t line) { return file << 32 | line; };
    for (std::uint32_t id = 0; id < first_.table.line_count(); ++id) {
      const LineTableLine line = *first_.table.line(id);
      const std::uint32_t file = file_of(line);
      if (file != kNone) ids.emplace(key(file, line.line), first_.line(id));
    }
    for (std::uint32_t id = 0; id < module_.table.line_count(); ++id) {
      const LineTableLine line = *module_.table.line(id);
      const auto found = ids.find(key(line.file, line.line));
      if (found != ids.end()) module_.shared_lines.add(id, found->second);
    }
    module_.shared_lines.sort();
  }

  void share_functions() const {
    std::unordered_map<std::string, std::uint32_t> ids;  // by location
    for (std::uint32_t id = 0; id < first_.table.function_count(); ++id) {
      const auto line = first_.table.first_line_of(id);
      if (line && file_of(*line) != kNone) {
        ids.emplace(first_.table.function_location(id), first_.function(id));
      }
    }
    for (std::uint32_t id = 0; id < module_.table.function_count(); ++id) {
      const auto line = module_.table.first_line_of(id);
      if (!line || line->file >= module_.file_in_scope.size() ||
          module_.file_in_scope[line->file] == 0) {
        continue;
      }
      const auto found = ids.find(module_.table.function_location(id));
      if (found != ids.end()) module_.shared_functions.add(id, found->second);
    }
    module_.shared_functions.sort();
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  // The module's, of a line of the first one's.
  std::uint32_t file_of(const LineTableLine& line) const {
    return line.file < files_.size() ? files_[line.file] : kNone;
  }

  Module& module_;
  const Module& first_;
  std::vector<std::uint32_t> files_;  // the module's, by those of the first; empty: none
};

}  // namespace

void share_ids(Module& module, const Module* first, bool with_functions) {
  if (first == nullptr) return;
  const FilesByPath files = files_in_scope(module);
  for (; first != nullptr; first = first->next.load(std::memory_order_acquire)) {
    const Common common(module, files, *first);
    if (common.is_none()) continue;
    common.share_lines();
    if (with_functions) common.share_functions();
  }
}

}  // namespace coz
