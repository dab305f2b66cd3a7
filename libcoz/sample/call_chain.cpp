#include "sample/call_chain.h"

#include <ucontext.h>
#include <unwind.h>

namespace coz {
namespace {

// Deep recursion in a library ends somewhere; beyond this a sample counts as out of scope.
constexpr int kMostFrames = 64;

struct Walk {
  const Modules* modules;
  std::span<Place> wanted;
  std::size_t found = 0;
  int frames = 0;
};

std::uintptr_t interrupted_address(void* context) noexcept {
  const auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
#else
  return static_cast<std::uintptr_t>(machine.pc);
#endif
}

_Unwind_Reason_Code visit_frame(_Unwind_Context* frame, void* argument) noexcept {
  Walk& walk = *static_cast<Walk*>(argument);
  int is_exact = 0;
  const std::uintptr_t address = _Unwind_GetIPInfo(frame, &is_exact);
  if (address == 0 || ++walk.frames > kMostFrames) return _URC_END_OF_STACK;
  // A return address belongs to what follows the call; the call is just before it.
  walk.found +=
      walk.modules->find(is_exact != 0 ? address : address - 1, walk.wanted.subspan(walk.found));
  return walk.found == walk.wanted.size() ? _URC_END_OF_STACK : _URC_NO_REASON;
}

}  // namespace

void prepare_call_chains() noexcept {
  // The unwinder's first walk initialises it: not in a handler. It allocates nothing, and finds
  // unwind tables by _dl_find_object (glibc 2.35), which takes no lock.
  static const Modules none;
  Place place;
  Walk walk{&none, {&place, 1}};
  _Unwind_Backtrace(visit_frame, &walk);
}

std::size_t find_places(const Modules& modules, void* context, std::span<Place> out) noexcept {
  if (modules.find(interrupted_address(context), out) == out.size()) return out.size();
  // Out through this handler and the kernel's signal frame into the frames that it interrupted.
  return find_callers(modules, out);
}

std::size_t find_callers(const Modules& modules, std::span<Place> out) noexcept {
  Walk walk{&modules, out};
  _Unwind_Backtrace(visit_frame, &walk);
  return walk.found;
}

}  // namespace coz
