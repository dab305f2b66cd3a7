// The binaries of this process that have a line table, and the source lines of code addresses.
//
// Lines and functions have global ids: the id in the table plus the module's `first_line` or
// `first_function`; what several share has that of the first. (Modules that come after the start
// share lines only.) An id is never used again: a module stays after its binary is unloaded,
// and the same file loaded again, at any address, is the same module.
//
// load() runs once, before any thread is profiled. After reserve(), one thread at a time may add
// modules and their images in memory, and forget images (module_watch.h); these functions allocate.
// Meanwhile any thread may call everything else, for the lists only grow, and of an entry only
// whether it is in use changes. find() is signal-safe.
//
// What is known about the program is out of date at times: before a library is known to be
// unloaded, another one, or generated code, may lie at its addresses. So for modules that come
// after the start find() trusts no address. It asks the loader which object is there now, and
// recognises it by its build id, wherever it lies; a library that is loaded again at another
// address is profiled at once. An object without a readable build id is recognised only at the
// address where it was seen, until it is known to be gone, or to be another file's.
#ifndef LIBCOZ_SYMBOLS_MODULES_H
#define LIBCOZ_SYMBOLS_MODULES_H

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/line_table.h"
#include "symbols/loader_listing.h"
#include "symbols/shared_ids.h"

namespace coz {

struct Module {
  // Global ids. Signal-safe.
  std::uint32_t line(std::uint32_t id) const noexcept {
    return shared_lines.of(id, first_line + id);
  }
  std::uint32_t function(std::uint32_t id) const noexcept {
    return id == kNoFunction ? id : shared_functions.of(id, first_function + id);
  }

  std::uint32_t first_line = 0;
  std::uint32_t first_function = 0;
  SharedIds shared_lines;
  SharedIds shared_functions;
  LineTable table;
  std::vector<std::uint8_t> file_in_scope;
  std::atomic<Module*> next{nullptr};
};

// A source line and the function as part of which it ran (perhaps inlined), as global ids. The
// function may be kNoFunction.
struct SourceFrame {
  std::uint32_t line = 0;
  std::uint32_t function = kNoFunction;
};

// Where a file's code is in this process; nullopt if it is not loaded.
struct Loading {
  std::uintptr_t begin = 0;  // of the executable segments in memory
  std::uintptr_t end = 0;
  std::uintptr_t load_bias = 0;  // address in memory less address in the file
};
// Of what was loaded at the first call, which takes the loader's lock.
std::optional<Loading> find_loading(const char* binary);
// That first call, for forked children, in which the lock may be held by a thread that they do not
// have.
void remember_loadings();

// Was the table made of this object's file? Where only one of them has a build id, nothing speaks
// against it.
bool may_be_of(const LineTable& table, const BuildId& build_id);

class Modules {
 public:
  // Counts files that are loaded after the start; files without a build id once for each address.
  static constexpr std::uint32_t kMaxImages = 4096;

  using FindObject = bool (*)(std::uintptr_t address, LoadedObject& out) noexcept;

  // `find_object` finds what the loader has at an address; it is signal-safe.
  explicit Modules(FindObject find_object = find_loaded_object) noexcept
      : find_object_(find_object) {}
  Modules(const Modules&) = delete;
  Modules& operator=(const Modules&) = delete;
  ~Modules();

  // Of binaries that are not loaded now.
  enum class Absent {
    kSkip,    // they may be added later
    kNumber,  // they have lines and functions all the same, so that numbers agree in all processes
  };

  // Maps the tables listed as `binary<TAB>table`, one a line, and finds where the binaries are
  // loaded. A table that cannot be used is left out and reported in `problems`. `lineless` says
  // whether find() returns functions that are known by symbols alone.
  void load(std::string_view list, const SourceScope& scope, Lineless lineless, Absent absent,
            std::vector<std::string>& problems);

  // False if a file has changed since its table was made. Takes the loader's lock.
  bool are_those_loaded() const;

