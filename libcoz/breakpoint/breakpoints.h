// Breakpoint instructions of our own in the program's code: a visit to a progress point each time
// one is reached (docs/decisions/progress_points.md).
//
// prepare() and then arm() run before main, once each; they allocate, map memory near the code, and
// make the page of a place writable while they write one byte there. Between the two, whoever takes
// SIGTRAP must have been told of this object. The byte stays until the process ends: threads that
// come by never find it missing, since what stood there is executed elsewhere (displaced.h).
// Everything else is signal-safe, for any thread, also in children after fork, whose code has the
// breakpoints too. Must outlive all threads.
#ifndef LIBCOZ_BREAKPOINT_BREAKPOINTS_H
#define LIBCOZ_BREAKPOINT_BREAKPOINTS_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "breakpoint/displaced.h"
#include "progress/point.h"

namespace coz {

class Breakpoints {
 public:
  struct Wanted {
    std::uintptr_t address;
    Point* point;
  };

  // What cannot be had, and why.
  struct Refusal {
    Wanted wanted;
    const char* reason;
  };

  // Looks at the code and makes copies of it, but leaves it as it is.
  std::vector<Refusal> prepare(std::vector<Wanted> wanted);
  // Plants what was prepared.
  std::vector<Refusal> arm();

  bool is_empty() const noexcept { return planted_.empty(); }

  // If a thread, with these registers, has just run into one of ours: calls `visit(Point&)` for
  // each point that stands there, and makes the registers go on as if there was none. False if not.
  template <typename Visit>
  bool step_over(Registers& registers, Visit visit) const noexcept {
    const Planted* here = find(registers.rip - 1);
    if (here == nullptr) return false;
    for (const Planted* each = here; each != planted_.data() + planted_.size(); ++each) {
      if (each->address != here->address) break;
      visit(*each->point);
    }
    if (here->slot == 0) {
      emulate(here->instruction, here->address, registers);
    } else {
      registers.rip = here->slot;
    }
    return true;
  }

  // Where in the program a thread is that is in one of our slots; any other address as it is.
  std::uintptr_t in_program(std::uintptr_t rip) const noexcept;

 private:
  struct Planted {
    std::uintptr_t address = 0;
    std::uintptr_t slot = 0;  // 0: the instruction is emulated
    Instruction instruction;
    Point* point = nullptr;
  };
  // Slots that lie one behind the other.
  struct Slots {
    std::uintptr_t begin = 0;
    std::size_t used = 0;
    std::size_t room = 0;
  };

  const Planted* find(std::uintptr_t address) const noexcept;
  const char* prepare_one(Planted& place);
  const char* copy_to_slot(Planted& place, std::span<const std::uint8_t> bytes);
  Slots* slots_near(std::uintptr_t address);

  std::vector<Planted> planted_;  // by address
  std::vector<Slots> slots_;
};

}  // namespace coz

#endif  // LIBCOZ_BREAKPOINT_BREAKPOINTS_H
