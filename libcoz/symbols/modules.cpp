#include "symbols/modules.h"

#include <limits.h>
#include <link.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "common/text.h"
#include "kernel/executable.h"
#include "kernel/zeroed_memory.h"

namespace coz {
namespace {

// Frames of an inline chain that are looked at; no caller needs more.
constexpr std::size_t kMaxInlineFrames = 4;

using Loadings = std::vector<std::pair<std::string, Loading>>;

const char* path_of(const dl_phdr_info& info) noexcept {
  // The main executable has an empty name.
  const bool is_main = info.dlpi_name == nullptr || info.dlpi_name[0] == '\0';
  return is_main ? path_to_executable() : info.dlpi_name;
}

std::optional<Loading> loading_of(const dl_phdr_info& info) noexcept {
  std::uintptr_t begin = UINTPTR_MAX;
  std::uintptr_t end = 0;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr) & segment = info.dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    begin = std::min<std::uintptr_t>(begin, info.dlpi_addr + segment.p_vaddr);
    end = std::max<std::uintptr_t>(end, info.dlpi_addr + segment.p_vaddr + segment.p_memsz);
  }
  if (begin >= end) return std::nullopt;
  return Loading{begin, end, info.dlpi_addr};
}

int remember_loaded(dl_phdr_info* info, size_t, void* argument) {
  const auto loading = loading_of(*info);
  if (!loading) return 0;
  char absolute[PATH_MAX];
  const char* path = path_of(*info);
  if (realpath(path, absolute) != nullptr) path = absolute;
  static_cast<Loadings*>(argument)->emplace_back(path, *loading);
  return 0;
}

// As of the first call; kept as long as the process lives.
const Loadings& loadings() {
  static const Loadings* const all = [] {
    auto* found = new Loadings;
    dl_iterate_phdr(remember_loaded, found);
    return found;
  }();
  return *all;
}

bool is_known_by_build_id(const ListedObject& listed) noexcept { return listed.build_id_at != 0; }

std::uintptr_t build_id_key(const LoadedObject& object) noexcept {
  return object.end - object.begin + 1;
}

std::uintptr_t key_of(const ListedObject& listed) noexcept {
  return is_known_by_build_id(listed) ? build_id_key(listed.object) : listed.object.begin;
}

// The loader says that `object` is present, so its first page can be read.
bool is_image_of(const LoadedObject& object, const ListedObject& known) noexcept {
  if (!is_known_by_build_id(known)) return object == known.object;
  const std::uintptr_t moved = object.begin - known.object.begin;
  return object.end == known.object.end + moved &&
         (object.unwind == known.object.unwind + moved || known.object.unwind == object.unwind) &&
         std::memcmp(reinterpret_cast<const void*>(known.build_id_at + moved),
                     known.build_id.bytes.data(), known.build_id.size) == 0;
}

const Module* next_of(const Module& module) noexcept {
  return module.next.load(std::memory_order_acquire);
}

// Without reading its memory, since it may be gone by now.
bool is_same(const ListedObject& a, const ListedObject& b) noexcept {
  if (a.build_id != b.build_id) return false;
  if (!is_known_by_build_id(a) || !is_known_by_build_id(b)) return a.object == b.object;
  return build_id_key(a.object) == build_id_key(b.object);
}

}  // namespace

void remember_loadings() { loadings(); }

std::optional<Loading> find_loading(const char* binary) {
  for (const auto& [path, loading] : loadings()) {
    if (is_same_file(path.c_str(), binary)) return loading;
  }
  return std::nullopt;
}

Modules::~Modules() {
  for (const Module* module = first(); module != nullptr;) {
    const Module* next = module->next.load(std::memory_order_relaxed);
    delete module;
    module = next;
  }
  unmap(images_, sizeof(Image) * kMaxImages);
  unmap(keys_, sizeof(*keys_) * kMaxImages);
}

