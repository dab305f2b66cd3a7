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

// Adds to a number that others may read meanwhile. One that is not aligned stays as it is.
template <typename Number>
void add_at_once(std::uint8_t* at, std::int64_t amount) noexcept {
  if (reinterpret_cast<std::uintptr_t>(at) % sizeof(Number) != 0) return;
  std::atomic_ref<Number> number(*reinterpret_cast<Number*>(at));
  number.store(static_cast<Number>(number.load(std::memory_order_relaxed) + amount),
               std::memory_order_relaxed);
}

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
    const std::int64_t old = moves_before[table.unit];
    const LayoutUnit& unit = layouts.plan.units[table.unit];
    const std::uint64_t target = leads_to({layouts.plan, layouts.image, moves_before}, table) -
                                 static_cast<std::uint64_t>(old);
    if (target < unit.begin || target - unit.begin >= unit.size) continue;
    std::uint8_t* const at = layouts.image + table.at;
    const std::int64_t amount = moves[table.unit] - old;
    if (table.width == 4) {
      add_at_once<std::int32_t>(at, amount);
    } else {
      add_at_once<std::int64_t>(at, amount);
    }
  }
}

}  // namespace coz::layout
