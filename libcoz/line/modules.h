// The binaries of this process that have a line table, and from a code address to a line in scope.
//
// Lines and functions have global ids: the id in the table plus the module's `first_line` or
// `first_function`. They are never given out again: a module stays after its binary is unloaded,
// and the same file loaded again, wherever, is the same module.
//
// load() runs once, before any thread is profiled. After reserve(), one thread at a time may add
// modules and places where they are loaded, and forget those (modules/module_watch.h); these
// allocate. Meanwhile everything else may be called from any thread: the lists only grow, and what
// is in them never changes but for being in use. find() is signal-safe, too.
//
// A place in use may lag behind the program: before a library is known to be unloaded, something
// else may lie at its addresses. find() therefore asks the loader what is there now, wherever a
// module came after the start.
#ifndef LIBCOZ_LINE_MODULES_H
#define LIBCOZ_LINE_MODULES_H

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "line/line_table.h"
#include "os/loaded_object.h"

namespace coz {

struct Module {
  std::uint32_t first_line = 0;
  std::uint32_t first_function = 0;
  LineTable table;
  std::vector<std::uint8_t> file_in_scope;
  std::atomic<Module*> next{nullptr};
};

// Global ids; the function, of which the line was executed as part (perhaps inlined), may be
// kNoFunction.
struct Place {
  std::uint32_t line = 0;
  std::uint32_t function = kNoFunction;
};

class Modules {
 public:
  // Places where modules were loaded after the start: far more than a program has, unless it loads
  // thousands of files, or one at thousands of places.
  static constexpr std::uint32_t kMostLoads = 4096;

  using FindObject = bool (*)(std::uintptr_t address, LoadedObject& out) noexcept;

  // `find_object`: what the loader has at an address; signal-safe.
  explicit Modules(FindObject find_object = find_loaded_object) noexcept
      : find_object_(find_object) {}
  Modules(const Modules&) = delete;
  Modules& operator=(const Modules&) = delete;
  ~Modules();

  // Maps the tables listed as `binary<TAB>table`, one a line, and finds where the binaries are
  // loaded. A table that can't be used is left out, and said in `problems`.
  void load(std::string_view list, const SourceScope& scope, std::vector<std::string>& problems);

  // --- For modules that come after the start. One thread. ---

  // Before the rest. False if there is no memory.
  bool reserve() noexcept;

  Module& add(LineTable table, const SourceScope& scope);

  // The object in memory was loaded from the module's file, and is there. False if kMostLoads are
  // known already.
  bool add_load(const Module& module, const ListedObject& listed) noexcept;

  // Only these objects, and those of the start, are there.
  void forget_all_but(std::span<const ListedObject> present) noexcept;

  // Does it hold code of a module of the start?
  bool was_there_at_start(const LoadedObject& object) const noexcept;

  // --- Any thread ---

  // The places in scope of the code at `address` by the inline chain, innermost first, as many as
  // `out` has room for; returns their number.
  std::size_t find(std::uintptr_t address, std::span<Place> out) const noexcept;

  std::uint32_t line_count() const noexcept { return line_count_.load(std::memory_order_acquire); }
  std::uint32_t function_count() const noexcept {
    return function_count_.load(std::memory_order_acquire);
  }
  // How many modules there are, which only grows.
  std::uint32_t count() const noexcept { return count_.load(std::memory_order_acquire); }

  // `path:line`; may allocate.
  std::string location(std::uint32_t line) const;
  // nullptr where there is none.
  const char* function_name(std::uint32_t function) const noexcept;
  // `path:function`, with the path of the function's first line; may allocate. One thread.
  std::string function_location(std::uint32_t function) const;
  // Not in the first `from` modules: those are known not to have it.
  std::optional<std::uint32_t> find_line(std::string_view location,
                                         std::uint32_t from = 0) const noexcept;
  // By its name, with or without parameters, and with a path before it or without. Reads the whole
  // table; may allocate. One thread, as above.
  std::optional<std::uint32_t> find_function(std::string_view name, std::uint32_t from = 0) const;

  // Build id of the main executable, hex.
  std::string build_id() const;

 private:
  struct StartLoad {
    std::uintptr_t begin;  // of its executable segments in memory
    std::uintptr_t end;
    std::uintptr_t load_bias;
    const Module* module;
  };
  // Written before it is counted in load_count_, and never changed.
  struct Load {
    ListedObject listed;
    const Module* module;
  };

  static std::size_t find_in(const Module& module, std::uint64_t address,
                             std::span<Place> out) noexcept;
  const Module* first() const noexcept { return first_.load(std::memory_order_acquire); }
  const Module* skip(std::uint32_t modules) const noexcept;
  const Module* module_of_line(std::uint32_t line) const noexcept;
  const Module* module_of_function(std::uint32_t function) const noexcept;

  FindObject find_object_;
  std::vector<StartLoad> start_loads_;

  std::atomic<Module*> first_{nullptr};
  Module* last_ = nullptr;
  std::atomic<std::uint32_t> count_{0};
  std::atomic<std::uint32_t> line_count_{0};
  std::atomic<std::uint32_t> function_count_{0};

  Load* loads_ = nullptr;
  // Where each load's object begins while it is in use, else 0: all that most lookups read.
  std::atomic<std::uintptr_t>* begins_ = nullptr;
  std::atomic<std::uint32_t> load_count_{0};
};

}  // namespace coz

#endif  // LIBCOZ_LINE_MODULES_H
