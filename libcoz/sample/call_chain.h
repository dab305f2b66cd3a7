// From an interrupted context to a place in scope.
//
// The innermost frame in scope counts: first the inline chain of the sampled address; where that
// lies outside the scope (library code), the call sites of the frames around it.
#ifndef LIBCOZ_SAMPLE_CALL_CHAIN_H
#define LIBCOZ_SAMPLE_CALL_CHAIN_H

#include <optional>

#include "line/modules.h"

namespace coz {

// Once, before any thread is sampled: makes the unwinder set itself up.
void prepare_call_chains() noexcept;

// `context` is the handler's ucontext_t. Signal-safe.
std::optional<Place> find_place(const Modules& modules, void* context) noexcept;

}  // namespace coz

#endif  // LIBCOZ_SAMPLE_CALL_CHAIN_H
