#include "linetable/elf/elf_file.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "linetable/elf/sections.h"

namespace coz::linetable {

void ElfCloser::operator()(Elf* elf) const noexcept {
  elf_end(elf);
  close(descriptor);
}

const char* ElfFile::open(const std::string& path) {
  elf_version(EV_CURRENT);
  path_ = path;
  // O_NONBLOCK: a named pipe must not make us wait for its writer.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (file < 0) return "cannot be opened";
  const bool is_regular = fstat(file, &status_) == 0 && S_ISREG(status_.st_mode);
  Elf* const elf = is_regular ? elf_begin(file, ELF_C_READ_MMAP, nullptr) : nullptr;
  if (elf == nullptr) {
    close(file);
    return is_regular ? "is not an ELF file" : "is not a regular file";
  }
  elf_ = std::unique_ptr<Elf, ElfCloser>(elf, ElfCloser{file});
  if (elf_kind(elf) != ELF_K_ELF) return "is not an ELF file";
  GElf_Ehdr header;
  if (gelf_getehdr(elf, &header) == nullptr) return "is a damaged ELF file";
  is_loadable_ = header.e_type == ET_EXEC || header.e_type == ET_DYN;
  read_segments();
  read_code_sections();
  const void* id = nullptr;
  const ssize_t size = dwelf_elf_gnu_build_id(elf, &id);
  const auto* bytes = static_cast<const std::uint8_t*>(id);
  if (size > 0) build_id_.assign(bytes, bytes + size);
  return nullptr;
}

void ElfFile::read_segments() {
  std::size_t count = 0;
  if (elf_getphdrnum(elf(), &count) != 0) return;
  base_address_ = std::numeric_limits<std::uint64_t>::max();
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf(), static_cast<int>(i), &segment) == nullptr) continue;
    if (segment.p_type != PT_LOAD) continue;
    base_address_ = std::min(base_address_, segment.p_vaddr);
    if ((segment.p_flags & PF_X) != 0) {
      code_.push_back({segment.p_vaddr, segment.p_vaddr + segment.p_memsz});
    }
  }
  if (base_address_ == std::numeric_limits<std::uint64_t>::max()) base_address_ = 0;
}

// Sections say more exactly than segments what is code: with older linkers the first executable
// segment begins at address 0, with the ELF header, where removed functions seem to lie.
void ElfFile::read_code_sections() {
  std::vector<CodeExtent> sections;
  for_each_section(elf(), [&](Elf_Scn*, const GElf_Shdr& header, std::string_view) {
    if (holds_code(header)) sections.push_back({header.sh_addr, header.sh_addr + header.sh_size});
  });
  if (!sections.empty()) code_ = std::move(sections);
}

bool ElfFile::is_code(std::uint64_t address) const { return any_contains(code_, address); }

bool ElfFile::has_debug_info() const {
  bool found = false;
  for_each_section(elf(), [&](Elf_Scn*, const GElf_Shdr& header, std::string_view name) {
    found = found ||
            (header.sh_type != SHT_NOBITS && (name == ".debug_info" || name == ".zdebug_info"));
  });
  return found;
}

}  // namespace coz::linetable
