#include "linetable/layout/program_code.h"

#include <algorithm>

namespace coz::linetable {

const CodeSection* ProgramCode::section_of(std::int64_t address) const {
  const auto after = std::upper_bound(
      sections.begin(), sections.end(), address,
      [](std::int64_t a, const CodeSection& section) { return a < section.extent.begin; });
  if (after == sections.begin()) return nullptr;
  const CodeSection& section = *(after - 1);
  return section.extent.contains(address) ? &section : nullptr;
}

std::span<const std::uint8_t> ProgramCode::at(std::int64_t address) const {
  const CodeSection* const section = section_of(address);
  if (section == nullptr) return {};
  return section->bytes.subspan(static_cast<std::size_t>(address - section->extent.begin));
}

}  // namespace coz::linetable
