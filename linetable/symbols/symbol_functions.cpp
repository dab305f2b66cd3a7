#include "linetable/symbols/symbol_functions.h"

#include <gelf.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "linetable/elf/code_space.h"
#include "linetable/elf/eh_frame.h"
#include "linetable/elf/sections.h"
#include "linetable/symbols/demangle.h"
#include "linetable/symbols/symbol_ranges.h"

namespace coz::linetable {
namespace {

// The sections that functions lie in: not the procedure linkage table.
class FunctionSections {
 public:
  explicit FunctionSections(Elf* elf) {
    for_each_section(elf, [&](Elf_Scn*, const GElf_Shdr& header, std::string_view name) {
      const bool is_linkage_table = name == ".plt" || name.starts_with(".plt.") || name == ".iplt";
      if (!holds_code(header) || is_linkage_table) return;
      sections_.push_back({header.sh_addr, header.sh_addr + header.sh_size});
    });
  }

  // The section around `address`; nullptr where no function can be.
  [[nodiscard]] const CodeExtent* around(std::uint64_t address) const {
    const auto found =
        std::find_if(sections_.begin(), sections_.end(),
                     [address](const CodeExtent& section) { return section.contains(address); });
    return found == sections_.end() ? nullptr : &*found;
  }

 private:
  std::vector<CodeExtent> sections_;
};

std::optional<Symbol> to_symbol(const GElf_Sym& entry, const char* name,
                                const FunctionSections& sections) {
  const CodeExtent* section = sections.around(entry.st_value);
  if (entry.st_shndx == SHN_ABS || section == nullptr) return std::nullopt;
  Symbol symbol{entry.st_value, entry.st_size, section->end, name};
  const unsigned type = GELF_ST_TYPE(entry.st_info);
  const unsigned binding = GELF_ST_BIND(entry.st_info);
  symbol.binding = binding == STB_LOCAL  ? Symbol::Binding::kLocal
                   : binding == STB_WEAK ? Symbol::Binding::kWeak
                                         : Symbol::Binding::kGlobal;
  if (type == STT_GNU_IFUNC) {
    symbol.kind = Symbol::Kind::kIfunc;
  } else if (type == STT_NOTYPE) {
    // Local ones mark loops and the like in handwritten assembly.
    if (symbol.binding == Symbol::Binding::kLocal) return std::nullopt;
    symbol.kind = Symbol::Kind::kLabel;
  } else if (type != STT_FUNC) {
    return std::nullopt;
  }
  return symbol;
}

// The symbols of functions: of .symtab, which may be the debug file's, else of .dynsym.
std::vector<Symbol> symbols_of(const ElfFile& binary, const ElfFile& debug_file,
                               const FunctionSections& sections) {
  std::vector<Symbol> symbols;
  const auto add = [&](const GElf_Sym& entry, const char* name) {
    if (const auto symbol = to_symbol(entry, name, sections)) symbols.push_back(*symbol);
  };
  if (!for_each_symbol(binary.elf(), SHT_SYMTAB, add) &&
      !for_each_symbol(debug_file.elf(), SHT_SYMTAB, add)) {
    for_each_symbol(binary.elf(), SHT_DYNSYM, add);
  }
  return symbols;
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
  EhFrame eh_frame = read_eh_frame(binary.elf());
  std::erase_if(eh_frame.functions, [&](CodeExtent& extent) {
    const CodeExtent* section = sections.around(extent.begin);
    if (section != nullptr) extent.end = std::min(extent.end, section->end);
    return section == nullptr;
  });
  std::vector<Symbol> symbols = symbols_of(binary, debug_file, sections);
  std::erase_if(symbols, [&](const Symbol& symbol) {
    return any_contains(eh_frame.signal_frames, symbol.begin);
  });
  const CodeSpace code(binary);
  const std::uint32_t line = builder.add_line(builder.add_file(binary.path()), 0);
  std::size_t added = 0;
  for (const FunctionRange& range :
       function_ranges(std::move(symbols), std::move(eh_frame.functions))) {
    if (!code.is_code(range.code.begin) || !code.fits(range.code.end)) continue;
    const std::uint32_t function =
        range.name.empty()
            ? builder.add_function(name_by_offset(binary.path(), code.relative(range.function)))
            : builder.add_function(demangled(std::string(without_variant(range.name)).c_str()));
    builder.add_symbol(code.relative(range.code.begin), code.relative(range.code.end), function,
                       line);
    ++added;
  }
  return added;
}

}  // namespace coz::linetable
