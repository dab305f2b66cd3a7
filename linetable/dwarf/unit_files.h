// The file table of one compilation unit: from the unit's file numbers to the builder's file ids.
//
// A file number means nothing outside its unit. Numbers begin at 1 up to DWARF 4 and at 0 in DWARF
// 5; libdw's tables take either as it is.
#ifndef LINETABLE_DWARF_UNIT_FILES_H
#define LINETABLE_DWARF_UNIT_FILES_H

#include <elfutils/libdw.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "linetable/table/table_builder.h"

namespace coz::linetable {

inline constexpr std::uint32_t kNoFile = 0xffffffffU;

// The normalised path of file `number` in a unit's table of files; empty for "no file".
[[nodiscard]] std::string path_of_file(Dwarf_Files* files, std::size_t number,
                                       std::string_view compilation_dir);

// The folder that the unit was compiled in; empty where that is not known. Of a unit in a .dwo file
// its skeleton in the binary has it.
[[nodiscard]] std::string_view compilation_dir_of(Dwarf_Die& unit);

// The .dwo file with the rest of the unit, which is a skeleton.
[[nodiscard]] std::string split_file_of(Dwarf_Die& unit);

class UnitFiles {
 public:
  // For a unit without a file table every number is unknown.
  UnitFiles(Dwarf_Die& unit, TableBuilder& builder);

  // The builder's id for the unit's file `number`, or kNoFile.
  [[nodiscard]] std::uint32_t id(std::size_t number) {
    if (number >= ids_.size()) return kNoFile;
    if (ids_[number] == kUnread) ids_[number] = read(number);
    return ids_[number];
  }

 private:
  static constexpr std::uint32_t kUnread = 0xfffffffeU;

  [[nodiscard]] std::uint32_t read(std::size_t number);

  TableBuilder& builder_;
  Dwarf_Files* files_ = nullptr;
  std::string_view compilation_dir_;
  std::vector<std::uint32_t> ids_;
};

}  // namespace coz::linetable

#endif  // LINETABLE_DWARF_UNIT_FILES_H
