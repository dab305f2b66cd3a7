// The code of a file, by address: what breakpoints would replace.
#ifndef LINETABLE_PLAN_CODE_BYTES_H
#define LINETABLE_PLAN_CODE_BYTES_H

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "linetable/elf/elf_file.h"
#include "linetable/plan/patch_planner.h"

namespace coz::linetable {

class CodeBytes {
 public:
  // `file` must outlive it.
  explicit CodeBytes(const ElfFile& file) : file_(file) {}

  // From `address` on, at most `size` bytes; fewer where the segment ends, none where none begins.
  [[nodiscard]] std::span<const std::uint8_t> at(std::uint64_t address, std::size_t size) const;

  // How to execute what stands at `address` elsewhere; only for x86-64.
  [[nodiscard]] PlannedPatch patch_at(std::uint64_t address) const;

  // Where the instruction at `address` jumps to, if it is a jump (under whatever condition).
  [[nodiscard]] std::optional<std::uint64_t> jump_target(std::uint64_t address) const;

  // Calls visit(address, outline) for each instruction from `begin` to `end`, until it returns
  // false. Goes no further than the first instruction that is not known. Only for x86-64.
  void for_each_instruction(
      std::uint64_t begin, std::uint64_t end,
      const std::function<bool(std::uint64_t, const InstructionOutline&)>& visit) const;

  // Whether one of the instructions from `begin` on begins at `address`. True where that cannot be
  // told.
  [[nodiscard]] bool begins_instruction(std::uint64_t begin, std::uint64_t address) const;

  // Whether some instruction from `begin` to `end` jumps to a target that `is_wanted`. Calls are no
  // jumps.
  [[nodiscard]] bool has_jump(std::uint64_t begin, std::uint64_t end,
                              const std::function<bool(std::uint64_t)>& is_wanted) const;

 private:
  [[nodiscard]] bool is_x86_64() const;

  const ElfFile& file_;
};

}  // namespace coz::linetable

#endif  // LINETABLE_PLAN_CODE_BYTES_H
