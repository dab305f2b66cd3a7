#include "breakpoint/instruction.h"

#include <cstring>

namespace coz {
namespace {

using Kind = Instruction::Kind;
using Byte = std::uint8_t;

// What follows an opcode.
struct Form {
  bool known = true;
  bool modrm = false;
  Byte immediate = 0;     // bytes
  bool sized = false;     // the immediate has four bytes, or two with the prefix 66
  bool relative = false;  // the immediate is where a jump goes to
};

constexpr Form kUnknown{false};
constexpr Form kBare{};
constexpr Form kModrm{true, true};
constexpr Form kModrm8{true, true, 1};
constexpr Form kModrmSized{true, true, 0, true};
constexpr Form kImmediate8{true, false, 1};
constexpr Form kImmediate16{true, false, 2};
constexpr Form kSized{true, false, 0, true};
constexpr Form kRelative8{true, false, 1, false, true};
constexpr Form kRelative32{true, false, 4, false, true};

Form form_below_40(Byte opcode) noexcept {
  switch (opcode & 7) {
    case 4:
      return kImmediate8;
    case 5:
      return kSized;
    case 6:
    case 7:
      return kUnknown;
    default:
      return kModrm;
  }
}

Form form_below_c0(Byte opcode) noexcept {
  if (opcode < 0x50) return kUnknown;  // a second rex
  if (opcode < 0x60) return kBare;
  switch (opcode) {
    case 0x60:
    case 0x61:
    case 0x62:
    case 0x64:  // prefixes, which may not come after a rex
    case 0x65:
    case 0x66:
    case 0x67:
    case 0x82:
    case 0x9a:
      return kUnknown;
    case 0x63:
      return kModrm;
    case 0x68:
    case 0xa9:
      return kSized;
    case 0x69:
    case 0x81:
      return kModrmSized;
    case 0x6a:
    case 0xa8:
      return kImmediate8;
    case 0x6b:
    case 0x80:
    case 0x83:
      return kModrm8;
    default:
      break;
  }
  if (opcode >= 0x70 && opcode < 0x80) return kRelative8;
  if (opcode >= 0x80 && opcode < 0x90) return kModrm;
  if (opcode >= 0xa0 && opcode < 0xa4) return kUnknown;  // an address of 8 bytes: hardly used
  if (opcode >= 0xb0 && opcode < 0xb8) return kImmediate8;
  if (opcode >= 0xb8) return kSized;
  return kBare;
}

Form form_from_c0(Byte opcode) noexcept {
  if ((opcode & 0xfc) == 0xd0 || (opcode & 0xf8) == 0xd8) return kModrm;
  if ((opcode & 0xfc) == 0xe0 || opcode == 0xeb) return kRelative8;
  if ((opcode & 0xfc) == 0xe4) return kImmediate8;
  switch (opcode) {
    case 0xc0:
    case 0xc1:
    case 0xc6:
      return kModrm8;
    case 0xc7:
      return kModrmSized;
    case 0xc2:
    case 0xca:
      return kImmediate16;
    case 0xc8:
      return Form{true, false, 3};
    case 0xcd:
      return kImmediate8;
    case 0xe8:
    case 0xe9:
      return kRelative32;
    case 0xf6:  // with an immediate in two forms, seen to later
    case 0xf7:
    case 0xfe:
    case 0xff:
      return kModrm;
    case 0xc4:
    case 0xc5:
    case 0xce:
    case 0xd4:
    case 0xd5:
    case 0xd6:
    case 0xea:
    case 0xf0:
    case 0xf2:
    case 0xf3:
      return kUnknown;
    default:
      return kBare;
  }
}

Form form_of(Byte opcode) noexcept {
  if (opcode < 0x40) return form_below_40(opcode);
  return opcode < 0xc0 ? form_below_c0(opcode) : form_from_c0(opcode);
}

// Behind 0f.
Form form_of_second(Byte opcode) noexcept {
  if (opcode >= 0x80 && opcode < 0x90) return kRelative32;
  if (opcode >= 0xc8 && opcode < 0xd0) return kBare;
  if (opcode >= 0x30 && opcode < 0x38) return kBare;
  switch (opcode) {
    case 0x04:
    case 0x0a:
    case 0x0c:
    case 0x0f:
    case 0x24:
    case 0x25:
    case 0x26:
    case 0x27:
    case 0x36:
    case 0x78:
    case 0x79:
    case 0xa6:
    case 0xa7:
      return kUnknown;
    case 0x05:
    case 0x06:
    case 0x07:
    case 0x08:
    case 0x09:
    case 0x0b:
    case 0x0e:
    case 0x77:
    case 0xa0:
    case 0xa1:
    case 0xa2:
    case 0xa8:
    case 0xa9:
    case 0xaa:
      return kBare;
    case 0x70:
    case 0x71:
    case 0x72:
    case 0x73:
    case 0xa4:
    case 0xac:
    case 0xba:
    case 0xc2:
    case 0xc4:
    case 0xc5:
    case 0xc6:
      return kModrm8;
    default:
      return kModrm;
  }
}

// Vector instructions name their map in the prefix.
Form form_of_vector(unsigned map, Byte opcode) noexcept {
  switch (map) {
    case 1:
      if (opcode == 0x77) return kBare;  // vzeroupper
      if (opcode >= 0x80 && opcode < 0x90) return kUnknown;
      return form_of_second(opcode).immediate == 1 ? kModrm8 : kModrm;
    case 2:
    case 5:
    case 6:
      return kModrm;
    case 3:
      return kModrm8;
    default:
      return kUnknown;
  }
}

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
