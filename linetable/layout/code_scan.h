// Decodes the functions of a program, by Zydis, and notes what depends on where they are.
//
// Plain logic. Addresses are relative to the program's lowest loaded address.
#ifndef LINETABLE_LAYOUT_CODE_SCAN_H
#define LINETABLE_LAYOUT_CODE_SCAN_H

#include <cstdint>
#include <vector>

#include "linetable/layout/program_code.h"

namespace coz::linetable {

enum class Reference : std::uint8_t { kJump, kCall, kMemory };

// A 32-bit distance in an instruction.
struct CodeReference {
  std::uint32_t at = 0;  // of the field
  Reference kind = Reference::kMemory;
  std::int64_t target = 0;
};

// A run of code that was decoded from its begin to its end.
struct ScannedCode {
  Extent extent;
  std::size_t first_reference = 0;  // in CodeScan::references; the next one's is the end
  const char* problem = nullptr;    // why it has to stay; null for none
  bool falls_through = false;       // into what follows
  bool jumps_indirectly = false;
  std::vector<std::uint32_t> inner_targets;     // of jumps and calls within it
  std::vector<std::uint32_t> short_exits;       // targets of 8-bit jumps out of it
  std::vector<std::uint32_t> table_candidates;  // addresses in data, where it jumps indirectly
};

class CodeScan {
 public:
  explicit CodeScan(const ProgramCode& program);

  // Decodes the code there, of which nothing was decoded before. Extents come in ascending order.
  void scan(Extent extent);

  // Notes the jumps and calls of code that belongs to no function, as far as it can be decoded.
  void scan_stray(Extent extent);

  // Whether all of it only fills: no-operations, breakpoints, zeros.
  [[nodiscard]] bool is_fill(Extent extent) const;

  // Whether an instruction was decoded there; whether one jumps there (or calls it).
  [[nodiscard]] bool is_instruction(std::int64_t address) const;
  [[nodiscard]] bool is_target(std::int64_t address) const;
  void add_target(std::int64_t address);

  [[nodiscard]] const std::vector<ScannedCode>& code() const { return code_; }
  [[nodiscard]] const std::vector<CodeReference>& references() const { return references_; }
  // Addresses in data that instructions name, in any order, also more than once.
  [[nodiscard]] std::vector<std::uint32_t> named_data() const;

 private:
  struct Instruction;
  static bool decode(std::span<const std::uint8_t> bytes, Instruction& out);
  [[nodiscard]] bool jumps_to_instructions(const ScannedCode& code) const;
  void note_branch(const Instruction& instruction, std::uint32_t address, ScannedCode& code);
  void note_memory(const Instruction& instruction, std::uint32_t address, ScannedCode& code);
  void note_absolute(std::int64_t address, ScannedCode& code);
  [[nodiscard]] bool is_in_image(std::int64_t address) const;

  const ProgramCode& program_;
  std::uint32_t begin_ = 0;  // of the code, where both maps begin
  std::vector<bool> instructions_;
  std::vector<bool> targets_;
  std::vector<ScannedCode> code_;
  std::vector<CodeReference> references_;
  std::vector<std::uint32_t> absolute_;  // data that is named by its address
};

}  // namespace coz::linetable

#endif  // LINETABLE_LAYOUT_CODE_SCAN_H
