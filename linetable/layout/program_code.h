// What the planner of layouts knows of a program, free of ELF.
//
// Addresses are relative to the program's lowest loaded address; the whole image has less than
// 2 GB. Bytes point into the file, which has to outlive this.
#ifndef LINETABLE_LAYOUT_PROGRAM_CODE_H
#define LINETABLE_LAYOUT_PROGRAM_CODE_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/layout_plan_format.h"

namespace coz::linetable {

struct Extent {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  [[nodiscard]] std::uint32_t size() const { return end - begin; }
  [[nodiscard]] bool contains(std::int64_t address) const {
    return begin <= address && address < end;
  }
};

enum class Content { kText, kConstants, kData };

struct CodeSection {
  Extent extent;
  Content content = Content::kText;
  std::span<const std::uint8_t> bytes;
};

struct CodeFunction {
  Extent extent;
  std::string name;  // empty if only the unwind table knows it
};

// An address in the program's data that the loader relocates.
struct DataPointer {
  std::uint32_t at = 0;
  std::uint32_t target = 0;
};

// An FDE, whose unit is not known yet.
struct FrameEntry : LayoutFrame {
  Extent code;
  bool has_handlers = false;  // of exceptions, by data of its language
};

struct FrameTable {
  std::uint32_t address = 0;
  std::uint32_t size = 0;
  std::vector<LayoutCommon> commons;  // CIEs
  std::vector<FrameEntry> entries;
};

struct ProgramCode {
  std::uint64_t base = 0;  // in the file's own address space
  std::uint64_t image_size = 0;
  std::vector<CodeSection> sections;    // ascending; with bytes in the file
  std::vector<CodeFunction> functions;  // in any order; may overlap
  std::vector<DataPointer> pointers;    // to code
  std::vector<std::uint32_t> objects;   // where something begins in data
  FrameTable frames;
  std::uint32_t register_frame = 0;  // the program's own __register_frame; 0: none

  // The bytes of that content from `address` on; empty where there are none.
  [[nodiscard]] std::span<const std::uint8_t> at(std::int64_t address) const;
  [[nodiscard]] const CodeSection* section_of(std::int64_t address) const;
};

}  // namespace coz::linetable

#endif  // LINETABLE_LAYOUT_PROGRAM_CODE_H
