// Takes up the modules that the program loads after its start, and forgets those that it unloads.
//
// What is loaded is compared with what was: a new object, whose file has not been asked for before,
// is asked for at the launcher, which knows the scope. A file is told by its path, its times and
// its build id, so that one that was built anew under its old name is another.
//
// One thread; allocates. What it needs of the system is behind ModuleWorld.
#ifndef LIBCOZ_SYMBOLS_MODULE_WATCH_H
#define LIBCOZ_SYMBOLS_MODULE_WATCH_H

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernel/loaded_object.h"
#include "symbols/modules.h"
#include "symbols/table_service.h"

namespace coz {

struct LoadedFile {
  ListedObject listed;
  // Absolute; empty where there is no file (the vDSO), or where it is not known at the moment.
  std::string path;
  std::string stamp;  // tells versions of the file apart
};

class ModuleWorld {
 public:
  virtual ~ModuleWorld() = default;

  // Has anything been loaded or unloaded since it was last listed in full?
  virtual bool has_changed() = 0;
  // What is loaded. False where that changes at this very moment, so that nothing can be said.
  virtual bool list(std::vector<LoadedFile>& out) = 0;
  virtual TableAnswer table_of(const std::string& path) = 0;
  // For so many lines and functions in all. False if there is none.
  virtual bool make_room(std::uint32_t lines, std::uint32_t functions) = 0;
  virtual void say(const std::string& text) = 0;
};

class ModuleWatch {
 public:
  // All must outlive it; `modules` has been reserved.
  ModuleWatch(Modules& modules, const SourceScope& scope, ModuleWorld& world) noexcept
      : modules_(modules), scope_(scope), world_(world) {}

  // Brings the modules up to date. May take as long as the making of the tables.
  void look();

 private:
  const Module* module_of(const LoadedFile& file);
  const Module* make_module(const LoadedFile& file);
  const Module* leave_out(const LoadedFile& file, const std::string& reason);

  Modules& modules_;
  const SourceScope& scope_;
  ModuleWorld& world_;
  std::unordered_map<std::string, const Module*> decided_;  // nullptr: not profiled
  bool launcher_is_gone_ = false;
  bool warned_full_ = false;
};

}  // namespace coz

#endif  // LIBCOZ_SYMBOLS_MODULE_WATCH_H
