#include "liblayout/moving.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <span>

#include "liblayout/process.h"
#include "liblayout/rewriting.h"
#include "liblayout/switcher.h"
#include "liblayout/switching.h"

namespace coz::layout {
namespace {

constexpr int kTries = 64;  // to find room near the program
// If layouts are switched, there are so many: each takes start-up time and memory.
constexpr std::uint64_t kMostLayouts = 16;
constexpr std::uint64_t kBytesOfLayouts = std::uint64_t{64} << 20;
constexpr std::uint64_t kPage = 4096;
constexpr std::uint32_t kMostTold = 16;  // units whose places are reported

constexpr std::uint64_t whole_pages(std::uint64_t size) {
  return (size + kPage - 1) / kPage * kPage;
}

class Mover {
 public:
  Mover(const LayoutPlan& plan, const Wanted& wanted, std::uint8_t* image) noexcept
      : plan_(plan), wanted_(wanted), image_(image), random_(wanted.seed) {}

  Moved move() noexcept {
    take_scratch();
    place();
    for (std::size_t i = 0; i < layouts_; ++i) copy(i);
    if (switches()) make_stubs();
    // Copies are made of originals, which are overwritten from here on.
    lead_program();
    for (std::size_t i = 0; i < layouts_; ++i) register_copies(frames_of(i));
    tell_places();
    if (switches()) {
      register_copies(arena_ + stub_frames_at_);
      start_switching();
    } else {
      unmap(memory_);
    }
    return {arena_, layouts_};
  }

 private:
  // Of one layout in the arena: its code, and behind it, on pages of its own, its unwind table.
  struct Place {
    std::uint64_t at;
    std::uint64_t code_size;
  };

  [[nodiscard]] bool switches() const noexcept { return wanted_.interval != 0; }
  [[nodiscard]] std::size_t units() const noexcept { return plan_.units.size(); }
  [[nodiscard]] std::size_t entries() const noexcept {
    return switches() ? plan_.entries.size() : 0;
  }
  [[nodiscard]] std::uint8_t* stubs() const noexcept {
    return switches() ? arena_ + stubs_at_ : nullptr;
  }
  [[nodiscard]] std::uint8_t* frames_of(std::size_t layout) const noexcept {
    return arena_ + places_[layout].at + places_[layout].code_size;
  }
  [[nodiscard]] std::span<std::int64_t> moves_of(std::size_t layout) const noexcept {
    return moves_.subspan(layout * units(), units());
  }

  [[nodiscard]] std::size_t count_layouts() const noexcept {
    if (!switches()) return 1;
    std::uint64_t size = whole_pages(frames_size(plan_));
    for (const LayoutUnit& unit : plan_.units) size += unit.size;
    return std::clamp<std::uint64_t>(kBytesOfLayouts / size, 2, kMostLayouts);
  }

  void take_scratch() noexcept {
    layouts_ = count_layouts();
    const std::size_t copies = units() * layouts_;
    const std::size_t size = copies * (sizeof(std::int64_t) + sizeof(std::uint64_t)) +
                             units() * (sizeof(std::uint32_t) + sizeof(bool));
    auto* const memory = static_cast<std::byte*>(map_memory(0, size));
    if (memory == nullptr) give_up("there is no memory");
    memory_ = {memory, size};
    moves_ = {reinterpret_cast<std::int64_t*>(memory), copies};
    offsets_ = {reinterpret_cast<std::uint64_t*>(moves_.data() + copies), copies};
    order_ = {reinterpret_cast<std::uint32_t*>(offsets_.data() + copies), units()};
    has_one_copy_ = {reinterpret_cast<bool*>(order_.data() + units()), units()};
  }

  void place() noexcept {
    std::uint64_t size = 0;
    for (std::size_t i = 0; i < layouts_; ++i) {
      const auto offsets = offsets_.subspan(i * units(), units());
      std::uint64_t end = place_units(plan_.units, plan_.header->alignment, wanted_.order, random_,
                                      order_, offsets);
      if (wanted_.units != nullptr) {
        end = keep_others(plan_.units, UnitRanges(wanted_.units), end, offsets);
      }
      places_[i] = {size, whole_pages(end)};
      size += places_[i].code_size + whole_pages(frames_size(plan_));
    }
    stubs_at_ = size;
    slots_at_ = stubs_at_ + whole_pages(entries() * kStubSize);
    stub_frames_at_ = slots_at_ + entries() * sizeof(std::uint64_t);
    take_arena(whole_pages(stub_frames_at_ + kStubFramesSize));
    for (const LayoutTable& table : plan_.tables) {
      if (!is_switched(table)) has_one_copy_[table.unit] = true;
    }
    for (std::size_t i = 0; i < offsets_.size(); ++i) {
      const std::size_t unit = i % units();
      const std::uint8_t* const original = image_ + plan_.units[unit].begin;
      const bool is_made = i >= units() && has_one_copy_[unit];
      moves_[i] =
          is_made ? moves_[unit] : arena_ + places_[i / units()].at + offsets_[i] - original;
    }
  }

