// Whether a jump of five bytes may stand in the place of the instructions at an address
// (location_query.h): whether nothing but the instruction before ever leads to the ones behind the
// first.
//
// A first instruction of five bytes or more is replaced alone. Of several, all that can come to the
// later ones from elsewhere is looked for, and in doubt the answer is no:
//   - branches and taken addresses: whatever bytes could be one with 32 bits, anywhere in the code;
//     those with 8 bits in the function, and what could be one in the code around it;
//   - jump tables: no indirect jump in the function, nor in the parts split off from it;
//   - landing pads: no exception table of the function, or of such a part.
#ifndef LINETABLE_PLAN_JUMP_CHECK_H
#define LINETABLE_PLAN_JUMP_CHECK_H

#include <cstdint>
#include <string>
#include <vector>

#include "linetable/elf/elf_file.h"
#include "linetable/plan/code_bytes.h"
#include "linetable/symbols/symbol_ranges.h"

namespace coz::linetable {

class JumpCheck {
 public:
  // `symbols`: the file that has them, perhaps a separate one of debug information. All must
  // outlive it.
  JumpCheck(const ElfFile& binary, const ElfFile& symbols, const CodeBytes& code)
      : binary_(binary), symbols_(symbols), code_(code) {}

  // Why not, or an empty text.
  [[nodiscard]] std::string problem_at(std::uint64_t address);

 private:
  struct Function {
    CodeExtent extent;
    std::string name;
  };

  void read();
  const char* problem_within(std::uint64_t address, std::uint64_t end);
  bool is_reached_in(const Function& function, std::uint64_t begin, std::uint64_t end,
                     bool& is_known) const;
  bool is_reached_from_elsewhere(const CodeExtent& function, std::uint64_t begin,
                                 std::uint64_t end) const;

  const ElfFile& binary_;
  const ElfFile& symbols_;
  const CodeBytes& code_;
  bool is_read_ = false;
  std::vector<Function> functions_;
  std::vector<CodeExtent> with_landing_pads_;
};

}  // namespace coz::linetable

#endif  // LINETABLE_PLAN_JUMP_CHECK_H
