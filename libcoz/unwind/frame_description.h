// The unwind table's entry for an address: .eh_frame's FDE and CIE, found by .eh_frame_hdr
// (Linux Standard Base 5.0, sections 10.6 and 10.7).
//
// Signal-safe: it reads what the loader has mapped, takes no lock and allocates nothing.
#ifndef LIBCOZ_UNWIND_FRAME_DESCRIPTION_H
#define LIBCOZ_UNWIND_FRAME_DESCRIPTION_H

#include <cstdint>

#include "unwind/loaded_object.h"
#include "unwind/table_cursor.h"

namespace coz {

struct FrameDescription {
  std::uintptr_t begin = 0;  // of the instructions that it describes
  std::uintptr_t end = 0;
  // How the frame is described: first for all functions of a kind, then for this one.
  TableBytes common_program;
  TableBytes program;
  std::uint64_t code_unit = 1;
  std::int64_t data_unit = 1;
  std::uint64_t return_register = 0;
  std::uint8_t encoding = 0;  // of addresses in the programs
  bool is_signal_frame = false;
};

// The entry for `address`, by the object's index. False if the object has no table with an index,
// or there is no entry for the address.
bool find_frame_description(const LoadedObject& object, std::uintptr_t address,
                            FrameDescription& out) noexcept;

// The entry whose bytes after its length are `body`, of a table that begins at `table_begin`. False
// if it is damaged or no entry of a function (but what several entries have in common). For
// whoever reads the whole of a table, loaded or not.
bool read_frame_description(TableBytes body, std::uintptr_t table_begin,
                            FrameDescription& out) noexcept;

}  // namespace coz

#endif  // LIBCOZ_UNWIND_FRAME_DESCRIPTION_H