  // Memory for all copies, within reach of the program.
  void take_arena(std::uint64_t size) noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(image_);
    for (int i = 0; i < kTries; ++i) {
      const std::uint64_t base = choose_base(begin, plan_.header->image_size, size, random_);
      if (base == 0) give_up("it is too large");
      arena_ = static_cast<std::uint8_t*>(map_memory(base, size));
      if (arena_ != nullptr) return;
    }
    give_up("there is no room within 2 GB of it");
  }

  void copy(std::size_t layout) noexcept {
    const auto made = layout == 0 ? std::span<const std::int64_t>{} : moves_of(0);
    const Program program{plan_, image_, moves_of(layout), stubs(), made};
    if (!copy_units(program) || !copy_frames(program, frames_of(layout))) {
      give_up("a distance in it is too far");
    }
    make_code(arena_ + places_[layout].at, places_[layout].code_size);
  }

  static void make_code(std::uint8_t* begin, std::size_t size) noexcept {
    if (!make_executable(begin, size)) give_up("memory cannot be made executable");
  }

  void tell_places() const noexcept {
    if (wanted_.units == nullptr || wanted_.report == nullptr) return;
    const UnitRanges moved(wanted_.units);
    std::uint32_t told = 0;
    for (std::uint32_t i = 0; i < units() && told < kMostTold; ++i) {
      if (!moved.has(i)) continue;
      ++told;
      const std::uint8_t* const original = image_ + plan_.units[i].begin;
      char line[96];
      std::snprintf(line, sizeof line, "unit %u from %p to %p\n", i,
                    static_cast<const void*>(original),
                    static_cast<const void*>(original + moves_[i]));
      append_line(wanted_.report, line);
    }
  }

  void lead_program() noexcept {
    const Program program{plan_, image_, moves_of(0), stubs()};
    if (!unprotect_program() || !lead_to_copies(program) || !protect_program()) {
      give_up("its code cannot be made writable");
    }
  }

  void register_copies(std::uint8_t* frames) noexcept {
    if (plan_.frames.empty()) return;
    const std::uint64_t own = plan_.header->register_frame;
    const auto of_program = own == 0 ? nullptr : reinterpret_cast<void (*)(void*)>(image_ + own);
    if (!register_frames(frames, of_program)) {
      give_up("libgcc_s.so.1 is not there, which exceptions need");
    }
  }

  [[nodiscard]] Layouts all_layouts() const noexcept {
    auto* const slots = reinterpret_cast<std::uint64_t*>(arena_ + slots_at_);
    return {plan_, image_, moves_, {slots, entries()}, has_tables_};
  }

  // They have to be there before anything of the program runs that leads to them.
  void make_stubs() noexcept {
    if (!write_stubs(all_layouts(), stubs())) give_up("a distance in it is too far");
    select_layout(all_layouts(), 0, 0);
    make_code(stubs(), entries() * kStubSize);
    write_stub_frames(stubs(), entries() * kStubSize, arena_ + stub_frames_at_);
  }

  // Calls visit(byte) for a byte of each page with tables that are switched, until it returns
  // false.
  template <typename Visit>
  bool visit_table_pages(Visit visit) const noexcept {
    std::uintptr_t last = 0;
    for (const LayoutTable& table : plan_.tables) {
      std::uint8_t* const at = image_ + table.at;
      const std::uintptr_t page = reinterpret_cast<std::uintptr_t>(at) / kPage;
      if (!is_switched(table) || page == last) continue;
      if (!visit(at)) return false;
      last = page;
    }
    return true;
  }

  void start_switching() noexcept {
    has_tables_ = visit_table_pages([](const std::uint8_t* at) { return !lies_in_code(at); });
    if (has_tables_ && !visit_table_pages([](std::uint8_t* at) { return make_writable(at, 4); })) {
      give_up("its tables cannot be changed");
    }
    if (!start_switcher(all_layouts(), random_, wanted_.interval)) {
      give_up("no thread can be started");
    }
  }

  const LayoutPlan& plan_;
  const Wanted& wanted_;
  std::uint8_t* const image_;
  Random random_;
  std::size_t layouts_ = 0;
  std::array<Place, kMostLayouts> places_{};
  std::uint8_t* arena_ = nullptr;
  std::uint64_t stubs_at_ = 0;
  std::uint64_t slots_at_ = 0;
  std::uint64_t stub_frames_at_ = 0;
  bool has_tables_ = false;  // that are switched
  // In `memory_`: of all units in the first layout, then in the second one, and so on.
  std::span<std::int64_t> moves_;
  std::span<std::uint64_t> offsets_;
  std::span<std::uint32_t> order_;
  std::span<bool> has_one_copy_;
  std::span<const std::byte> memory_;
};

}  // namespace

Moved move_functions(const LayoutPlan& plan, const Wanted& wanted) noexcept {
  std::uint8_t* const image = program_image();
  if (image == nullptr) give_up("the loader does not tell where it is");
  if (!has_one_thread()) give_up("a library has started a thread before it");
  return Mover(plan, wanted, image).move();
}

}  // namespace coz::layout
