// Several layouts at once: the program's calls lead to one of them, and while it runs, to another.
//
// STABILIZER re-randomises a running program (Curtsinger and Berger, ASPLOS 2013, section 4.2), and
// walks stacks to learn which old copies may go. Here all layouts are made at the start, and all
// stay: copies do the same wherever they lie, so that a function which runs may go on where it is.
// What changes is where calls lead. A call in a copy leads to the callee's *stub*, as do jumps to
// other functions, and the jump at the original's entry; the stub jumps to the address in the
// callee's *slot*. The tables of switch statements, distances of 4 bytes, lead to the copies of the
// current layout. A function without an entry is called in its caller's layout.
//
// Of functions whose labels' addresses are kept in data (computed goto), there is one copy in all
// layouts: the program may keep, compare and change such addresses.
//
// Plain logic; allocates nothing. Each slot and each entry of a table is stored at once.
#ifndef LIBLAYOUT_SWITCHING_H
#define LIBLAYOUT_SWITCHING_H

#include <cstddef>
#include <cstdint>
#include <span>

#include "liblayout/rewriting.h"

namespace coz::layout {

// moves: of all units in the first layout, then in the second one, and so on. slots: one for each
// entry of the plan. has_tables: those that are switched can be written while the program runs.
struct Layouts {
  LayoutPlan plan;
  std::uint8_t* image;
  std::span<const std::int64_t> moves;
  std::span<std::uint64_t> slots;
  bool has_tables;

  [[nodiscard]] std::size_t count() const noexcept { return moves.size() / plan.units.size(); }
  [[nodiscard]] std::span<const std::int64_t> of(std::size_t layout) const noexcept {
    return moves.subspan(layout * plan.units.size(), plan.units.size());
  }
};

// Is the table switched? Otherwise the functions that it leads to have one copy only.
inline bool is_switched(const LayoutTable& table) noexcept { return table.width == 4; }

// Writes the stub of each entry, kStubSize bytes each. Returns false where a slot is too far.
bool write_stubs(const Layouts& layouts, std::uint8_t* stubs) noexcept;

// Writes an unwind table of `size` bytes of stubs to `out`, kStubFramesSize bytes.
inline constexpr std::size_t kStubFramesSize = 64;
void write_stub_frames(const std::uint8_t* stubs, std::size_t size, std::uint8_t* out) noexcept;

// Lets calls lead to this layout, and tables, which led to the layout `before`.
void select_layout(const Layouts& layouts, std::size_t before, std::size_t layout) noexcept;

}  // namespace coz::layout

#endif  // LIBLAYOUT_SWITCHING_H
