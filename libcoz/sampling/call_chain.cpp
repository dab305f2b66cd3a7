#include "sampling/call_chain.h"

#include "unwind/loaded_object.h"
#include "unwind/stack_walk.h"

namespace coz {
namespace {

// A sample under more frames of libraries than this counts as out of scope.
constexpr int kMaxFrames = 64;

std::size_t find_along(StackWalk walk, const Modules& modules,
                       std::span<SourceFrame> out) noexcept {
  std::size_t found = 0;
  for (int frame = 0; frame < kMaxFrames; ++frame) {
    found += modules.find(walk.address(), out.subspan(found));
    if (found == out.size() || !walk.step()) break;
  }
  return found;
}

}  // namespace

std::size_t find_frames(const Modules& modules, void* context,
                        std::span<SourceFrame> out) noexcept {
  return find_along(StackWalk(interrupted_registers(context), true), modules, out);
}

[[gnu::noinline]] std::size_t find_calling_frames(const Modules& modules,
                                                  std::span<SourceFrame> out) noexcept {
  return find_along(StackWalk(current_registers(), true), modules, out);
}

}  // namespace coz
