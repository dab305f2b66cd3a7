// Going through the sections and symbols of an ELF file. What cannot be read is passed over.
#ifndef LINETABLE_ELF_SECTIONS_H
#define LINETABLE_ELF_SECTIONS_H

#include <gelf.h>

#include <cstddef>
#include <string_view>

namespace coz::linetable {

// Calls visit(Elf_Scn*, const GElf_Shdr&, std::string_view name) for each section.
template <typename Visit>
void for_each_section(Elf* elf, Visit visit) {
  std::size_t names = 0;
  const bool has_names = elf_getshdrstrndx(elf, &names) == 0;
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr;
       section = elf_nextscn(elf, section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    const char* name = has_names ? elf_strptr(elf, names, header.sh_name) : nullptr;
    visit(section, header, std::string_view(name == nullptr ? "" : name));
  }
}

inline bool holds_code(const GElf_Shdr& section) {
  constexpr auto kCode = SHF_ALLOC | SHF_EXECINSTR;
  return (section.sh_flags & kCode) == kCode;
}

// Calls visit(const GElf_Sym&, const char* name) for each defined symbol with a name, of the
// tables of the type `table` (SHT_SYMTAB or SHT_DYNSYM). False when there is no such table.
template <typename Visit>
bool for_each_symbol(Elf* elf, unsigned table, Visit visit) {
  bool has_table = false;
  for_each_section(elf, [&](Elf_Scn* section, const GElf_Shdr& header, std::string_view) {
    if (header.sh_type != table || header.sh_entsize == 0) return;
    Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr) return;
    has_table = true;
    const auto count = static_cast<int>(header.sh_size / header.sh_entsize);
    GElf_Sym symbol;
    for (int i = 0; i < count && gelf_getsym(data, i, &symbol) != nullptr; ++i) {
      if (symbol.st_shndx == SHN_UNDEF) continue;
      const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
      if (name != nullptr && *name != '\0') visit(symbol, name);
    }
  });
  return has_table;
}

}  // namespace coz::linetable

#endif  // LINETABLE_ELF_SECTIONS_H
