// Walks the stack from a function to its caller, and on, by the unwind tables of what is loaded.
//
// Memory that a table leads to is read only if it is readable (checked_memory.h): where tables are
// wrong the walk ends, and the program does not. Nothing is allocated, no lock is taken, and of
// libc only _dl_find_object (glibc 2.35) is called.
//
// Signal-safe. A walk belongs to one thread, and is over before the stack that it walks changes.
#ifndef LIBCOZ_UNWIND_STACK_WALK_H
#define LIBCOZ_UNWIND_STACK_WALK_H

#include <cstdint>

#include "unwind/checked_memory.h"
#include "unwind/frame_description.h"
#include "unwind/frame_rules.h"
#include "unwind/machine.h"

namespace coz {

class StackWalk {
 public:
  // Starts at the innermost frame, with these registers. `is_exact`: `pc` is the instruction that
  // the frame is at, as in an interrupted function, and not the one after a call.
  StackWalk(const FrameRegisters& registers, bool is_exact) noexcept
      : registers_(registers), is_exact_(is_exact) {}

  const FrameRegisters& registers() const noexcept { return registers_; }

  // An address within the instruction that the frame is at: a return address belongs to what
  // follows the call, and the call may be a function's last instruction.
  std::uintptr_t address() const noexcept { return is_exact_ ? registers_.pc : registers_.pc - 1; }

  // Whether the frame was interrupted by a signal. Before the first step: what the constructor was
  // told.
  bool is_interrupted() const noexcept { return is_exact_; }

  // Goes to the caller, also out of a signal handler. False at the outermost frame, where there is
  // no unwind table, and where the table leads nowhere.
  bool step() noexcept;

 private:
  bool step_by(const FrameDescription& description) noexcept;
  bool step_out_of_handler() noexcept;
  bool frame_address(const FrameRules& rules, std::uintptr_t& out) noexcept;
  bool recover(const RegisterRule& rule, std::uintptr_t cfa, std::uintptr_t& value) noexcept;

  FrameRegisters registers_;
  bool is_exact_;
  CheckedMemory memory_;
};

// Whether the calling thread is in a signal handler, as far as its innermost 256 frames show.
bool is_in_signal_handler() noexcept;

}  // namespace coz

#endif  // LIBCOZ_UNWIND_STACK_WALK_H
