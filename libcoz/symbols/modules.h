// The binaries of this process that have a line table, and from a code address to a line in scope.
//
// Lines and functions have global ids: the id in the table plus the module's `first_line` or
// `first_function`. They are never given out again: a module stays after its binary is unloaded,
// and the same file loaded again, wherever, is the same module.
//
// load() runs once, before any thread is profiled. After reserve(), one thread at a time may add
// modules and how they look in memory, and forget where they were (symbols/module_watch.h); these
// allocate. Meanwhile everything else may be called from any thread: the lists only grow, and what
// is in them never changes but for being in use. find() is signal-safe, too.
//
// What is known of the program lags behind it: before a library is known to be unloaded, another,
// or code that the program generates, may lie at its addresses. Of modules that come after the
// start find() therefore takes no address for granted. It asks the loader what object is there now,
// and knows it by its build id, wherever it lies: a library that is loaded again, at another
// address, is profiled at once. An object without a build id that could be looked at is known only
// at the address where it was seen, until it is seen to be gone.
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
#include "kernel/loaded_object.h"

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
struct SourceFrame {
  std::uint32_t line = 0;
  std::uint32_t function = kNoFunction;
};

// Where a file's code is in this process; nullopt when it is not loaded.
struct Loading {
  std::uintptr_t begin = 0;  // of its executable segments in memory
  std::uintptr_t end = 0;
  std::uintptr_t load_bias = 0;  // address in memory less address in the file
};
// Takes the loader's lock, unless what was loaded has been remembered.
std::optional<Loading> find_loading(const char* binary);
// At the start, for children that are forked: in them the lock may be held by a thread that is not
// there. Kept as long as the process lives.
void remember_loadings();

class Modules {
 public:
  // Files that are loaded after the start; without build id, files and addresses.
  static constexpr std::uint32_t kMaxImages = 4096;

  using FindObject = bool (*)(std::uintptr_t address, LoadedObject& out) noexcept;

  // `find_object`: what the loader has at an address; signal-safe.
  explicit Modules(FindObject find_object = find_loaded_object) noexcept
      : find_object_(find_object) {}
  Modules(const Modules&) = delete;
  Modules& operator=(const Modules&) = delete;
  ~Modules();

  // Maps the tables listed as `binary<TAB>table`, one a line, and finds where the binaries are
  // loaded. A table that can't be used is left out, and said in `problems`.
  // `lineless`: whether functions that are known by symbols alone are places.
  void load(std::string_view list, const SourceScope& scope, Lineless lineless,
            std::vector<std::string>& problems);

  // --- For modules that come after the start. One thread. ---

  // Before the rest. False if there is no memory.
  bool reserve() noexcept;

  Module& add(LineTable table, const SourceScope& scope);

  // The object was loaded from the module's file, and is there. False if kMaxImages are known
  // already.
  bool add_image(const Module& module, const ListedObject& listed) noexcept;

  // Would find() know it?
  bool knows(const ListedObject& listed) const noexcept;

  // Only these objects are there, besides those of the start.
  void forget_all_but(std::span<const ListedObject> present) noexcept;

  // Does it hold code of a module of the start?
  bool was_there_at_start(const LoadedObject& object) const noexcept;

  // --- Any thread ---

  // The places in scope of the code at `address` by the inline chain, innermost first, as many as
  // `out` has room for; returns their number.
  std::size_t find(std::uintptr_t address, std::span<SourceFrame> out) const noexcept;

  std::uint32_t line_count() const noexcept { return line_count_.load(std::memory_order_acquire); }
  std::uint32_t function_count() const noexcept {
    return function_count_.load(std::memory_order_acquire);
  }
  // How many modules there are, which only grows.
  std::uint32_t count() const noexcept { return count_.load(std::memory_order_acquire); }

  // False for what stands for all functions without lines in a binary (line_table_format.h).
  bool is_line(std::uint32_t line) const noexcept;
  // `path:line`, or of functions without lines the path alone; may allocate.
  std::string location(std::uint32_t line) const;
  // nullptr where there is none.
  const char* function_name(std::uint32_t function) const noexcept;
  // As LineTable::function_location(); may allocate.
  std::string function_location(std::uint32_t function) const;
  std::optional<std::uint32_t> find_line(std::string_view location) const noexcept;
  // By its location, whole. Reads whole tables; may allocate.
  std::optional<std::uint32_t> find_function(std::string_view location) const;

  // Build id of the main executable, hex.
  std::string build_id() const;

 private:
  struct StartLoad {
    Loading loading;
    const Module* module;
  };
  // How a module looks in memory. Written before it is counted, and never changed.
  struct Image {
    ListedObject listed;  // where it was first seen
    const Module* module;
  };

  const Image* image_of(const LoadedObject& object) const noexcept;
  std::size_t find_in(const Module& module, std::uint64_t address,
                      std::span<SourceFrame> out) const noexcept;
  const Module* first() const noexcept { return first_.load(std::memory_order_acquire); }
  const Module* module_of_line(std::uint32_t line) const noexcept;
  const Module* module_of_function(std::uint32_t function) const noexcept;

  FindObject find_object_;
  std::vector<StartLoad> start_loads_;
  Lineless lineless_ = Lineless::kSkip;

  std::atomic<Module*> first_{nullptr};
  Module* last_ = nullptr;
  std::atomic<std::uint32_t> count_{0};
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
