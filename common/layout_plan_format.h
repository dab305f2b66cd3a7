// The layout plan: what has to be rewritten in a program so that its functions can lie elsewhere.
//
// Written by the helper `coz-linetable layout` (linetable/layout/), mapped by the runtime
// (liblayout/), which moves the functions when the program starts (docs/decisions/layouts.md).
//
//   header | units | fixups | entries | tables | commons | frames | text
//
// Every section starts at a multiple of 8 bytes. All integers are little-endian. Addresses have 32
// bits and are relative to the program's lowest loaded address.
//
// A unit moves as a whole; what is inside it keeps its distances. So everything is corrected by
// how far two units have moved: `unit`, below, is the one that a field refers to, or kStays.
//
//  units    what is copied, in ascending order and without overlap
//  fixups   the 32-bit distances in a unit to what is outside it, in the order of units
//  entries  where the original code is overwritten by a jump to its copy
//  tables   jump tables and addresses of labels, in the program's data
//  commons  the CIEs of .eh_frame that frames need, by their offsets there
//  frames   the FDEs of units, likewise, in the order of their commons
//  text     the helper's answer about this plan, JSON; not for the runtime
#ifndef COMMON_LAYOUT_PLAN_FORMAT_H
#define COMMON_LAYOUT_PLAN_FORMAT_H

#include <cstdint>

namespace coz {

inline constexpr char kLayoutPlanMagic[8] = {'C', 'O', 'Z', 'L', 'A', 'Y', 'P', '\n'};
// Raised, too, when the planner learns to move other things: older plans are then made anew.
inline constexpr std::uint32_t kLayoutPlanVersion = 2;
inline constexpr std::uint32_t kStays = 0xffffffffU;
inline constexpr std::uint32_t kEntryJumpSize = 5;  // jmp by a 32-bit distance

// Tells that a file is the one that was planned for.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified_seconds = 0;
  std::int64_t modified_nanoseconds = 0;

  bool operator==(const FileIdentity&) const = default;
};

struct LayoutUnit {
  std::uint32_t begin = 0;
  std::uint32_t size = 0;
  std::uint32_t first_fixup = 0;  // the last one is before that of the next unit
};

struct LayoutFixup {
  std::uint32_t at = 0;  // of the field, in the original
  std::uint32_t unit = 0;
};

struct LayoutEntry {
  std::uint32_t at = 0;
  std::uint32_t unit = 0;
};

struct LayoutTable {
  std::uint32_t at = 0;
  std::uint32_t unit = 0;
  std::uint32_t width = 0;  // 4: a distance from `base`; 8: an address
  std::uint32_t base = 0;
};

struct LayoutCommon {
  std::uint32_t offset = 0;  // of the entry, with its length field
  std::uint32_t size = 0;
  std::uint16_t pointer_offset = 0;  // of the personality, where its address is relative; 0: none
  std::uint16_t pointer_width = 0;   // 4 or 8
};

struct LayoutFrame {
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
  std::uint32_t unit = 0;
  std::uint32_t common = 0;
  std::uint16_t pointer_offset = 0;  // of the language-specific data, as above
  std::uint16_t pointer_width = 0;
  std::uint16_t begin_width = 0;  // of the begin, which stands behind the first 8 bytes
  std::uint16_t padding = 0;
};

struct LayoutPlanHeader {
  char magic[8] = {};
  std::uint32_t version = 0;
  std::uint32_t alignment = 0;  // a copy lies as its original modulo this; a power of two
  FileIdentity identity;
  std::uint64_t base = 0;            // in the file's own address space
  std::uint64_t image_size = 0;      // in memory
  std::uint64_t register_frame = 0;  // the program's own __register_frame, relative; 0: none
  std::uint32_t eh_frame = 0;        // of the section
  std::uint32_t eh_frame_size = 0;
  std::uint32_t unit_count = 0;
  std::uint32_t fixup_count = 0;
  std::uint32_t entry_count = 0;
  std::uint32_t table_count = 0;
  std::uint32_t common_count = 0;
  std::uint32_t frame_count = 0;
  std::uint64_t text_size = 0;
};

}  // namespace coz

#endif  // COMMON_LAYOUT_PLAN_FORMAT_H
