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
    Place place;
    if (!places_.empty() && places_.back().address == request.address) {
      place = places_.back();
    } else if (const char* reason = fill_slot_of(place, request)) {
      refusals.push_back({request.address, request.point, reason});
      continue;
    }
    place.point = request.point;
    places_.push_back(place);
  }
  return refusals;
}

const char* Breakpoints::fill_slot_of(Place& place, const Request& request) {
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
  place.address = request.address;
  place.slot = address;
  place.first_byte = plan.original.front();
  place.length = static_cast<std::uint8_t>(plan.original.size());
  place.code_size = static_cast<std::uint8_t>(plan.code.size());
  place.pushed = plan.pushed;
  return nullptr;
}

std::vector<Breakpoints::Refusal> Breakpoints::arm() {
  std::vector<Refusal> refusals;
  std::uintptr_t last = 0;
  bool is_written = false;
  for (const Place& place : places_) {
    if (place.address != last) is_written = write_code(place.address, &kBreakpoint, 1);
    last = place.address;
    if (!is_written) refusals.push_back({place.address, place.point, kUnwritable});
  }
  return refusals;
}

bool Breakpoints::disarm() noexcept {
  bool is_done = true;
  for (const Place& place : places_) {
    if (*static_cast<const volatile std::uint8_t*>(at(place.address)) == kBreakpoint) {
      is_done &= write_code(place.address, &place.first_byte, 1);
    }
  }
  return is_done;
}

const Breakpoints::Place* Breakpoints::find(std::uintptr_t address) const noexcept {
  const auto here = std::lower_bound(
      places_.begin(), places_.end(), address,
      [](const Place& place, std::uintptr_t wanted) { return place.address < wanted; });
  return here != places_.end() && here->address == address ? &*here : nullptr;
}

ProgramPosition Breakpoints::position_of(std::uintptr_t address) const noexcept {
  if (!slots_.contains(address)) return {address, 0};
  for (const Place& place : places_) {
    if (address < place.slot || address - place.slot >= kSlotSize) continue;
    const std::uintptr_t offset = address - place.slot;
    if (offset == 0) return {place.address, 0};
    if (offset < place.code_size) return {place.address, place.pushed};
    return {place.address + place.length, 0};
  }
  return {address, 0};
}

}  // namespace coz
