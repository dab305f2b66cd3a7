// Writes copies of units, and corrects what refers to them. Plain logic on memory that is readable,
// and writable where it says so; allocates nothing.
//
// `image` is where the program's lowest address is loaded. `moves`, one for each unit, is how far
// its copy lies from the original, in bytes. `stubs`, if there are any, one for each entry: calls
// and jumps to other units' entries lead there instead of to copies (switching.h). `made`, if not
// empty, are the moves of another layout: a copy that lies where it does there is not made again.
// Functions return false where a distance does not fit its field.
#ifndef LIBLAYOUT_REWRITING_H
#define LIBLAYOUT_REWRITING_H

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/layout_plan.h"

namespace coz::layout {

// A jump through the slot of an entry (switching.h).
inline constexpr std::size_t kStubSize = 8;

struct Program {
  const LayoutPlan& plan;
  std::uint8_t* image;
  std::span<const std::int64_t> moves;
  const std::uint8_t* stubs = nullptr;
  std::span<const std::int64_t> made{};
};

// Copies each unit and corrects its fields.
bool copy_units(const Program& program) noexcept;

// The bytes that copy_frames() writes at most.
std::size_t frames_size(const LayoutPlan& plan) noexcept;

// Writes an unwind table for the copies that are made here, as __register_frame wants it, to `out`.
bool copy_frames(const Program& program, std::uint8_t* out) noexcept;

// Overwrites the originals' entries, and rewrites tables; both have to be writable. A table's entry
// that does not lead into its unit's original is left alone.
bool lead_to_copies(const Program& program) noexcept;

}  // namespace coz::layout

#endif  // LIBLAYOUT_REWRITING_H
