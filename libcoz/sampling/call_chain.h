// From an interrupted context to the places in scope around it.
//
// The innermost frame in scope counts: first the inline chain of the sampled address; where that
// lies outside the scope (library code), the call sites of the frames around it. The next one
// outwards is its caller.
#ifndef LIBCOZ_SAMPLING_CALL_CHAIN_H
#define LIBCOZ_SAMPLING_CALL_CHAIN_H

#include <cstddef>
#include <span>

#include "symbols/modules.h"

namespace coz {

// The places, innermost first, as many as `out` has room for; returns their number. `context` is
// the handler's ucontext_t. Signal-safe.
std::size_t find_frames(const Modules& modules, void* context, std::span<SourceFrame> out) noexcept;

// The same around the caller of this function, which is not in a signal handler.
std::size_t find_calling_frames(const Modules& modules, std::span<SourceFrame> out) noexcept;

}  // namespace coz

#endif  // LIBCOZ_SAMPLING_CALL_CHAIN_H
