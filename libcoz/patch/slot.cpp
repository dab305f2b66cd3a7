#include "patch/slot.h"

#include <cstring>

namespace coz {
namespace {

// jmp [rip + 0], and where to.
constexpr std::array<std::uint8_t, 6> kJump = {0xff, 0x25, 0, 0, 0, 0};
static_assert(kMaxPatchCode + kJump.size() + sizeof(std::uint64_t) <= kSlotSize);

template <typename Number>
Number load(const std::uint8_t* bytes) noexcept {
  Number number = 0;
  std::memcpy(&number, bytes, sizeof number);
  return number;
}

template <typename Number>
void store(std::uint8_t* bytes, Number number) noexcept {
  std::memcpy(bytes, &number, sizeof number);
}

}  // namespace

bool fill_slot(const PatchPlan& plan, const SlotAddresses& addresses, Slot& out) noexcept {
  const std::size_t size = plan.code.size();
  if (size > kMaxPatchCode) return false;
  out.fill(0xcc);
  std::memcpy(out.data(), plan.code.data(), size);
  for (const std::uint8_t offset : plan.addresses_at) {
    std::uint8_t* const field = out.data() + offset;
    store(field, load<std::uint64_t>(field) + addresses.load_bias);
  }
  if (plan.displacement_at != 0) {
    std::uint8_t* const field = out.data() + plan.displacement_at;
    const std::int64_t moved =
        load<std::int32_t>(field) + static_cast<std::int64_t>(addresses.original - addresses.slot);
    if (moved != static_cast<std::int32_t>(moved)) return false;
    store(field, static_cast<std::int32_t>(moved));
  }
  std::memcpy(out.data() + size, kJump.data(), kJump.size());
  store(out.data() + size + kJump.size(), std::uint64_t{addresses.original + plan.original.size()});
  return true;
}

}  // namespace coz
