// One x86-64 instruction: how long it is, and what depends on where it stands.
//
// Just enough to execute an instruction somewhere else (displaced.h). What is not known for certain
// is not decoded: a wrong length would be a crash in the program. Plain logic; signal-safe.
#ifndef LIBCOZ_PATCH_INSTRUCTION_H
#define LIBCOZ_PATCH_INSTRUCTION_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace coz {

inline constexpr std::size_t kLongestInstruction = 15;

struct Instruction {
  enum class Kind : std::uint8_t {
    kPlain,         // does the same anywhere, but for an operand relative to rip
    kJump,          // to `relative`
    kCondition,     // the same under `condition`, the low four bits of the opcode
    kCall,          // the same, and pushes the address of the next instruction
    kCount,         // loop and jrcxz: `condition` is the low two bits of the opcode
    kIndirectCall,  // to what `operand` holds
    kUnmovable,     // of a known length, but tied to its place
  };
  // reg, or [base + index·scale + displacement].
  struct Operand {
    static constexpr std::uint8_t kNone = 0xff, kRip = 0xfe;
    bool is_register = false;
    std::uint8_t base = kNone;  // number of the register, kRip, or kNone
    std::uint8_t index = kNone;
    std::uint8_t scale = 1;
    std::int32_t displacement = 0;
  };

  Kind kind = Kind::kPlain;
  std::uint8_t length = 0;
  std::uint8_t condition = 0;
  std::uint8_t rip_displacement = 0;  // where a displacement from rip (32 bits) stands; 0: nowhere
  std::int32_t relative = 0;          // from the end of the instruction
  Operand operand;
};

// nullopt for what is not known, or goes on beyond `bytes`.
[[nodiscard]] std::optional<Instruction> decode(std::span<const std::uint8_t> bytes) noexcept;

}  // namespace coz

#endif  // LIBCOZ_PATCH_INSTRUCTION_H
