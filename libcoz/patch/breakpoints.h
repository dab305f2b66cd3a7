// Breakpoint instructions in the program's code: a visit to a progress point each time a thread
// reaches one (docs/decisions/progress_points.md).
//
// What a breakpoint instruction replaces is executed in a slot (patch/slot.h), by the plan that the
// helper made of it; nothing is decoded here. What is written stays while threads pass.
//
// prepare() and then arm() run before main, once each; they allocate, map memory near the code, and
// make a page of the program writable while they write one byte there. Between the two, whoever
// handles SIGTRAP must have been told of this object, and must handle it until the process ends.
// disarm() ends the counting, once, from any thread, not in a signal handler; threads may be in
// slots, which therefore stay. Everything else is signal-safe, for any thread, also in children
// after fork, whose code has the breakpoints too. Must outlive all threads.
#ifndef LIBCOZ_PATCH_BREAKPOINTS_H
#define LIBCOZ_PATCH_BREAKPOINTS_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/patch_plan.h"
#include "patch/code_memory.h"
#include "patch/slot.h"
#include "progress/point.h"

namespace coz {

// Where a thread is that may be in a slot.
struct ProgramPosition {
  std::uintptr_t address = 0;  // of an instruction of the program's
  std::uintptr_t pushed = 0;   // bytes on the stack that are not there yet at `address`
};

class Breakpoints {
 public:
  struct Request {
    std::uintptr_t address = 0;  // in memory
    std::uintptr_t load_bias = 0;
    PatchPlan plan;
    Point* point = nullptr;
  };

  // A request that cannot be met, and why.
  struct Refusal {
    std::uintptr_t address = 0;
    const Point* point = nullptr;
    const char* reason = "";
  };

  // Compares the code with the plans and fills slots, but leaves the code as it is.
  std::vector<Refusal> prepare(std::vector<Request> requests);
  // Writes the breakpoint instructions.
  std::vector<Refusal> arm();
  // Restores the code. False when the system does not allow some of it: those count on.
  [[nodiscard]] bool disarm() noexcept;

  bool is_empty() const noexcept { return patches_.empty(); }

  // `trapped_at` is where a trap has left a thread. If it was a breakpoint instruction of ours:
  // calls `visit(Point&)` for each point that stands there, and returns where the thread has to go
  // on, with all other registers as they are. 0 if not.
  template <typename Visit>
  std::uintptr_t step_over(std::uintptr_t trapped_at, Visit visit) const noexcept {
    const Patch* const here = find(trapped_at - 1);
    if (here == nullptr) return 0;
    const Patch* const end = patches_.data() + patches_.size();
    for (const Patch* each = here; each != end && each->address == here->address; ++each) {
      visit(*each->point);
    }
    return here->slot;
  }

  // Any address that is in no slot is returned as it is.
  ProgramPosition position_of(std::uintptr_t address) const noexcept;

 private:
  // One for each point; those at one address share a slot.
  struct Patch {
    std::uintptr_t address = 0;
    std::uintptr_t slot = 0;
    Point* point = nullptr;
    std::uint8_t first_byte = 0;  // of the original
    std::uint8_t length = 0;      // of the original
    std::uint8_t code_size = 0;   // of the slot, without the jump back
    std::uint8_t pushed = 0;      // as in the plan
  };

  const Patch* find(std::uintptr_t address) const noexcept;
  const char* fill_slot_of(Patch& patch, const Request& request);

  std::vector<Patch> patches_;  // by address
  CodeMemory slots_;
};

}  // namespace coz

#endif  // LIBCOZ_PATCH_BREAKPOINTS_H
