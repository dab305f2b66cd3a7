#include "liblayout/switching.h"

#include <atomic>
#include <cstring>

namespace coz::layout {
namespace {

// notrack jmp *distance(%rip): under indirect branch tracking, too, it may lead anywhere.
constexpr std::uint8_t kJump[] = {0x3e, 0xff, 0x25};
constexpr std::uint8_t kTrap = 0xcc;
constexpr std::size_t kJumpSize = sizeof kJump + 4;
static_assert(kJumpSize < kStubSize);

// The CIE and the FDE of stubs: the return address is on top of the stack. The FDE's addresses, and
// the CIE's distance from it, are filled in.
constexpr std::uint8_t kFrames[] = {
    20,   0,    0,  0, 0,  0, 0, 0, 1, 0,  // length, no FDE, version, no augmentation
    1,    0x78, 16,                   // alignment of code 1, of data -8; the return address is r16
    0x0c, 7,    8,                    // the frame is at rsp + 8,
    0x90, 1,                          // and the return address in front of it
    0,    0,    0,  0, 0,  0,         //
    28,   0,    0,  0, 28, 0, 0, 0};  // length, distance of the CIE
static_assert(sizeof kFrames + 2 * sizeof(std::uint64_t) + 12 <= kStubFramesSize);

}  // namespace

bool write_stubs(const Layouts& layouts, std::uint8_t* stubs) noexcept {
  for (std::size_t i = 0; i < layouts.plan.entries.size(); ++i) {
    std::uint8_t* const stub = stubs + i * kStubSize;
    const std::int64_t distance =
        reinterpret_cast<std::uint8_t*>(&layouts.slots[i]) - (stub + kJumpSize);
    if (distance != static_cast<std::int32_t>(distance)) return false;
    const auto field = static_cast<std::int32_t>(distance);
    std::memcpy(stub, kJump, sizeof kJump);
    std::memcpy(stub + sizeof kJump, &field, sizeof field);
    stub[kJumpSize] = kTrap;
  }
  return true;
}

void select_layout(const Layouts& layouts, std::size_t before, std::size_t layout) noexcept {
  const auto moves = layouts.of(layout);
  for (std::size_t i = 0; i < layouts.plan.entries.size(); ++i) {
    const LayoutEntry& entry = layouts.plan.entries[i];
    const auto copy = reinterpret_cast<std::uint64_t>(layouts.image + entry.at + moves[entry.unit]);
    std::atomic_ref(layouts.slots[i]).store(copy, std::memory_order_relaxed);
  }
  if (!layouts.has_tables || before == layout) return;
  const auto moves_before = layouts.of(before);
  for (const LayoutTable& table : layouts.plan.tables) {
    std::uint8_t* const at = layouts.image + table.at;
    if (!is_switched(table) || reinterpret_cast<std::uintptr_t>(at) % sizeof(std::int32_t) != 0) {
      continue;
    }
    std::atomic_ref<std::int32_t> entry(*reinterpret_cast<std::int32_t*>(at));
    std::int32_t distance = entry.load(std::memory_order_relaxed);
    const std::int64_t old = moves_before[table.unit];
    const std::int64_t original = std::int64_t{table.base} + distance - old;
    const LayoutUnit& unit = layouts.plan.units[table.unit];
    if (original < unit.begin || original - unit.begin >= unit.size) continue;
    const std::int64_t next = distance + moves[table.unit] - old;
    entry.compare_exchange_strong(distance, static_cast<std::int32_t>(next),
                                  std::memory_order_relaxed);
  }
}

void write_stub_frames(const std::uint8_t* stubs, std::size_t size, std::uint8_t* out) noexcept {
  const std::uint64_t extent[] = {reinterpret_cast<std::uint64_t>(stubs), size};
  std::memset(out, 0, kStubFramesSize);
  std::memcpy(out, kFrames, sizeof kFrames);
  std::memcpy(out + sizeof kFrames, extent, sizeof extent);
}

}  // namespace coz::layout
