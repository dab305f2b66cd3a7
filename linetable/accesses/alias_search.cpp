#include "linetable/accesses/alias_search.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/json.h"
#include "linetable/accesses/alias_window.h"
#include "linetable/accesses/memory_operands.h"
#include "linetable/accesses/object_names.h"
#include "linetable/accesses/traced_process.h"

namespace coz::linetable {
namespace {

constexpr std::size_t kLongestInstruction = 15;
// Smaller blocks share memory with others.
constexpr std::uint64_t kLeastBlock = 64U << 10;
// To look up who asked for a block takes some milliseconds.
constexpr std::size_t kMostBlocks = 256;
// Of each burst, pairs of instructions that are named, the most frequent first.
constexpr std::size_t kNamed = 12;
// How often the program is stopped, for how many instructions; and how often it is run for that, at
// most.
constexpr unsigned kBursts = 12;
constexpr unsigned kSteps = 1500;
constexpr unsigned kRuns = 8;

struct NamedAccess {
  Object object;
  std::uint64_t address = 0;
  std::string line;
};

struct NamedPair {
  NamedAccess load;
  NamedAccess store;
  std::uint64_t count = 0;
};

class Search {
 public:
  // A new process of the same program.
  void begin() { blocks_.clear(); }

  void note_block(pid_t process, std::uint64_t begin, std::uint64_t size) {
    if (size < kLeastBlock || blocks_.size() >= kMostBlocks) return;
    blocks_.push_back({begin, size, ObjectNames(process).calling_line()});
  }

  void burst(TracedProcess& process, unsigned steps) {
    window_.interrupt();
    user_regs_struct registers{};
    std::array<std::uint8_t, kLongestInstruction> code{};
    std::vector<Access> accesses;
    for (unsigned i = 0; i < steps && process.registers(registers); ++i) {
#if defined(__x86_64__)
      const std::size_t size = process.read(registers.rip, code.data(), code.size());
#else
      const std::size_t size = 0;
#endif
      if (find_accesses({code.data(), size}, registers, accesses)) {
        for (const Access& access : accesses) window_.see(access);
      }
      window_.next_instruction();
      if (!process.step()) break;
      ++steps_;
    }
    if (!process.has_ended()) name_pairs(process);
    window_.clear_pairs();
  }

  [[nodiscard]] std::string answer() const {
    std::vector<const NamedPair*> sorted;
    for (const auto& [key, pair] : named_) sorted.push_back(&pair);
    std::ranges::sort(sorted,
                      [](const NamedPair* a, const NamedPair* b) { return a->count > b->count; });
    JsonWriter json;
    json.begin_object().field("steps", steps_).field("loads", window_.loads());
    json.key("pairs").begin_array();
    for (const NamedPair* pair : sorted) {
      json.begin_object().field("count", pair->count);
      write(json.key("load"), pair->load);
      write(json.key("store"), pair->store);
      json.end_object();
    }
    return json.end_array().end_object().text();
  }

 private:
  void name_pairs(const TracedProcess& process) {
    std::vector<const AliasPair*> sorted;
    for (const auto& [key, pair] : window_.pairs()) sorted.push_back(&pair);
    std::ranges::sort(sorted,
                      [](const AliasPair* a, const AliasPair* b) { return a->count > b->count; });
    sorted.resize(std::min(sorted.size(), kNamed));
    if (sorted.empty()) return;
    const ObjectNames names(process.id());
    for (const AliasPair* pair : sorted) {
      const NamedPair named{name(names, pair->load), name(names, pair->store), pair->count};
      NamedPair& all = named_[{named.load.object.name, named.store.object.name}];
      const std::uint64_t count = all.count + named.count;
      if (named.count > all.count) all = named;
      all.count = count;
    }
  }

  [[nodiscard]] NamedAccess name(const ObjectNames& names, const Access& access) const {
    return {names.at(access.address, blocks_), access.address, names.line_of(access.pc)};
  }

  static void write(JsonWriter& json, const NamedAccess& access) {
    json.begin_object()
        .field("kind", access.object.kind)
        .field("name", access.object.name)
        .field("begin", access.object.begin)
        .field("size", access.object.size)
        .field("address", access.address)
        .field("line", access.line)
        .end_object();
  }

  AliasWindow window_;
  std::vector<Block> blocks_;
  // By the names of load and store.
  std::map<std::pair<std::string, std::string>, NamedPair> named_;
  std::uint64_t steps_ = 0;
};

}  // namespace

bool search_aliases(char** argv, std::chrono::microseconds time, std::string& answer) {
#if !defined(__x86_64__)
  answer = "only programs for x86-64 are taken through their instructions";
  return false;
#endif
  Search found;
  unsigned bursts = 0;
  // A machine that is busy may wake us when the program has ended; then it is run once more, and
  // stopped at other times.
  for (unsigned run = 0; run < kRuns && bursts < kBursts; ++run) {
    std::string error;
    TracedProcess process(
        argv,
        [&](pid_t id, std::uint64_t begin, std::uint64_t size) {
          found.note_block(id, begin, size);
        },
        error);
    if (!error.empty()) {
      answer = error;
      return false;
    }
    found.begin();
    auto pause = time * (run + 1) / (kRuns + 1);
    while (bursts < kBursts) {
      process.run_for(pause);
      if (process.has_ended()) break;
      found.burst(process, kSteps);
      ++bursts;
      pause = time / (kBursts + 1);
    }
  }
  answer = found.answer();
  return true;
}

}  // namespace coz::linetable
