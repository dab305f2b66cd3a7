#include "linetable/dwarf/unit_files.h"

#include <dwarf.h>

#include "linetable/dwarf/source_path.h"
#include "linetable/dwarf/units.h"

namespace coz::linetable {

std::string path_of_file(Dwarf_Files* files, std::size_t number, std::string_view compilation_dir) {
  const char* path = dwarf_filesrc(files, number, nullptr, nullptr);
  // "???" is what libdw puts in place of number 0 before DWARF 5, where it means "no file".
  if (path == nullptr || *path == '\0' || std::string_view(path) == "???") return {};
  // libdw has joined the compilation directory with the names of files in it, though not with those
  // in other relative directories. Where it is relative itself, the result does not show that.
  const std::string_view name = path;
  const bool is_joined =
      name.starts_with(compilation_dir) && name.substr(compilation_dir.size()).starts_with('/');
  return normalise_source_path(is_joined ? std::string_view() : compilation_dir, name);
}

std::string_view compilation_dir_of(Dwarf_Die& unit) {
  Dwarf_Attribute attribute;
  const char* dir = dwarf_formstring(dwarf_attr_integrate(&unit, DW_AT_comp_dir, &attribute));
  return dir == nullptr ? std::string_view() : dir;
}

std::string split_file_of(Dwarf_Die& unit) {
  Dwarf_Attribute attribute;
  const char* name = dwarf_formstring(dwarf_attr(&unit, DW_AT_dwo_name, &attribute));
  if (name == nullptr) {
    name = dwarf_formstring(dwarf_attr(&unit, DW_AT_GNU_dwo_name, &attribute));
  }
  return normalise_source_path(compilation_dir_of(unit), name == nullptr ? "?.dwo" : name);
}

UnitFiles::UnitFiles(Dwarf_Die& unit, TableBuilder& builder) : builder_(builder) {
  std::size_t count = 0;
  if (!read_files(unit, files_, count)) return;
  ids_.assign(count, kUnread);
  compilation_dir_ = compilation_dir_of(unit);
}

std::uint32_t UnitFiles::read(std::size_t number) {
  const std::string path = path_of_file(files_, number, compilation_dir_);
  return path.empty() ? kNoFile : builder_.add_file(path);
}

}  // namespace coz::linetable
