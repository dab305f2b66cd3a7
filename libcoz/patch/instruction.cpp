#include "patch/instruction.h"

#include <cstring>

#include "patch/opcode_form.h"

namespace coz {
namespace {

using Kind = Instruction::Kind;
using Byte = std::uint8_t;

class Decoder {
 public:
  explicit Decoder(std::span<const Byte> bytes) noexcept
      : bytes_(
            bytes.first(bytes.size() < kLongestInstruction ? bytes.size() : kLongestInstruction)) {}

  std::optional<Instruction> decode() noexcept {
    read_prefixes();
    const Form form = read_opcode();
    if (!form.known || !good_) return std::nullopt;
    if (form.modrm) read_operand();
    const std::size_t immediate = immediate_size(form);
    const std::size_t at = position_;
    position_ += immediate;
    if (!good_ || position_ > bytes_.size()) return std::nullopt;
    out_.length = static_cast<Byte>(position_);
    if (form.relative) {
      out_.relative = immediate == 1 ? small_number_at(at) : number_at(at);
    }
    classify();
    return good_ ? std::optional(out_) : std::nullopt;
  }

 private:
  Byte next() noexcept {
    if (position_ < bytes_.size()) return bytes_[position_++];
    good_ = false;
    return 0;
  }

  std::int32_t number_at(std::size_t position) const noexcept {
    std::int32_t number = 0;
    std::memcpy(&number, bytes_.data() + position, sizeof number);
    return number;
  }

  // Of one byte, with its sign.
  std::int32_t small_number_at(std::size_t position) const noexcept {
    return (bytes_[position] ^ 0x80) - 0x80;
  }

  void read_prefixes() noexcept {
    for (;;) {
      const Byte byte = position_ < bytes_.size() ? bytes_[position_] : Byte{0};
      switch (byte) {
        case 0x66:
          is_short_ = true;
          break;
        case 0x67:
          has_short_addresses_ = true;
          break;
        case 0x64:
        case 0x65:
          has_segment_ = true;
          break;
        case 0x26:
        case 0x2e:
        case 0x36:
        case 0x3e:
        case 0xf0:
        case 0xf2:
        case 0xf3:
          break;
        default:
          if ((byte & 0xf0) == 0x40) rex_ = next();
          return;
      }
      ++position_;
    }
  }

  Form read_opcode() noexcept {
    opcode_ = next();
    if (opcode_ == 0xc5 || opcode_ == 0xc4 || opcode_ == 0x62) return read_vector();
    // Once a pop, with another register field the beginning of one of AMD's own.
    if (opcode_ == 0x8f && position_ < bytes_.size() && (bytes_[position_] & 0x38) != 0) {
      return kUnknown;
    }
    if (opcode_ != 0x0f) return form_of(opcode_);
    opcode_ = next();
    if (opcode_ == 0x38 || opcode_ == 0x3a) {
      map_ = 3;
      const bool immediate = opcode_ == 0x3a;
      opcode_ = next();
      return immediate ? kModrm8 : kModrm;
    }
    map_ = 1;
    return form_of_second(opcode_);
  }

  Form read_vector() noexcept {
    if (rex_ != 0 || is_short_) return kUnknown;
    unsigned map = 1;
    if (opcode_ == 0xc5) {
      next();
    } else if (opcode_ == 0xc4) {
      map = next() & 0x1fU;
      next();
    } else {
      map = next() & 7U;
      next();
      next();
    }
    map_ = 4;  // none of those that are looked at later
    opcode_ = next();
    return form_of_vector(map, opcode_);
  }

