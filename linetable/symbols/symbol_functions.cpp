#include "linetable/symbols/symbol_functions.h"

#include <gelf.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "linetable/elf/code_space.h"
#include "linetable/elf/eh_frame.h"
#include "linetable/symbols/demangle.h"
#include "linetable/symbols/symbol_ranges.h"

namespace coz::linetable {
namespace {

// The sections that functions lie in.
class FunctionSections {
 public:
  explicit FunctionSections(Elf* elf) {
    std::size_t names = 0;
    if (elf_getshdrstrndx(elf, &names) != 0) return;
    for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr;
         section = elf_nextscn(elf, section)) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) == nullptr) continue;
      constexpr auto kCode = SHF_ALLOC | SHF_EXECINSTR;
      if ((header.sh_flags & kCode) != kCode) continue;
      const char* name = elf_strptr(elf, names, header.sh_name);
      if (name != nullptr && is_linkage_table(name)) continue;
      sections_.push_back({header.sh_addr, header.sh_addr + header.sh_size});
    }
  }

  // The section around `address`; nullptr where no function can be.
  [[nodiscard]] const CodeExtent* around(std::uint64_t address) const {
    const auto found =
        std::find_if(sections_.begin(), sections_.end(), [address](const CodeExtent& section) {
          return section.begin <= address && address < section.end;
        });
    return found == sections_.end() ? nullptr : &*found;
  }

 private:
  static bool is_linkage_table(std::string_view name) {
    return name == ".plt" || name.starts_with(".plt.") || name == ".iplt";
  }

  std::vector<CodeExtent> sections_;
};

std::optional<Symbol> to_symbol(const GElf_Sym& entry, const char* name,
                                const FunctionSections& sections) {
  if (entry.st_shndx == SHN_UNDEF || entry.st_shndx == SHN_ABS) return std::nullopt;
  if (name == nullptr || *name == '\0') return std::nullopt;
  const CodeExtent* section = sections.around(entry.st_value);
  if (section == nullptr) return std::nullopt;
  Symbol symbol{entry.st_value, entry.st_size, section->end, name};
  const unsigned type = GELF_ST_TYPE(entry.st_info);
  const unsigned binding = GELF_ST_BIND(entry.st_info);
  symbol.binding = binding == STB_LOCAL  ? Symbol::Binding::kLocal
                   : binding == STB_WEAK ? Symbol::Binding::kWeak
                                         : Symbol::Binding::kGlobal;
  if (type == STT_GNU_IFUNC) {
    symbol.kind = Symbol::Kind::kIfunc;
  } else if (type == STT_NOTYPE) {
    // Local ones mark loops and the like, in code by hand.
    if (symbol.binding == Symbol::Binding::kLocal) return std::nullopt;
    symbol.kind = Symbol::Kind::kLabel;
  } else if (type != STT_FUNC) {
    return std::nullopt;
  }
  return symbol;
}

// The symbols of functions in the table of this type (SHT_SYMTAB or SHT_DYNSYM); nothing where
// there is none with entries.
std::optional<std::vector<Symbol>> read_symbols(Elf* elf, unsigned table,
                                                const FunctionSections& sections) {
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr;
       section = elf_nextscn(elf, section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != table) continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr || header.sh_entsize == 0) return std::nullopt;
    std::vector<Symbol> symbols;
    const auto count = static_cast<int>(header.sh_size / header.sh_entsize);
    for (int i = 0; i < count; ++i) {
      GElf_Sym entry;
      if (gelf_getsym(data, i, &entry) == nullptr) break;
      const char* name = elf_strptr(elf, header.sh_link, entry.st_name);
      if (const auto symbol = to_symbol(entry, name, sections)) symbols.push_back(*symbol);
    }
    return symbols;
  }
  return std::nullopt;
}

std::vector<Symbol> symbols_of(const ElfFile& binary, const ElfFile& debug_file,
                               const FunctionSections& sections) {
  if (auto symbols = read_symbols(binary.elf(), SHT_SYMTAB, sections)) return *symbols;
  if (auto symbols = read_symbols(debug_file.elf(), SHT_SYMTAB, sections)) return *symbols;
  return read_symbols(binary.elf(), SHT_DYNSYM, sections).value_or(std::vector<Symbol>());
}

std::string name_by_offset(const std::string& binary, std::uint64_t offset) {
  char text[32];
  std::snprintf(text, sizeof(text), "+0x%" PRIx64, offset);
  return binary.substr(binary.rfind('/') + 1) + text;
}

}  // namespace

std::size_t add_symbol_functions(const ElfFile& binary, const ElfFile& debug_file,
                                 TableBuilder& builder) {
  const FunctionSections sections(binary.elf());
  EhFrame unwound = read_eh_frame(binary.elf());
  std::erase_if(unwound.functions, [&](CodeExtent& extent) {
    const CodeExtent* section = sections.around(extent.begin);
    if (section != nullptr) extent.end = std::min(extent.end, section->end);
    return section == nullptr;
  });
  std::vector<Symbol> symbols = symbols_of(binary, debug_file, sections);
  std::erase_if(symbols, [&](const Symbol& symbol) {
    return std::any_of(
        unwound.signal_frames.begin(), unwound.signal_frames.end(),
        [&](const CodeExtent& e) { return e.begin <= symbol.begin && symbol.begin < e.end; });
  });
  const CodeSpace code(binary);
  Demangler demangler;
  const std::uint32_t line = builder.add_line(builder.add_file(binary.path()), 0);
  std::size_t added = 0;
  for (const FunctionRange& range :
       function_ranges(std::move(symbols), std::move(unwound.functions))) {
    if (!code.is_code(range.code.begin) || !code.fits(range.code.end)) continue;
    const std::uint32_t function =
        range.name.empty()
            ? builder.add_function(name_by_offset(binary.path(), code.relative(range.function)))
            : builder.add_function(demangler(std::string(without_variant(range.name)).c_str()));
    builder.add_symbol(code.relative(range.code.begin), code.relative(range.code.end), function,
                       line);
    ++added;
  }
  return added;
}

}  // namespace coz::linetable
