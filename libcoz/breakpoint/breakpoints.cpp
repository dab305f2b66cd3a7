#include "breakpoint/breakpoints.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

namespace coz {
namespace {

constexpr std::uint8_t kBreakpoint = 0xcc;
constexpr const char* kUnwritable = "the system does not allow code to be changed";
// Operands relative to rip reach 2 GiB; most lie within the same file as the code.
constexpr std::uintptr_t kNear = std::uintptr_t{1} << 30;
constexpr std::uintptr_t kStep = std::uintptr_t{1} << 20;

std::uintptr_t page_size() noexcept { return static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE)); }

void* at(std::uintptr_t address) noexcept { return reinterpret_cast<void*>(address); }

// Free memory within reach of `address`; 0 if there is none.
std::uintptr_t map_near(std::uintptr_t address, std::size_t size) noexcept {
  const std::uintptr_t page = address & ~(page_size() - 1);
  for (std::uintptr_t distance = kStep; distance < kNear; distance += kStep) {
    for (const bool below : {true, false}) {
      if (below && page < distance + kStep) continue;
      const std::uintptr_t hint = below ? page - distance : page + distance;
      void* const got = mmap(at(hint), size, PROT_READ | PROT_EXEC,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      if (got == at(hint)) return hint;
      if (got != MAP_FAILED) munmap(got, size);  // before Linux 4.17 it is only a hint
    }
  }
  return 0;
}

// Code of a file is read and executed, and so it is again when this is over.
bool write_code(std::uintptr_t address, const void* bytes, std::size_t size) noexcept {
  const std::uintptr_t page = address & ~(page_size() - 1);
  const std::size_t length = address + size - page;
  // Executable all the while: other threads of early constructors may be in it, and so are we.
  // NOLINTNEXTLINE(clang-analyzer-security.MmapWriteExec)
  if (mprotect(at(page), length, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
  if (size == 1) {
    *static_cast<volatile std::uint8_t*>(at(address)) = *static_cast<const std::uint8_t*>(bytes);
  } else {
    std::memcpy(at(address), bytes, size);
  }
  return mprotect(at(page), length, PROT_READ | PROT_EXEC) == 0;
}

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
    // Two points in one place have one breakpoint.
    if (!planted_.empty() && planted_.back().address == each.address) {
      place.slot = planted_.back().slot;
      place.instruction = planted_.back().instruction;
    } else if (const char* reason = prepare_one(place)) {
      refusals.push_back({each, reason});
      continue;
    }
    planted_.push_back(place);
  }
  return refusals;
}

std::vector<Breakpoints::Refusal> Breakpoints::arm() {
  std::vector<Refusal> refusals;
  for (const Planted& place : planted_) {
    if (!write_code(place.address, &kBreakpoint, 1)) {
      refusals.push_back({{place.address, place.point}, kUnwritable});
    }
  }
  return refusals;
}

const char* Breakpoints::prepare_one(Planted& place) {
  std::array<std::uint8_t, kLongestInstruction> bytes{};
  const auto instruction = instruction_at(place.address, bytes);
  if (!instruction || instruction->kind == Instruction::Kind::kUnmovable) {
    return "the instruction there cannot be executed elsewhere";
  }
  place.instruction = *instruction;
  return is_emulated(*instruction) ? nullptr : copy_to_slot(place, bytes);
}

const char* Breakpoints::copy_to_slot(Planted& place, std::span<const std::uint8_t> bytes) {
  constexpr const char* kNoMemory = "there is no memory near it for the instruction there";
  Slots* slots = slots_near(place.address);
  if (slots == nullptr) return kNoMemory;
  const std::uintptr_t address = slots->begin + slots->used * kSlotSize;
  Slot slot;
  if (!fill_slot(place.instruction, bytes, place.address, address, slot)) return kNoMemory;
  if (!write_code(address, slot.data(), slot.size())) return kUnwritable;
  ++slots->used;
  place.slot = address;
  return nullptr;
}

Breakpoints::Slots* Breakpoints::slots_near(std::uintptr_t address) {
  for (Slots& slots : slots_) {
    const std::uintptr_t distance =
        slots.begin > address ? slots.begin - address : address - slots.begin;
    if (distance < kNear && slots.used < slots.room) return &slots;
  }
  const std::size_t size = page_size();
  const std::uintptr_t begin = map_near(address, size);
  if (begin == 0) return nullptr;
  slots_.push_back({begin, 0, size / kSlotSize});
  return &slots_.back();
}

const Breakpoints::Planted* Breakpoints::find(std::uintptr_t address) const noexcept {
  const auto here = std::lower_bound(
      planted_.begin(), planted_.end(), address,
      [](const Planted& place, std::uintptr_t wanted) { return place.address < wanted; });
  return here != planted_.end() && here->address == address ? &*here : nullptr;
}

std::uintptr_t Breakpoints::in_program(std::uintptr_t rip) const noexcept {
  const bool in_slots = std::any_of(slots_.begin(), slots_.end(), [rip](const Slots& slots) {
    return rip >= slots.begin && rip < slots.begin + slots.room * kSlotSize;
  });
  if (!in_slots) return rip;
  for (const Planted& place : planted_) {
    if (place.slot == 0 || rip < place.slot || rip >= place.slot + kSlotSize) continue;
    return place.address + (rip == place.slot ? 0 : place.instruction.length);
  }
  return rip;
}

}  // namespace coz
