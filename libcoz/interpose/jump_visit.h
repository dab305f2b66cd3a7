// Visits by jump (patch/jump_entry.h): the functions that the entry calls. Signal-safe.
#ifndef LIBCOZ_INTERPOSE_JUMP_VISIT_H
#define LIBCOZ_INTERPOSE_JUMP_VISIT_H

namespace coz {

// Touches no vector register: its file is compiled without them, and a test looks at its code.
bool count_jump_visit(const void* site) noexcept;

void time_jump_visit(const void* site) noexcept;

}  // namespace coz

#endif  // LIBCOZ_INTERPOSE_JUMP_VISIT_H