void Modules::load(std::string_view list, const SourceScope& scope, Lineless lineless,
                   Absent absent, std::vector<std::string>& problems) {
  lineless_ = lineless;
  while (!list.empty()) {
    std::string_view path_of_table = take_part(list, '\n');
    const std::string binary(take_part(path_of_table, '\t'));
    const std::string path(path_of_table);
    if (path.empty()) continue;

    LineTable table;
    if (const char* problem = LineTable::open(path.c_str(), table)) {
      problems.push_back("the line table " + path + " cannot be used (" + problem +
                         "); nothing in " + binary + " is profiled. Delete the file and run again");
      continue;
    }
    const auto loading = find_loading(binary.c_str());
    if (!loading && absent == Absent::kSkip) continue;
    const Module& module = add(std::move(table), scope);
    if (loading) start_loads_.push_back({*loading, &module});
  }
}

bool may_be_of(const LineTable& table, const BuildId& build_id) {
  const auto of_table = table.build_id();
  const auto of_object = build_id.get();
  return of_table.empty() || of_object.empty() ||
         std::equal(of_table.begin(), of_table.end(), of_object.begin(), of_object.end());
}

bool Modules::are_those_loaded() const {
  LoaderListing listing;
  list_loaded_objects(listing);
  return std::ranges::all_of(listing.objects, [&](const ListedObject& listed) {
    return std::ranges::all_of(start_loads_, [&](const StartLoad& load) {
      const std::uintptr_t begin = load.loading.begin;
      const bool is_same = begin >= listed.object.begin && begin < listed.object.end;
      return !is_same || may_be_of(load.module->table, listed.build_id);
    });
  });
}

bool Modules::reserve() noexcept {
  images_ = static_cast<Image*>(map_zeroed(sizeof(Image) * kMaxImages));
  keys_ = static_cast<std::atomic<std::uintptr_t>*>(map_zeroed(sizeof(*keys_) * kMaxImages));
  return images_ != nullptr && keys_ != nullptr;
}

Module& Modules::add(LineTable table, const SourceScope& scope) {
  auto* module = new Module;
  const std::uint32_t lines = line_count();
  const std::uint32_t functions = function_count();
  module->first_line = lines;
  module->first_function = functions;
  module->file_in_scope = table.files_in_scope(scope);
  module->table = std::move(table);
  // What finds the location of a function is for one thread.
  share_ids(*module, first(), images_ == nullptr);
  std::atomic<Module*>& link = last_ == nullptr ? first_ : last_->next;
  link.store(module, std::memory_order_release);
  last_ = module;
  line_count_.store(lines + static_cast<std::uint32_t>(module->table.line_count()),
                    std::memory_order_release);
  function_count_.store(functions + static_cast<std::uint32_t>(module->table.function_count()),
                        std::memory_order_release);
  return *module;
}

bool Modules::add_image(const Module& module, const ListedObject& listed) noexcept {
  if (images_ == nullptr) return false;
  const std::uint32_t count = image_count_.load(std::memory_order_relaxed);
  std::uint32_t index = 0;
  while (index < count &&
         (images_[index].module != &module || !is_same(images_[index].listed, listed))) {
    ++index;
  }
  if (index == kMaxImages) return false;
  if (index == count) new (&images_[index]) Image{listed, &module};
  keys_[index].store(key_of(listed), std::memory_order_release);
  if (index == count) image_count_.store(count + 1, std::memory_order_release);
  return true;
}

bool Modules::knows(const ListedObject& listed) const noexcept {
  const std::uint32_t count = image_count_.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (keys_[i].load(std::memory_order_relaxed) == key_of(listed) &&
        is_same(images_[i].listed, listed)) {
      return true;
    }
  }
  return false;
}

// Without a build id, another file may have been loaded in the place of the one that is known.
void Modules::forget_all_but(std::span<const Present> present) noexcept {
  const std::uint32_t count = image_count_.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Image& known = images_[i];
    if (is_known_by_build_id(known.listed)) continue;
    const bool has_id = known.listed.build_id.size > 0;
    const bool is_there = std::ranges::any_of(present, [&](const Present& object) {
      return is_same(object.listed, known.listed) &&
             (has_id || object.module.value_or(known.module) == known.module);
    });
    if (!is_there) keys_[i].store(0, std::memory_order_release);
  }
}

