#include "linetable/dwarf/unit_files.h"

#include <dwarf.h>

#include "linetable/dwarf/dwarf_handle.h"
#include "linetable/dwarf/source_path.h"

namespace coz::linetable {

UnitFiles::UnitFiles(Dwarf_Die& unit, TableBuilder& builder) : builder_(builder) {
  std::size_t count = 0;
  if (!read_files(unit, files_, count)) return;
  ids_.assign(count, kUnread);
  Dwarf_Attribute attribute;
  if (const char* dir = dwarf_formstring(dwarf_attr(&unit, DW_AT_comp_dir, &attribute))) {
    compilation_dir_ = dir;
  }
}

std::uint32_t UnitFiles::read(std::size_t number) {
  const char* path = dwarf_filesrc(files_, number, nullptr, nullptr);
  // "???" is what libdw puts in place of number 0 before DWARF 5, where it means "no file".
  if (path == nullptr || *path == '\0' || std::string_view(path) == "???") return kNoFile;
  // libdw has joined the compilation directory with the names of files in it, though not with those
  // in other relative directories. Where it is relative itself, the result does not show that.
  const std::string_view name = path;
  const bool joined =
      name.starts_with(compilation_dir_) && name.substr(compilation_dir_.size()).starts_with('/');
  return builder_.add_file(
      normalise_source_path(joined ? std::string_view() : compilation_dir_, name));
}

}  // namespace coz::linetable
