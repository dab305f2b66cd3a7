// Breakpoints of our own in the program's code: a visit to a progress point each time one is
// reached (docs/decisions/progress_points.md). One is a breakpoint instruction, which takes a
// signal, or, where that is wanted and possible, a jump to a trampoline.
//
// prepare() and then arm() run before main, once each; they allocate, map memory near the code, and
// make the page of a place writable while they write there: one byte, or five for a jump. Between
// the two, whoever takes SIGTRAP must have been told of this object, and must stay so until the
// process ends. What is written stays while threads come by: what stood there is executed elsewhere
// (displaced.h, trampoline.h). disarm() ends the counting, once, by any thread, not in a signal
// handler, while others may be in it: it writes single bytes only, and copies and trampolines stay
// for those. A jump must not be wanted where another thread may be, or
// where control may come to within the five bytes from elsewhere; neither is seen from here.
// Everything else is signal-safe, for any thread, also in children after fork, whose code has the
// breakpoints too. Must outlive all threads.
#ifndef LIBCOZ_PATCH_BREAKPOINTS_H
#define LIBCOZ_PATCH_BREAKPOINTS_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "patch/code_memory.h"
#include "patch/displaced.h"
#include "patch/trampoline.h"
#include "progress/point.h"

namespace coz {

class Breakpoints {
 public:
  struct Wanted {
    std::uintptr_t address;
    Point* point;
    bool by_jump = false;
  };

  // What cannot be had, and why.
  struct Refusal {
    Wanted wanted;
    const char* reason;
  };

  // Jumps may be planted; `entry` is what prepare_jump_entry() returned. Before prepare().
  void use_jumps(std::uintptr_t entry) noexcept { jump_entry_ = entry; }

  // Nothing that begins there may be executed elsewhere: somebody else watches it. Before
  // prepare().
  void keep_in_place(std::uintptr_t address) { kept_.push_back(address); }

  // Looks at the code and makes copies of it, but leaves it as it is.
  std::vector<Refusal> prepare(std::vector<Wanted> wanted);
  // After prepare(): those that shall be jumps and will be instructions.
  std::vector<Wanted> not_by_jump() const;
  // Plants what was prepared.
  std::vector<Refusal> arm();
  // After arm(): instructions are taken out, jumps stay and lead past the counting. False when the
  // system does not allow some of it: those count on.
  [[nodiscard]] bool disarm() noexcept;

  bool is_empty() const noexcept { return planted_.empty(); }
  // Whether SIGTRAP is needed. Signal-safe.
  bool has_instructions() const noexcept { return has_instructions_; }

  // Calls `each(Point&)` for the points of a jump; `site` is what the trampoline passed on.
  template <typename Each>
  static void for_each_at(const void* site, Each each) noexcept {
    const auto* planted = static_cast<const Planted*>(site);
    for (; !planted->is_last; ++planted) each(*planted->point);
    each(*planted->point);
  }

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

  // Where in the program a thread is that is in one of our slots or trampolines; any other address
  // as it is.
  SeenAt in_program(std::uintptr_t rip) const noexcept;

 private:
  struct Planted {
    std::uintptr_t address = 0;
    std::uintptr_t slot = 0;        // 0: no copy; the instruction is emulated, or there is a jump
    std::uintptr_t trampoline = 0;  // 0: a breakpoint instruction
    Instruction instruction;
    Point* point = nullptr;
    std::optional<Trampoline> jump;
    std::uint8_t first_byte = 0;  // of what stood there
    bool is_jump_wanted = false;
    bool is_last = true;  // at its address
  };

  const Planted* find(std::uintptr_t address) const noexcept;
  const char* prepare_one(Planted& place);
  const char* copy_to_slot(Planted& place, std::span<const std::uint8_t> bytes);
  void prepare_jumps();
  bool prepare_jump(Planted& place);
  bool is_kept_within(std::uintptr_t begin, std::uintptr_t end) const noexcept;

  std::vector<Planted> planted_;  // by address
  CodeMemory slots_{kSlotSize};
  CodeMemory trampolines_{kTrampolineSize};
  std::vector<std::uintptr_t> kept_;
  std::uintptr_t jump_entry_ = 0;
  bool has_instructions_ = false;
};

}  // namespace coz

#endif  // LIBCOZ_PATCH_BREAKPOINTS_H
