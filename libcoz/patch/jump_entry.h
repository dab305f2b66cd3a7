// What trampolines call (trampoline.h): keeps every register as the program had it, flags and
// vectors too, and has the visit counted.
//
// Two functions count. The first, at every visit, must touch no vector register, and says whether
// the second is to be called, which may touch any; only then are they saved. Both are signal-safe,
// get what the trampoline was built with (Trampoline::Addresses::site), and are called with the
// direction flag clear and the stack aligned. Unwinding from within them, or from the entry, goes
// on at the place in the program.
#ifndef LIBCOZ_PATCH_JUMP_ENTRY_H
#define LIBCOZ_PATCH_JUMP_ENTRY_H

#include <cstdint>

namespace coz {

using CountVisit = bool (*)(const void* site) noexcept;
using TimeVisit = void (*)(const void* site) noexcept;

// To be given to trampolines; 0 where there is none: on other machines, and on processors whose
// vector registers cannot be saved by a program. Before any trampoline runs.
[[nodiscard]] std::uintptr_t prepare_jump_entry(CountVisit count, TimeVisit time) noexcept;

}  // namespace coz

#endif  // LIBCOZ_PATCH_JUMP_ENTRY_H
