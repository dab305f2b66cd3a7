#include "patch/breakpoints.h"

#include <algorithm>
#include <cstring>

namespace coz {
namespace {

constexpr std::uint8_t kBreakpoint = 0xcc;
constexpr const char* kUnwritable = "the system does not allow code to be changed";

const void* at(std::uintptr_t address) noexcept { return reinterpret_cast<const void*>(address); }

// Does not read into another page unless the instruction goes on there: it might not be mapped.
std::optional<Instruction> instruction_at(std::uintptr_t address,
                                          std::span<std::uint8_t> bytes) noexcept {
  const std::size_t left = page_size() - address % page_size();
  const std::size_t first = std::min(bytes.size(), left);
  std::memcpy(bytes.data(), at(address), first);
  const auto instruction = decode(bytes.first(first));
  if (instruction || first == bytes.size()) return instruction;
  std::memcpy(bytes.data() + first, at(address + first), bytes.size() - first);
  return decode(bytes);
}

}  // namespace

std::vector<Breakpoints::Refusal> Breakpoints::prepare(std::vector<Wanted> wanted) {
  std::stable_sort(wanted.begin(), wanted.end(),
                   [](const Wanted& a, const Wanted& b) { return a.address < b.address; });
  std::vector<Refusal> refusals;
  for (const Wanted& each : wanted) {
    Planted place;
    place.address = each.address;
    place.point = each.point;
    place.is_jump_wanted = each.by_jump;
    // Two points in one place have one breakpoint.
    if (!planted_.empty() && planted_.back().address == each.address) {
      place.slot = planted_.back().slot;
      place.instruction = planted_.back().instruction;
      place.first_byte = planted_.back().first_byte;
      planted_.back().is_last = false;
    } else if (const char* reason = prepare_one(place)) {
      refusals.push_back({each, reason});
      continue;
    }
    planted_.push_back(place);
  }
  prepare_jumps();
  return refusals;
}

std::vector<Breakpoints::Wanted> Breakpoints::not_by_jump() const {
  std::vector<Wanted> found;
  for (const Planted& place : planted_) {
    if (place.is_jump_wanted && place.trampoline == 0) {
      found.push_back({place.address, place.point, true});
    }
  }
  return found;
}

std::vector<Breakpoints::Refusal> Breakpoints::arm() {
  std::vector<Refusal> refusals;
  std::uintptr_t last = 0;
  bool is_written = false;
  for (const Planted& place : planted_) {
    if (place.address != last) {
      const auto jump = jump_to(place.address, place.trampoline);
      is_written = place.trampoline == 0
                       ? write_code(place.address, &kBreakpoint, 1)
                       : jump && write_code(place.address, jump->data(), jump->size());
    }
    last = place.address;
    if (!is_written) refusals.push_back({{place.address, place.point}, kUnwritable});
  }
  return refusals;
}

bool Breakpoints::disarm() noexcept {
  bool is_done = true;
  for (const Planted& place : planted_) {
    if (place.trampoline != 0) {
      is_done &= write_code(place.trampoline + kCountingSwitch, &kNoCounting, 1);
    } else if (*static_cast<const volatile std::uint8_t*>(at(place.address)) == kBreakpoint) {
      is_done &= write_code(place.address, &place.first_byte, 1);
    }
  }
  return is_done;
}

const char* Breakpoints::prepare_one(Planted& place) {
  std::array<std::uint8_t, kLongestInstruction> bytes{};
  const auto instruction = instruction_at(place.address, bytes);
  if (!instruction || instruction->kind == Instruction::Kind::kUnmovable) {
    return "the instruction there cannot be executed elsewhere";
  }
  place.instruction = *instruction;
  place.first_byte = bytes[0];
  return is_emulated(*instruction) ? nullptr : copy_to_slot(place, bytes);
}

const char* Breakpoints::copy_to_slot(Planted& place, std::span<const std::uint8_t> bytes) {
  constexpr const char* kNoMemory = "there is no memory near it for the instruction there";
  const std::uintptr_t address = slots_.free_near(place.address);
  if (address == 0) return kNoMemory;
  Slot slot;
  if (!fill_slot(place.instruction, bytes, place.address, address, slot)) return kNoMemory;
  if (!write_code(address, slot.data(), slot.size())) return kUnwritable;
  slots_.take(address);
  place.slot = address;
  return nullptr;
}

// When planted_ has got its final place in memory: trampolines hold addresses of its elements.
void Breakpoints::prepare_jumps() {
  for (std::size_t i = 0; i < planted_.size();) {
    std::size_t end = i + 1;
    bool is_wanted = planted_[i].is_jump_wanted;
    for (; end < planted_.size() && planted_[end].address == planted_[i].address; ++end) {
      is_wanted |= planted_[end].is_jump_wanted;
    }
    // A jump must not reach into what stands at the next place.
    const std::uintptr_t address = planted_[i].address;
    const bool has_room =
        (end == planted_.size() || planted_[end].address - address >= kJumpSize) &&
        !is_kept_within(address + 1, address + kJumpSize);
    if (!is_wanted || !has_room || jump_entry_ == 0 || !prepare_jump(planted_[i])) {
      has_instructions_ = true;
    }
    for (std::size_t same = i; same < end; ++same) {
      planted_[same].trampoline = planted_[i].trampoline;
    }
    i = end;
  }
}

bool Breakpoints::is_kept_within(std::uintptr_t begin, std::uintptr_t end) const noexcept {
  return std::any_of(kept_.begin(), kept_.end(),
                     [&](std::uintptr_t kept) { return kept >= begin && kept < end; });
}

bool Breakpoints::prepare_jump(Planted& place) {
  // No further than the instructions go: another page might not be mapped.
  constexpr std::size_t kMost = kJumpSize - 1 + kLongestInstruction;
  std::array<std::uint8_t, kMost> bytes{};
  const std::size_t left = page_size() - place.address % page_size();
  const std::size_t first = std::min(bytes.size(), left);
  std::memcpy(bytes.data(), at(place.address), first);
  auto over = jumped_over(std::span(bytes).first(first));
  if (!over || over->length > first) return false;
  const std::uintptr_t address = trampolines_.free_near(place.address);
  if (address == 0 || !jump_to(place.address, address)) return false;
  place.jump = Trampoline::build(
      *over, bytes,
      {place.address, address, jump_entry_, reinterpret_cast<std::uintptr_t>(&place)});
  if (!place.jump || !write_code(address, place.jump->code().data(), kTrampolineSize)) {
    return false;
  }
  trampolines_.take(address);
  place.trampoline = address;
  return true;
}

const Breakpoints::Planted* Breakpoints::find(std::uintptr_t address) const noexcept {
  const auto here = std::lower_bound(
      planted_.begin(), planted_.end(), address,
      [](const Planted& place, std::uintptr_t wanted) { return place.address < wanted; });
  const bool is_ours = here != planted_.end() && here->address == address && here->trampoline == 0;
  return is_ours ? &*here : nullptr;
}

SeenAt Breakpoints::in_program(std::uintptr_t rip) const noexcept {
  if (trampolines_.contains(rip)) {
    for (const Planted& place : planted_) {
      if (!place.jump || rip - place.trampoline >= kTrampolineSize) continue;
      return place.jump->seen(rip - place.trampoline);
    }
  }
  if (!slots_.contains(rip)) return {rip, 0};
  for (const Planted& place : planted_) {
    if (place.slot == 0 || rip < place.slot || rip >= place.slot + kSlotSize) continue;
    return {place.address + (rip == place.slot ? 0 : place.instruction.length), 0};
  }
  return {rip, 0};
}

}  // namespace coz
