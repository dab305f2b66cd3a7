#include "linetable/elf/elf_file.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

namespace coz::linetable {

ElfFile::~ElfFile() {
  if (elf_ != nullptr) elf_end(elf_);
  if (fd_ >= 0) close(fd_);
}

ElfFile::ElfFile(ElfFile&& other) noexcept { *this = std::move(other); }

ElfFile& ElfFile::operator=(ElfFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(status_, other.status_);
  std::swap(fd_, other.fd_);
  std::swap(elf_, other.elf_);
  std::swap(build_id_, other.build_id_);
  std::swap(debug_link_, other.debug_link_);
  std::swap(base_address_, other.base_address_);
  std::swap(code_, other.code_);
  std::swap(is_loadable_, other.is_loadable_);
  return *this;
}

const char* ElfFile::open(const std::string& path) {
  elf_version(EV_CURRENT);
  path_ = path;
  // O_NONBLOCK: a named pipe must not make us wait for its writer.
  fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd_ < 0) return "cannot be opened";
  if (fstat(fd_, &status_) != 0 || !S_ISREG(status_.st_mode)) return "is not a regular file";
  elf_ = elf_begin(fd_, ELF_C_READ_MMAP, nullptr);
  if (elf_ == nullptr || elf_kind(elf_) != ELF_K_ELF) return "is not an ELF file";
  GElf_Ehdr header;
  if (gelf_getehdr(elf_, &header) == nullptr) return "is a damaged ELF file";
  is_loadable_ = header.e_type == ET_EXEC || header.e_type == ET_DYN;
  read_segments();
  read_code_sections();
  read_notes();
  return nullptr;
}

void ElfFile::read_segments() {
  std::size_t count = 0;
  if (elf_getphdrnum(elf_, &count) != 0) return;
  base_address_ = std::numeric_limits<std::uint64_t>::max();
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf_, static_cast<int>(i), &segment) == nullptr) continue;
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
  for (Elf_Scn* section = elf_nextscn(elf_, nullptr); section != nullptr;
       section = elf_nextscn(elf_, section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    constexpr auto kCode = SHF_ALLOC | SHF_EXECINSTR;
    if ((header.sh_flags & kCode) != kCode) continue;
    sections.push_back({header.sh_addr, header.sh_addr + header.sh_size});
  }
  if (!sections.empty()) code_ = std::move(sections);
}

void ElfFile::read_notes() {
  const void* id = nullptr;
  const ssize_t size = dwelf_elf_gnu_build_id(elf_, &id);
  if (size > 0) {
    const auto* bytes = static_cast<const std::uint8_t*>(id);
    build_id_.assign(bytes, bytes + size);
  }
  GElf_Word crc = 0;
  if (const char* name = dwelf_elf_gnu_debuglink(elf_, &crc)) debug_link_ = DebugLink{name, crc};
}

bool ElfFile::is_code(std::uint64_t address) const {
  return std::any_of(code_.begin(), code_.end(), [address](const CodeExtent& extent) {
    return extent.begin <= address && address < extent.end;
  });
}

bool ElfFile::has_debug_info() const {
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf_, &names) != 0) return false;
  for (Elf_Scn* section = elf_nextscn(elf_, nullptr); section != nullptr;
       section = elf_nextscn(elf_, section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS) continue;
    const char* name = elf_strptr(elf_, names, header.sh_name);
    if (name == nullptr) continue;
    const std::string_view section_name(name);
    if (section_name == ".debug_info" || section_name == ".zdebug_info") return true;
  }
  return false;
}

std::string to_hex(const std::vector<std::uint8_t>& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const std::uint8_t byte : bytes) {
    hex.push_back(kDigits[byte >> 4]);
    hex.push_back(kDigits[byte & 15]);
  }
  return hex;
}

}  // namespace coz::linetable
