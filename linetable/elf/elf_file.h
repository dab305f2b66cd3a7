// An ELF file on disk: what identifies it, and where its code lies.
//
// It owns the open file; what it hands out points into it. Addresses are in the file's own address
// space.
#ifndef LINETABLE_ELF_ELF_FILE_H
#define LINETABLE_ELF_ELF_FILE_H

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "linetable/elf/code_extent.h"

struct Elf;

namespace coz::linetable {

struct ElfCloser {
  int descriptor = -1;
  void operator()(Elf* elf) const noexcept;
};

class ElfFile {
 public:
  // Opens a file, once. Returns nullptr, or what is wrong with the file, to follow its name.
  [[nodiscard]] const char* open(const std::string& path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const struct ::stat& status() const { return status_; }
  [[nodiscard]] Elf* elf() const { return elf_.get(); }
  [[nodiscard]] const std::vector<std::uint8_t>& build_id() const { return build_id_; }

  // Whether it is an executable or a shared library: not an object file, nor a file of shared
  // debug information.
  [[nodiscard]] bool is_loadable() const { return is_loadable_; }

  // The lowest address at which the file is loaded.
  [[nodiscard]] std::uint64_t base_address() const { return base_address_; }

  // Whether code is loaded at `address`. Functions that the linker removed keep their debug
  // information, with an address (0, 1, -1) that is none of the program's.
  [[nodiscard]] bool is_code(std::uint64_t address) const;

  // Whether the file itself holds DWARF (and is not only a name for a file that does).
  [[nodiscard]] bool has_debug_info() const;

 private:
  void read_segments();
  void read_code_sections();

  std::string path_;
  struct ::stat status_{};
  std::unique_ptr<Elf, ElfCloser> elf_;
  std::vector<std::uint8_t> build_id_;
  std::uint64_t base_address_ = 0;
  bool is_loadable_ = false;
  std::vector<CodeExtent> code_;
};

}  // namespace coz::linetable

#endif  // LINETABLE_ELF_ELF_FILE_H
