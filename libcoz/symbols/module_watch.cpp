#include "symbols/module_watch.h"

#include <algorithm>
#include <utility>

namespace coz {
namespace {

std::string key_of(const LoadedFile& file) {
  const auto id = file.listed.build_id.get();
  std::string key(id.begin(), id.end());
  key += '\n' + file.stamp + '\n' + file.path;
  return key;
}

}  // namespace

void ModuleWatch::look() {
  if (!world_.has_changed()) return;
  std::vector<LoadedFile> files;
  std::uint64_t unloaded = 0;
  if (!world_.list(files, unloaded)) return;
  // Until something is unloaded, all that is known is still there, whatever has become of its file.
  if (unloaded != unloaded_) forget_all_but(files);
  unloaded_ = unloaded;
  for (const LoadedFile& file : files) {
    if (file.path.empty() || modules_.was_there_at_start(file.listed.object)) continue;
    if (modules_.knows(file.listed)) continue;
    const Module* module = module_of(file);
    if (module == nullptr || modules_.add_image(*module, file.listed) || warned_full_) continue;
    warned_full_ = true;
    world_.say("more than " + std::to_string(Modules::kMaxImages) +
               " libraries have been loaded: further ones are not profiled");
  }
}

void ModuleWatch::forget_all_but(const std::vector<LoadedFile>& files) {
  std::vector<Modules::Present> present;
  present.reserve(files.size());
  for (const LoadedFile& file : files) {
    const auto decided = decided_.find(key_of(file));
    const bool is_unknown = file.path.empty() || file.stamp.empty();
    present.push_back({file.listed, decided == decided_.end() ? nullptr : decided->second});
    if (is_unknown) present.back().module.reset();  // it may be the one that is known
  }
  modules_.forget_all_but(present);
}

const Module* ModuleWatch::module_of(const LoadedFile& file) {
  const auto [entry, is_new] = decided_.try_emplace(key_of(file), nullptr);
  if (is_new && !launcher_is_gone_) entry->second = make_module(file);
  return entry->second;
}

const Module* ModuleWatch::make_module(const LoadedFile& file) {
  const TableAnswer answer = world_.table_of(file.path);
  switch (answer.kind) {
    case TableAnswer::Kind::kNone:
      return nullptr;
    case TableAnswer::Kind::kGone:
      launcher_is_gone_ = true;
      world_.say(answer.text + ": " + file.path +
                 ", and what else is loaded from now on, is not profiled");
      return nullptr;
    case TableAnswer::Kind::kFailed:
      return leave_out(file, answer.text);
    case TableAnswer::Kind::kTable:
      break;
  }
  LineTable table;
  if (const char* problem = LineTable::open(answer.text.c_str(), table)) {
    return leave_out(file, "its line table " + answer.text + " cannot be used (" + problem + ")");
  }
  if (!may_be_of(table, file.listed.build_id)) {
    return leave_out(file, "the file has changed since it was loaded");
  }
  const auto lines = static_cast<std::uint32_t>(table.line_count());
  const auto functions = static_cast<std::uint32_t>(table.function_count());
  if (!world_.make_room(modules_.line_count() + lines, modules_.function_count() + functions)) {
    return leave_out(file, "there is no memory to count samples in its lines");
  }
  return &modules_.add(std::move(table), scope_);
}

const Module* ModuleWatch::leave_out(const LoadedFile& file, const std::string& reason) {
  world_.say(file.path + " was loaded, but is not profiled: " + reason);
  return nullptr;
}

}  // namespace coz
