#include "lifecycle/point_setup.h"

#include <string.h>

#include <optional>
#include <string>
#include <utility>

#include "common/text.h"
#include "kernel/message.h"

namespace coz {
namespace {

constexpr const char* kNobody = "none";

// In memory. nullopt when one of them lies outside the file's code.
std::optional<std::vector<std::uintptr_t>> addresses_of(const LocationPoint& wanted,
                                                        const Loading& loading) {
  std::vector<std::uintptr_t> addresses;
  for (const LocationPoint::Entry& entry : wanted.entries) {
    const std::uintptr_t address = loading.load_bias + entry.address;
    const std::size_t size = entry.plan ? entry.plan->original.size() : 1;
    if (address < loading.begin || address + size > loading.end) {
      message("%s: %s has no code at %#lx; its visits are not counted", wanted.name.c_str(),
              wanted.binary.c_str(), static_cast<unsigned long>(address));
      return std::nullopt;
    }
    addresses.push_back(address);
  }
  return addresses;
}

}  // namespace

void PointSetup::prepare(std::string_view list) {
  std::vector<std::string> problems;
  for (const LocationPoint& wanted : parse_location_points(list, problems)) {
    records_.push_back({wanted.name, kind_name(wanted.kind), prepare_one(wanted)});
  }
  for (const std::string& problem : problems) message("%s", problem.c_str());
  report(breakpoints_.prepare(std::exchange(requests_, {})));
}

void PointSetup::arm() { report(breakpoints_.arm()); }

// Returns what counts its visits.
const char* PointSetup::prepare_one(const LocationPoint& wanted) {
  const char* name = wanted.name.c_str();
  if (wanted.by == CountedBy::kSamples) {
    return take_samples(wanted) ? name_of(CountedBy::kSamples, kCountedByNames) : kNobody;
  }
  const auto loading = find_loading(wanted.binary.c_str());
  Point* point = loading ? points_.find_or_add(wanted.kind, name) : nullptr;
  if (point == nullptr) {
    message("%s: %s is not loaded at the start; its visits are not counted", name,
            wanted.binary.c_str());
    return kNobody;
  }
  const auto addresses = addresses_of(wanted, *loading);
  if (!addresses) return kNobody;
  if (wanted.by == CountedBy::kHardware && take_hardware(wanted, *point, *addresses)) {
    return name_of(CountedBy::kHardware, kCountedByNames);
  }
  if (!wanted.has_plans()) return kNobody;
  point->times_visits.store(true, std::memory_order_relaxed);
  for (std::size_t i = 0; i < addresses->size(); ++i) {
    requests_.push_back({(*addresses)[i], loading->load_bias, *wanted.entries[i].plan, point});
  }
  return name_of(CountedBy::kBreakpoint, kCountedByNames);
}

bool PointSetup::take_samples(const LocationPoint& wanted) {
  const auto line = modules_.find_line(wanted.name);
  Point* point = line ? points_.find_or_add(wanted.kind, wanted.name.c_str()) : nullptr;
  if (point == nullptr) {
    message("%s is not a line of what is loaded; its samples are not counted", wanted.name.c_str());
    return false;
  }
  point->times_visits.store(true, std::memory_order_relaxed);
  sampler_.add_point(*line, *point);
  return true;
}

// False, after a message: a breakpoint instruction has to do, if there can be one.
bool PointSetup::take_hardware(const LocationPoint& wanted, Point& point,
                               const std::vector<std::uintptr_t>& addresses) {
  const long error = counters_.add(point, addresses);
  if (error == 0) return true;
  message("%s: no hardware breakpoint (%s); %s", wanted.name.c_str(),
          strerror(static_cast<int>(-error)),
          wanted.has_plans() ? "a breakpoint instruction counts its visits instead"
                             : "its visits are not counted");
  return false;
}

void PointSetup::report(const std::vector<Breakpoints::Refusal>& refusals) {
  for (const Breakpoints::Refusal& refusal : refusals) {
    const char* name = refusal.point->name;
    message("%s: no breakpoint can be set at %#lx (%s); visits there are not counted", name,
            static_cast<unsigned long>(refusal.address), refusal.reason);
    for (PointRecord& record : records_) {
      if (record.name == name) record.by = kNobody;
    }
  }
}

void PointSetup::stop() noexcept {
  counters_.stop();
  if (!breakpoints_.disarm()) {
    message(
        "breakpoints stay in the code, which the system does not allow to be changed any more: "
        "visits to progress points still cost the program time");
  }
}

}  // namespace coz
