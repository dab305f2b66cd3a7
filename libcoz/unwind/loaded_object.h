// What the dynamic loader has mapped at an address.
//
// Signal-safe: _dl_find_object (glibc 2.35) takes no lock.
#ifndef LIBCOZ_UNWIND_LOADED_OBJECT_H
#define LIBCOZ_UNWIND_LOADED_OBJECT_H

#include <cstdint>

namespace coz {

// A program or library in memory. Addresses are the process's.
struct LoadedObject {
  std::uintptr_t begin = 0;  // of its mapping
  std::uintptr_t end = 0;
  std::uintptr_t unwind = 0;  // the index of its unwind table, .eh_frame_hdr; 0 if it has none

  bool operator==(const LoadedObject&) const = default;
};

// False if no object is loaded at `address`; `out` is then as it was.
bool find_loaded_object(std::uintptr_t address, LoadedObject& out) noexcept;

}  // namespace coz

#endif  // LIBCOZ_UNWIND_LOADED_OBJECT_H
