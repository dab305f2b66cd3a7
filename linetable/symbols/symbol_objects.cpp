#include "linetable/symbols/symbol_objects.h"

#include <gelf.h>
#include <pthread.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "linetable/elf/code_extent.h"
#include "linetable/elf/code_space.h"
#include "linetable/elf/sections.h"
#include "linetable/symbols/demangle.h"

namespace coz::linetable {
namespace {

constexpr std::uint64_t kMinSize = sizeof(pthread_mutex_t);

// Those of variables that change: not tables that only the loader writes.
std::vector<CodeExtent> writable_sections(Elf* elf) {
  std::vector<CodeExtent> sections;
  for_each_section(elf, [&](Elf_Scn*, const GElf_Shdr& header, std::string_view name) {
    constexpr auto kVariable = SHF_ALLOC | SHF_WRITE;
    const auto flags = header.sh_flags & (kVariable | SHF_TLS);
    if (flags != kVariable || name.starts_with(".data.rel.ro")) return;
    sections.push_back({header.sh_addr, header.sh_addr + header.sh_size});
  });
  return sections;
}

}  // namespace

void add_symbol_objects(const ElfFile& binary, const ElfFile& debug_file, TableBuilder& builder) {
  const std::vector<CodeExtent> sections = writable_sections(binary.elf());
  const CodeSpace space(binary);
  const auto add = [&](const GElf_Sym& entry, const char* name) {
    const bool is_variable = GELF_ST_TYPE(entry.st_info) == STT_OBJECT &&
                             entry.st_shndx != SHN_ABS && any_contains(sections, entry.st_value);
    constexpr std::uint64_t kMaxSize = std::numeric_limits<std::uint32_t>::max();
    if (!is_variable || entry.st_size < kMinSize || !space.fits(entry.st_value)) return;
    const auto size = static_cast<std::uint32_t>(std::min(entry.st_size, kMaxSize));
    builder.add_object(space.relative(entry.st_value), size, demangled(name));
  };
  if (!for_each_symbol(binary.elf(), SHT_SYMTAB, add) &&
      !for_each_symbol(debug_file.elf(), SHT_SYMTAB, add)) {
    for_each_symbol(binary.elf(), SHT_DYNSYM, add);
  }
}

}  // namespace coz::linetable
