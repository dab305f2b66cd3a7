#include "patch/opcode_form.h"

namespace coz {
namespace {

using Byte = std::uint8_t;

constexpr Form kBare{};
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

}  // namespace

Form form_of(Byte opcode) noexcept {
  if (opcode < 0x40) return form_below_40(opcode);
  return opcode < 0xc0 ? form_below_c0(opcode) : form_from_c0(opcode);
}

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

}  // namespace coz