  void read_operand() noexcept {
    const Byte modrm = next();
    const unsigned mode = modrm >> 6;
    const unsigned low = modrm & 7U;
    register_field_ = (modrm >> 3) & 7U;
    modrm_ = modrm;
    Instruction::Operand& operand = out_.operand;
    operand.base = static_cast<Byte>(low | (rex_ & 1U) << 3);
    if (mode == 3) {
      operand.is_register = true;
      return;
    }
    unsigned displacement = mode == 1 ? 1 : mode == 2 ? 4 : 0;
    if (low == 4) {
      const Byte sib = next();
      const auto index = static_cast<Byte>(((sib >> 3) & 7U) | (rex_ & 2U) << 2);
      operand.scale = static_cast<Byte>(1U << (sib >> 6));
      if (index != 4) operand.index = index;
      operand.base = static_cast<Byte>((sib & 7U) | (rex_ & 1U) << 3);
      if ((sib & 7U) == 5 && mode == 0) {
        operand.base = Instruction::Operand::kNone;
        displacement = 4;
      }
    } else if (low == 5 && mode == 0) {
      operand.base = Instruction::Operand::kRip;
      out_.rip_displacement = static_cast<Byte>(position_);
      displacement = 4;
    }
    if (position_ + displacement > bytes_.size()) {
      good_ = false;
      return;
    }
    if (displacement == 1) operand.displacement = small_number_at(position_);
    if (displacement == 4) operand.displacement = number_at(position_);
    position_ += displacement;
  }

  std::size_t immediate_size(const Form& form) const noexcept {
    if (map_ == 0 && (opcode_ == 0xf6 || opcode_ == 0xf7) && register_field_ <= 1) {
      return opcode_ == 0xf6 ? 1 : is_short_ ? 2 : 4;
    }
    if (!form.sized) return form.immediate;
    const bool is_wide = (rex_ & 8) != 0;
    if (map_ == 0 && opcode_ >= 0xb8 && opcode_ <= 0xbf && is_wide) return 8;
    return is_short_ && !is_wide ? 2 : 4;
  }

  void classify() noexcept {
    if (map_ == 0) {
      classify_first();
    } else if (map_ == 1 && (opcode_ & 0xf0) == 0x80) {
      out_.kind = Kind::kCondition;
      out_.condition = opcode_ & 15;
    }
    const bool branches = out_.kind != Kind::kPlain && out_.kind != Kind::kUnmovable;
    // What 66 makes of a jump depends on who made the processor; the others are not emulated.
    if (branches && (is_short_ || has_short_addresses_)) out_.kind = Kind::kUnmovable;
    if (out_.kind == Kind::kIndirectCall && has_segment_) out_.kind = Kind::kUnmovable;
    if (out_.rip_displacement != 0 && has_short_addresses_) out_.kind = Kind::kUnmovable;
  }

  void classify_first() noexcept {
    if ((opcode_ & 0xf0) == 0x70) {
      out_.kind = Kind::kCondition;
      out_.condition = opcode_ & 15;
    } else if ((opcode_ & 0xfc) == 0xe0) {
      out_.kind = Kind::kCount;
      out_.condition = opcode_ & 3;
    } else if (opcode_ == 0xe8) {
      out_.kind = Kind::kCall;
    } else if (opcode_ == 0xe9 || opcode_ == 0xeb) {
      out_.kind = Kind::kJump;
    } else if (opcode_ == 0xff) {
      if (register_field_ == 2) out_.kind = Kind::kIndirectCall;
      if (register_field_ == 3 || register_field_ == 5) out_.kind = Kind::kUnmovable;
      if (register_field_ == 7) good_ = false;
    } else if (opcode_ == 0xcc || opcode_ == 0xcd || opcode_ == 0xcf || opcode_ == 0xf1 ||
               opcode_ == 0xcb || opcode_ == 0xca || (opcode_ == 0xc7 && modrm_ == 0xf8)) {
      out_.kind = Kind::kUnmovable;  // interrupts, far returns; xbegin holds an address
    }
  }

  std::span<const Byte> bytes_;
  std::size_t position_ = 0;
  bool good_ = true;
  bool is_short_ = false;
  bool has_short_addresses_ = false;
  bool has_segment_ = false;
  Byte rex_ = 0;
  Byte opcode_ = 0;
  unsigned map_ = 0;  // 0: one byte; 1: behind 0f; 3: behind 0f 38 or 0f 3a; 4: vector
  unsigned register_field_ = 0;
  Byte modrm_ = 0;
  Instruction out_;
};

}  // namespace

std::optional<Instruction> decode(std::span<const std::uint8_t> bytes) noexcept {
  return Decoder(bytes).decode();
}

}  // namespace coz
