// The unwind table's entry for an address: .eh_frame's FDE and CIE, found by .eh_frame_hdr
// (Linux Standard Base 5.0, sections 10.6 and 10.7).
//
// Signal-safe: reads what the loader has mapped, takes no lock, allocates nothing.
#ifndef LIBCOZ_UNWIND_FRAME_DESCRIPTION_H
#define LIBCOZ_UNWIND_FRAME_DESCRIPTION_H

#include <cstdint>

#include "kernel/loaded_object.h"
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

// False if the object has no table with an index, or there is no entry for the address.
bool find_frame_description(const LoadedObject& object, std::uintptr_t address,
                            FrameDescription& out) noexcept;

}  // namespace coz

#endif  // LIBCOZ_UNWIND_FRAME_DESCRIPTION_H
