// The source frames in scope around an interrupted or calling address.
//
// The innermost frame in scope counts. That is one of the inline chain of the address or, if the
// address lies outside the scope (in library code), of the call sites of the frames around it. The
// next frame in scope outwards is its caller.
#ifndef LIBCOZ_SAMPLING_CALL_CHAIN_H
#define LIBCOZ_SAMPLING_CALL_CHAIN_H

#include <cstddef>
#include <span>

#include "symbols/modules.h"

namespace coz {

// Writes the frames, innermost first, as many as `out` has room for; returns their number.
// `context` is the handler's ucontext_t. Signal-safe.
std::size_t find_frames(const Modules& modules, void* context, std::span<SourceFrame> out) noexcept;

// The same for the caller of this function. Not in a signal handler.
std::size_t find_calling_frames(const Modules& modules, std::span<SourceFrame> out) noexcept;

}  // namespace coz

#endif  // LIBCOZ_SAMPLING_CALL_CHAIN_H
