#include "unwind/loaded_object.h"

#include <dlfcn.h>

namespace coz {

bool find_loaded_object(std::uintptr_t address, LoadedObject& out) noexcept {
  dl_find_object found;
  if (_dl_find_object(reinterpret_cast<void*>(address), &found) != 0) return false;
  out.begin = reinterpret_cast<std::uintptr_t>(found.dlfo_map_start);
  out.end = reinterpret_cast<std::uintptr_t>(found.dlfo_map_end);
  out.unwind = reinterpret_cast<std::uintptr_t>(found.dlfo_eh_frame);
  return true;
}

}  // namespace coz