bool Modules::was_there_at_start(const LoadedObject& object) const noexcept {
  return std::any_of(start_loads_.begin(), start_loads_.end(), [&](const StartLoad& load) {
    return load.loading.begin >= object.begin && load.loading.begin < object.end;
  });
}

std::size_t Modules::find(std::uintptr_t address, std::span<SourceFrame> out) const noexcept {
  // The loader never unloads what it has loaded at the start.
  for (const StartLoad& load : start_loads_) {
    if (address < load.loading.begin || address >= load.loading.end) continue;
    return find_in(*load.module, address - load.loading.load_bias, out);
  }
  LoadedObject object;
  if (image_count_.load(std::memory_order_acquire) == 0 || !find_object_(address, object)) return 0;
  const Image* image = image_of(object);
  if (image == nullptr) return 0;
  const ListedObject& known = image->listed;
  return find_in(*image->module, address - (object.begin - known.object.begin) - known.load_bias,
                 out);
}

const Modules::Image* Modules::image_of(const LoadedObject& object) const noexcept {
  const std::uint32_t count = image_count_.load(std::memory_order_acquire);
  const std::uintptr_t any_address = build_id_key(object);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uintptr_t key = keys_[i].load(std::memory_order_acquire);
    if (key != any_address && key != object.begin) continue;
    if (is_image_of(object, images_[i].listed)) return &images_[i];
  }
  return nullptr;
}

std::size_t Modules::find_in(const Module& module, std::uint64_t address,
                             std::span<SourceFrame> out) const noexcept {
  std::array<LineLocation, kMaxInlineFrames> found;
  const std::size_t count = module.table.frames_in_scope(
      address - module.table.base_address(), module.file_in_scope,
      std::span(found).first(std::min(out.size(), found.size())), lineless_);
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = {module.line(found[i].line_id), module.function(found[i].function_id)};
  }
  return count;
}

const Module* Modules::module_of(std::uint32_t id, std::uint32_t Module::* first_id,
                                 std::size_t (LineTable::*count)() const noexcept) const noexcept {
  for (const Module* module = first(); module != nullptr; module = next_of(*module)) {
    if (id >= module->*first_id && id - module->*first_id < (module->table.*count)()) return module;
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

std::string Modules::object_name(std::uintptr_t address) const {
  for (const StartLoad& load : start_loads_) {
    const LineTable& table = load.module->table;
    const ObjectLocation found =
        table.find_object(address - load.loading.load_bias - table.base_address());
    if (found.name == nullptr) continue;
    return found.offset == 0 ? found.name : found.name + ("+" + std::to_string(found.offset));
  }
  return {};
}

std::string Modules::function_name(std::uint32_t function) const {
  const Module* module = module_of_function(function);
  if (module == nullptr) return {};
  const char* name = module->table.function_name(function - module->first_function);
  return name == nullptr ? "" : name;
}

std::string Modules::function_location(std::uint32_t function) const {
  const Module* module = module_of_function(function);
  if (module == nullptr) return "?";
  return module->table.function_location(function - module->first_function);
}

std::optional<std::uint32_t> Modules::find_line(std::string_view location) const noexcept {
  const std::size_t colon = location.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto number = parse_number<std::uint32_t>(location.substr(colon + 1));
  if (!number) return std::nullopt;
  for (const Module* module = first(); module != nullptr; module = next_of(*module)) {
    const auto id =
        module->table.find_line(location.substr(0, colon), *number, module->file_in_scope);
    if (id) return module->line(*id);
  }
  return std::nullopt;
}

std::optional<std::uint32_t> Modules::find_function(std::string_view location) const {
  for (const Module* found = first(); found != nullptr; found = next_of(*found)) {
    const Module& module = *found;
    for (std::uint32_t id = 0; id < module.table.function_count(); ++id) {
      const char* name = module.table.function_name(id);
      if (name == nullptr || !location.ends_with(name)) continue;
      if (module.table.function_location(id) == location) return module.first_function + id;
    }
  }
  return std::nullopt;
}

std::string Modules::build_id() const {
  return first() == nullptr ? std::string() : to_hex(first()->table.build_id());
}

}  // namespace coz
