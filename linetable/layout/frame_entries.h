// Every entry of .eh_frame with what changes when its code, or the table, lies elsewhere.
#ifndef LINETABLE_LAYOUT_FRAME_ENTRIES_H
#define LINETABLE_LAYOUT_FRAME_ENTRIES_H

#include <cstdint>
#include <span>

#include "linetable/layout/program_code.h"

namespace coz::linetable {

// Reads the section's `bytes`, which are loaded at `address` (relative). Returns nullptr, or what
// stands in the way of moving code: an encoding that is not one of those that compilers use.
[[nodiscard]] const char* read_frame_entries(std::span<const std::uint8_t> bytes,
                                             std::uint32_t address, FrameTable& out);

}  // namespace coz::linetable

#endif  // LINETABLE_LAYOUT_FRAME_ENTRIES_H
