// Code that a jump leads to which stands in the place of instructions: it calls the entry that
// counts the visit (jump_entry.h), does what the instructions would have done, and jumps back. By a
// change of one byte it leaves out the call.
//
// Plain logic.
#ifndef LIBCOZ_PATCH_TRAMPOLINE_H
#define LIBCOZ_PATCH_TRAMPOLINE_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "patch/jumped_over.h"

namespace coz {

inline constexpr std::size_t kTrampolineSize = 128;

// Written so far into a trampoline, this byte makes it count no more. One byte is written at once:
// a thread that comes by counts or does not, and one that is in the middle goes on as it would
// have.
inline constexpr std::size_t kCountingSwitch = 1;
inline constexpr std::uint8_t kNoCounting = 31;

// Where a thread seems to be, instead of in a trampoline.
struct SeenAt {
  std::uint64_t rip = 0;
  std::uint64_t pushed = 0;  // what the trampoline has taken of the stack at that moment
};

class Trampoline {
 public:
  struct Addresses {
    std::uint64_t place = 0;  // the first of the instructions
    std::uint64_t trampoline = 0;
    std::uint64_t entry = 0;  // jump_entry()
    std::uint64_t site = 0;   // what it is given
  };

  // nullopt when something that the instructions name is out of reach.
  static std::optional<Trampoline> build(const JumpedOver& over,
                                         std::span<const std::uint8_t> bytes,
                                         const Addresses& addresses) noexcept;

  [[nodiscard]] std::span<const std::uint8_t> code() const noexcept { return code_; }

  // Of an address so far into it. Signal-safe.
  [[nodiscard]] SeenAt seen(std::size_t offset) const noexcept;

 private:
  struct Piece {
    std::uint8_t begin = 0;
    std::uint64_t seen = 0;
  };

  void put(std::span<const std::uint8_t> bytes) noexcept;
  bool put_relative(std::span<const std::uint8_t> opcode, std::uint64_t target) noexcept;
  bool put_moved(const Instruction& instruction, std::span<const std::uint8_t> bytes,
                 std::uint64_t address) noexcept;
  bool put_instruction(const Instruction& instruction, std::span<const std::uint8_t> bytes,
                       std::uint64_t address) noexcept;
  void begin_piece(std::uint64_t seen) noexcept;
  std::uint64_t here() const noexcept { return base_ + size_; }

  std::array<std::uint8_t, kTrampolineSize> code_{};
  std::array<Piece, kJumpSize + 2> pieces_{};  // a call has two; and the jump back
  std::size_t piece_count_ = 0;
  std::size_t size_ = 0;
  std::uint64_t base_ = 0;
  std::uint64_t place_ = 0;
};

// jmp rel32 from `place` to `target`; nullopt when it does not reach.
[[nodiscard]] std::optional<std::array<std::uint8_t, kJumpSize>> jump_to(
    std::uint64_t place, std::uint64_t target) noexcept;

}  // namespace coz

#endif  // LIBCOZ_PATCH_TRAMPOLINE_H
