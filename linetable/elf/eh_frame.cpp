#include "linetable/elf/eh_frame.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace coz::linetable {
namespace {

// Of the encodings of pointers (DW_EH_PE_…): how they are stored, and what they are relative to.
constexpr std::uint8_t kFormat = 0x0f;
constexpr std::uint8_t kRelation = 0x70;

// Reads encoded numbers, and never past the end.
class Reader {
 public:
  Reader(const std::uint8_t* begin, const std::uint8_t* end) : at_(begin), end_(end) {}

  [[nodiscard]] const std::uint8_t* at() const { return at_; }

  std::optional<std::uint8_t> byte() {
    std::uint8_t value = 0;
    if (!copy(value)) return std::nullopt;
    return value;
  }

  // Of signed formats the bits, to be added.
  std::optional<std::uint64_t> number(std::uint8_t encoding) {
    switch (encoding & kFormat) {
      case DW_EH_PE_absptr:
      case DW_EH_PE_udata8:
      case DW_EH_PE_sdata8:
        return as<std::uint64_t>();
      case DW_EH_PE_udata4:
        return as<std::uint32_t>();
      case DW_EH_PE_sdata4:
        return as<std::int32_t>();
      case DW_EH_PE_udata2:
        return as<std::uint16_t>();
      case DW_EH_PE_sdata2:
        return as<std::int16_t>();
      default:
        return std::nullopt;
    }
  }

  // Of what follows, as a number of seven bits to the byte.
  bool skip_length() {
    for (;;) {
      const auto part = byte();
      if (!part) return false;
      if ((*part & 0x80U) == 0) return true;
    }
  }

 private:
  template <typename T>
  bool copy(T& value) {
    if (static_cast<std::size_t>(end_ - at_) < sizeof(value)) return false;
    std::memcpy(&value, at_, sizeof(value));
    at_ += sizeof(value);
    return true;
  }

  template <typename T>
  std::optional<std::uint64_t> as() {
    T value{};
    if (!copy(value)) return std::nullopt;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  }

  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

class FrameReader {
 public:
  FrameReader(const unsigned char* identity, Elf_Data* data, std::uint64_t address)
      : identity_(identity), data_(data), address_(address) {}

  EhFrame read() {
    EhFrame table;
    Dwarf_Off offset = 0;
    Dwarf_Off next = 0;
    Dwarf_CFI_Entry entry;
    // An entry that cannot be read (-1 with a new offset) is passed over.
    for (int status = 0; status != 1; offset = next) {
      status = dwarf_next_cfi(identity_, data_, true, offset, &next, &entry);
      if (next <= offset) break;
      if (status != 0 || dwarf_cfi_cie_p(&entry)) continue;
      const Layout layout = layout_of(entry.fde.CIE_pointer);
      bool has_landing_pads = false;
      const auto extent = read_entry(entry.fde, layout, has_landing_pads);
      if (!extent) continue;
      if (has_landing_pads) table.with_landing_pads.push_back(*extent);
      (layout.is_signal_frame ? table.signal_frames : table.functions).push_back(*extent);
    }
    return table;
  }

 private:
  // What a CIE says of its entries: how they give addresses (nothing, if in a way that is not
  // known), and whether they are of signal frames.
  struct Layout {
    std::optional<std::uint8_t> encoding;
    std::optional<std::uint8_t> exceptions;  // the same for exception tables, if it has any
    bool is_signal_frame = false;
  };

  std::optional<CodeExtent> read_entry(const Dwarf_FDE& fde, const Layout& layout,
                                       bool& has_landing_pads) {
    const auto encoding = layout.encoding;
    if (!encoding) return std::nullopt;
    Reader reader(fde.start, fde.end);
    const auto begin = reader.number(*encoding);
    const auto size = reader.number(*encoding & kFormat);
    if (!begin || !size) return std::nullopt;
    CodeExtent extent{*begin, 0};
    if ((*encoding & kRelation) == DW_EH_PE_pcrel) {
      extent.begin += address_ + static_cast<std::uint64_t>(
                                     fde.start - static_cast<const std::uint8_t*>(data_->d_buf));
    }
    extent.end = extent.begin + *size;
    if (layout.exceptions && *layout.exceptions != DW_EH_PE_omit) {
      // One that cannot be read may be anything.
      const auto table = reader.skip_length() ? reader.number(*layout.exceptions) : std::nullopt;
      has_landing_pads = table.value_or(1) != 0;
    }
    return extent;
  }

  Layout layout_of(Dwarf_Off cie) {
    const auto [known, is_new] = layouts_.try_emplace(cie);
    if (!is_new) return known->second;
    Dwarf_Off next = 0;
    Dwarf_CFI_Entry entry;
    if (dwarf_next_cfi(identity_, data_, true, cie, &next, &entry) != 0) return {};
    if (!dwarf_cfi_cie_p(&entry)) return {};
    Layout layout = read_layout(entry.cie);
    const std::uint8_t relation =
        layout.encoding.value_or(DW_EH_PE_omit) & (kRelation | DW_EH_PE_indirect);
    const bool is_known = relation == DW_EH_PE_absptr || relation == DW_EH_PE_pcrel;
    if (!is_known) layout.encoding.reset();
    known->second = layout;
    return layout;
  }

  static Layout read_layout(const Dwarf_CIE& cie) {
    const std::string_view augmentation = cie.augmentation == nullptr ? "" : cie.augmentation;
    Layout layout{std::uint8_t{DW_EH_PE_absptr}, std::nullopt};
    if (augmentation.empty()) return layout;
    if (augmentation[0] != 'z') return {};
    Reader reader(cie.augmentation_data, cie.augmentation_data + cie.augmentation_data_size);
    for (const char what : augmentation.substr(1)) {
      if (what == 'S') layout.is_signal_frame = true;
      if (what == 'R') layout.encoding = reader.byte();
      if (what == 'L') {
        layout.exceptions = reader.byte();
        if (!layout.exceptions) return {};
      }
      if (what == 'P') {
        const auto encoding = reader.byte();
        if (!encoding || !reader.number(*encoding)) return {};
      }
    }
    return layout;
  }

  const unsigned char* identity_;
  Elf_Data* data_;
  std::uint64_t address_;
  std::unordered_map<Dwarf_Off, Layout> layouts_;  // by the CIE's offset
};

}  // namespace

EhFrame read_eh_frame(Elf* elf) {
  const char* identity = elf_getident(elf, nullptr);
  std::size_t names = 0;
  if (identity == nullptr || gelf_getclass(elf) != ELFCLASS64) return {};
  if (elf_getshdrstrndx(elf, &names) != 0) return {};
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr;
       section = elf_nextscn(elf, section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS) continue;
    const char* name = elf_strptr(elf, names, header.sh_name);
    if (name == nullptr || std::strcmp(name, ".eh_frame") != 0) continue;
    Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return {};
    return FrameReader(reinterpret_cast<const unsigned char*>(identity), data, header.sh_addr)
        .read();
  }
  return {};
}

}  // namespace coz::linetable
