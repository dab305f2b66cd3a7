// Adds the modules that the program loads after its start, and forgets those that it unloads.
//
// It compares what is loaded with what was. For a new object whose file it has not asked for
// before, it asks `coz run`, which knows the scope, for a table. A file is identified by its path,
// its times and its build id, so that a file that was rebuilt under its old name is a new one.
//
// One thread; allocates. ModuleWorld stands for the system.
#ifndef LIBCOZ_SYMBOLS_MODULE_WATCH_H
#define LIBCOZ_SYMBOLS_MODULE_WATCH_H

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbols/loader_listing.h"
#include "symbols/modules.h"
#include "symbols/table_service.h"

namespace coz {

struct LoadedFile {
  ListedObject listed;
  // Absolute; empty if there is no file (the vDSO), or if it is unknown at the moment.
  std::string path;
  std::string stamp;  // differs between versions of the file; empty if that is deleted
};

class ModuleWorld {
 public:
  virtual ~ModuleWorld() = default;

  // True if anything was loaded or unloaded since the last complete list.
  virtual bool has_changed() = 0;
  // Lists what is loaded; `unloaded` is how often something has been unloaded. False if that is
  // changing at this moment.
  virtual bool list(std::vector<LoadedFile>& out, std::uint64_t& unloaded) = 0;
  virtual TableAnswer table_of(const std::string& path) = 0;
  // Makes room for that many lines and functions in all; false if there is none.
  virtual bool make_room(std::uint32_t lines, std::uint32_t functions) = 0;
  virtual void say(const std::string& text) = 0;
};

class ModuleWatch {
 public:
  // All must outlive it; `modules` has been reserved.
  ModuleWatch(Modules& modules, const SourceScope& scope, ModuleWorld& world) noexcept
      : modules_(modules), scope_(scope), world_(world) {}

  // Brings the modules up to date. May take as long as it takes to make the tables.
  void look();

 private:
  void forget_all_but(const std::vector<LoadedFile>& files);
  const Module* module_of(const LoadedFile& file);
  const Module* make_module(const LoadedFile& file);
  const Module* leave_out(const LoadedFile& file, const std::string& reason);

  Modules& modules_;
  const SourceScope& scope_;
  ModuleWorld& world_;
  std::unordered_map<std::string, const Module*> decided_;  // nullptr: not profiled
  std::uint64_t unloaded_ = 0;                              // as of the last list
  bool launcher_is_gone_ = false;
  bool warned_full_ = false;
};

}  // namespace coz

#endif  // LIBCOZ_SYMBOLS_MODULE_WATCH_H
