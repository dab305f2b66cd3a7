// Whether a loop around an inlined call or a line runs its code without passing where visits are
// counted: the compiler moved the beginning out of the loop, peeled the first iteration, or put
// the rest into a loop of its own. The debug information says nothing of this; the code does.
#ifndef LINETABLE_QUERY_BYPASSING_LOOPS_H
#define LINETABLE_QUERY_BYPASSING_LOOPS_H

#include <cstdint>
#include <span>

#include "linetable/elf/code_extent.h"
#include "linetable/plan/code_bytes.h"

namespace coz::linetable {

inline constexpr const char* kBypassed =
    "the compiler has moved its beginning out of a loop, whose iterations would not be counted";

// `counted`: the addresses at which visits are counted. `own`: the code of the call or line.
// `function`: that of the function around it. A loop counts if it leaves `own`: one that does not
// is the call's own, and each visit may run it many times.
//
// True means that visits would be missed. Jumps through a register or table are not followed, so
// that some such loops are not found. For x86-64; false on other processors.
[[nodiscard]] bool has_bypassing_loop(std::span<const std::uint64_t> counted,
                                      std::span<const CodeExtent> own,
                                      std::span<const CodeExtent> function, const CodeBytes& code);

}  // namespace coz::linetable

#endif  // LINETABLE_QUERY_BYPASSING_LOOPS_H
