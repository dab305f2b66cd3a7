#include "patch/breakpoints.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace coz {
namespace {

constexpr std::uint8_t kBreakpoint = 0xcc;
constexpr const char* kUnwritable = "the system does not allow code to be changed";
constexpr const char* kNoMemory = "there is no memory near it for the instruction there";
constexpr const char* kOtherCode = "the code in memory is not that of the file";

const void* at(std::uintptr_t address) noexcept { return reinterpret_cast<const void*>(address); }

}  // namespace

std::vector<Breakpoints::Refusal> Breakpoints::prepare(std::vector<Request> requests) {
  std::stable_sort(requests.begin(), requests.end(),
                   [](const Request& a, const Request& b) { return a.address < b.address; });
  std::vector<Refusal> refusals;
  for (const Request& request : requests) {
    Patch patch;
    if (!patches_.empty() && patches_.back().address == request.address) {
      patch = patches_.back();
    } else if (const char* reason = fill_slot_of(patch, request)) {
      refusals.push_back({request.address, request.point, reason});
      continue;
    }
    patch.point = request.point;
    patches_.push_back(patch);
  }
  return refusals;
}

const char* Breakpoints::fill_slot_of(Patch& patch, const Request& request) {
  const PatchPlan& plan = request.plan;
  if (std::memcmp(at(request.address), plan.original.data(), plan.original.size()) != 0) {
    return kOtherCode;
  }
  const std::uintptr_t address = slots_.free_near(request.address);
  Slot slot;
  if (address == 0 || !fill_slot(plan, {request.address, request.load_bias, address}, slot)) {
    return kNoMemory;
  }
  if (!write_code(address, slot.data(), slot.size())) return kUnwritable;
  slots_.take(address);
  patch.address = request.address;
  patch.slot = address;
  patch.first_byte = plan.original.front();
  patch.length = static_cast<std::uint8_t>(plan.original.size());
  patch.code_size = static_cast<std::uint8_t>(plan.code.size());
  patch.pushed = plan.pushed;
  return nullptr;
}

std::vector<Breakpoints::Refusal> Breakpoints::arm() {
  std::vector<Refusal> refusals;
  std::uintptr_t last = 0;
  bool is_written = false;
  for (const Patch& patch : patches_) {
    if (patch.address != last) is_written = write_code(patch.address, &kBreakpoint, 1);
    last = patch.address;
    if (!is_written) refusals.push_back({patch.address, patch.point, kUnwritable});
  }
  return refusals;
}

bool Breakpoints::disarm() noexcept {
  bool is_done = true;
  for (const Patch& patch : patches_) {
    if (*static_cast<const volatile std::uint8_t*>(at(patch.address)) == kBreakpoint) {
      is_done &= write_code(patch.address, &patch.first_byte, 1);
    }
  }
  return is_done;
}

const Breakpoints::Patch* Breakpoints::find(std::uintptr_t address) const noexcept {
  const auto here = std::lower_bound(
      patches_.begin(), patches_.end(), address,
      [](const Patch& patch, std::uintptr_t wanted) { return patch.address < wanted; });
  return here != patches_.end() && here->address == address ? &*here : nullptr;
}

ProgramPosition Breakpoints::position_of(std::uintptr_t address) const noexcept {
  if (!slots_.contains(address)) return {address, 0};
  for (const Patch& patch : patches_) {
    if (address < patch.slot || address - patch.slot >= kSlotSize) continue;
    const std::uintptr_t offset = address - patch.slot;
    if (offset == 0) return {patch.address, 0};
    if (offset < patch.code_size) return {patch.address, patch.pushed};
    return {patch.address + patch.length, 0};
  }
  return {address, 0};
}

}  // namespace coz