  // --- For modules that are loaded after the start. One thread. ---

  // Before the rest. False if there is no memory.
  bool reserve() noexcept;

  Module& add(LineTable table, const SourceScope& scope);

  // The object was loaded from the module's file and is present. False if there are kMaxImages
  // already.
  bool add_image(const Module& module, const ListedObject& listed) noexcept;

  // True if find() recognises it.
  bool knows(const ListedObject& listed) const noexcept;

  // An object that is present, and the module of its file: nullptr if that is none, nullopt if it
  // cannot be told.
  struct Present {
    ListedObject listed;
    std::optional<const Module*> module;
  };
  // Only these are present, besides those of the start.
  void forget_all_but(std::span<const Present> present) noexcept;

  // True if it contains code of a module of the start.
  bool was_there_at_start(const LoadedObject& object) const noexcept;

  // --- Any thread ---

  // Writes the source frames in scope of the code at `address`, along the inline chain, innermost
  // first, as many as `out` has room for; returns their number.
  std::size_t find(std::uintptr_t address, std::span<SourceFrame> out) const noexcept;

  std::uint32_t line_count() const noexcept { return line_count_.load(std::memory_order_acquire); }
  std::uint32_t function_count() const noexcept {
    return function_count_.load(std::memory_order_acquire);
  }

  // False for the id that stands for all functions without lines in a binary (line_table_format.h).
  bool is_line(std::uint32_t line) const noexcept;
  // `path:line`, or the path alone for functions without lines; may allocate.
  std::string location(std::uint32_t line) const;
  // Empty if there is none.
  std::string function_name(std::uint32_t function) const;
  // As LineTable::function_location(); may allocate.
  std::string function_location(std::uint32_t function) const;
  std::optional<std::uint32_t> find_line(std::string_view location) const noexcept;
  // By its full location. Reads whole tables; may allocate.
  std::optional<std::uint32_t> find_function(std::string_view location) const;

  // The static variable at `address`, as `name` or `name+40`; empty if there is none, or if what it
  // is in was loaded after the start. May allocate.
  std::string object_name(std::uintptr_t address) const;
  // Build id of the main executable, hex.
  std::string build_id() const;

 private:
  struct StartLoad {
    Loading loading;
    const Module* module;
  };
  // A module as it lies in memory. Written before it is counted, and never changed.
  struct Image {
    ListedObject listed;  // where it was first seen
    const Module* module;
  };

  const Image* image_of(const LoadedObject& object) const noexcept;
  std::size_t find_in(const Module& module, std::uint64_t address,
                      std::span<SourceFrame> out) const noexcept;
  const Module* first() const noexcept { return first_.load(std::memory_order_acquire); }
  const Module* module_of(std::uint32_t id, std::uint32_t Module::* first_id,
                          std::size_t (LineTable::*count)() const noexcept) const noexcept;
  const Module* module_of_line(std::uint32_t line) const noexcept {
    return module_of(line, &Module::first_line, &LineTable::line_count);
  }
  const Module* module_of_function(std::uint32_t function) const noexcept {
    return module_of(function, &Module::first_function, &LineTable::function_count);
  }

  FindObject find_object_;
  std::vector<StartLoad> start_loads_;
  Lineless lineless_ = Lineless::kSkip;

  std::atomic<Module*> first_{nullptr};
  Module* last_ = nullptr;
  std::atomic<std::uint32_t> line_count_{0};
  std::atomic<std::uint32_t> function_count_{0};

  Image* images_ = nullptr;
  // All that most lookups read. An image of a known build id: its size, which is a multiple of the
  // page, plus 1. Another: where it begins while it is there, else 0.
  std::atomic<std::uintptr_t>* keys_ = nullptr;
  std::atomic<std::uint32_t> image_count_{0};
};

}  // namespace coz

#endif  // LIBCOZ_SYMBOLS_MODULES_H
