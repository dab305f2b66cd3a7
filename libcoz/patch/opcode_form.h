// What follows an opcode of x86-64: tables for the decoder (instruction.h). Plain logic;
// signal-safe.
#ifndef LIBCOZ_PATCH_OPCODE_FORM_H
#define LIBCOZ_PATCH_OPCODE_FORM_H

#include <cstdint>

namespace coz {

struct Form {
  bool known = true;
  bool modrm = false;
  std::uint8_t immediate = 0;  // bytes
  bool sized = false;          // the immediate has four bytes, or two with the prefix 66
  bool relative = false;       // the immediate is where a jump goes to
};

inline constexpr Form kUnknown{false};
inline constexpr Form kModrm{true, true};
inline constexpr Form kModrm8{true, true, 1};

// Of one byte.
[[nodiscard]] Form form_of(std::uint8_t opcode) noexcept;
// Behind 0f.
[[nodiscard]] Form form_of_second(std::uint8_t opcode) noexcept;
// Vector instructions name their map in the prefix.
[[nodiscard]] Form form_of_vector(unsigned map, std::uint8_t opcode) noexcept;

}  // namespace coz

#endif  // LIBCOZ_PATCH_OPCODE_FORM_H
