#include "linetable/elf/eh_frame.h"

#include <dwarf.h>
#include <gelf.h>

#include <cstdint>
#include <optional>

#include "linetable/elf/sections.h"
#include "unwind/frame_description.h"

namespace coz::linetable {
namespace {

constexpr std::uint8_t kRelation = 0x70;  // of an encoding: what addresses are relative to

// Addresses that are relative to themselves were added to where this process has the table:
// `moved` is the way from there to the file's own address space.
std::optional<CodeExtent> extent_of(const FrameDescription& entry, std::uint64_t moved) {
  const std::uint64_t size = entry.end - entry.begin;
  if ((entry.encoding & DW_EH_PE_indirect) != 0) return std::nullopt;
  switch (entry.encoding & kRelation) {
    case DW_EH_PE_absptr:
      return CodeExtent{entry.begin, entry.begin + size};
    case DW_EH_PE_pcrel:
      return CodeExtent{entry.begin + moved, entry.begin + moved + size};
    default:
      return std::nullopt;
  }
}

EhFrame read_table(TableBytes table, std::uint64_t address) {
  EhFrame result;
  TableCursor cursor(table);
  const std::uintptr_t begin = cursor.address();
  while (!cursor.at_end()) {
    const TableBytes body = cursor.take_bytes(cursor.take_length());
    FrameDescription entry;
    if (!read_frame_description(body, begin, entry)) continue;
    if (const auto extent = extent_of(entry, address - begin)) {
      (entry.is_signal_frame ? result.signal_frames : result.functions).push_back(*extent);
    }
  }
  return result;
}

}  // namespace

EhFrame read_eh_frame(Elf* elf) {
  EhFrame result;
  if (gelf_getclass(elf) != ELFCLASS64) return result;
  for_each_section(elf, [&](Elf_Scn* section, const GElf_Shdr& header, std::string_view name) {
    if (name != ".eh_frame" || header.sh_type == SHT_NOBITS) return;
    const Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return;
    result =
        read_table({static_cast<const std::uint8_t*>(data->d_buf), data->d_size}, header.sh_addr);
  });
  return result;
}

}  // namespace coz::linetable
