#include "linetable/accesses/stack_variables.h"

#include <dwarf.h>

#include <cstdlib>
#include <memory>
#include <optional>

namespace coz::linetable {
namespace {

// DWARF's number for x86-64.
constexpr unsigned kFramePointer = 6;

struct Free {
  void operator()(Dwarf_Die* scopes) const noexcept { std::free(scopes); }
};

// The first operation of an attribute's expression at `pc`; null if there is none.
const Dwarf_Op* first_operation(Dwarf_Die* die, unsigned name, std::uint64_t pc) {
  Dwarf_Attribute attribute;
  if (dwarf_attr_integrate(die, name, &attribute) == nullptr) return nullptr;
  Dwarf_Op* operations = nullptr;
  std::size_t number = 0;
  if (dwarf_getlocation_addr(&attribute, pc, &operations, &number, 1) != 1 || number == 0)
    return nullptr;
  return operations;
}

std::optional<std::uint64_t> frame_base(Dwarf_Die* function, std::uint64_t pc,
                                        const FramePlace& frame) {
  const Dwarf_Op* base = first_operation(function, DW_AT_frame_base, pc);
  if (base == nullptr) return std::nullopt;
  if (base->atom == DW_OP_call_frame_cfa) return frame.cfa;
  if (base->atom == DW_OP_reg0 + kFramePointer) return frame.frame_pointer;
  if (base->atom == DW_OP_breg0 + kFramePointer) return frame.frame_pointer + base->number;
  return std::nullopt;
}

std::uint64_t size_of(Dwarf_Die* variable) {
  Dwarf_Attribute attribute;
  Dwarf_Die type;
  Dwarf_Word size = 0;
  if (dwarf_attr_integrate(variable, DW_AT_type, &attribute) == nullptr ||
      dwarf_formref_die(&attribute, &type) == nullptr || dwarf_aggregate_size(&type, &size) != 0)
    return 0;
  return size;
}

// Has it one place for as long as its scope lasts? Another, with a list of locations, may lie in
// the memory of such a one for some instructions, as after `home = other`.
bool has_one_place(Dwarf_Die* variable) {
  Dwarf_Attribute attribute;
  return dwarf_attr_integrate(variable, DW_AT_location, &attribute) != nullptr &&
         dwarf_whatform(&attribute) == DW_FORM_exprloc;
}

bool find_in_scope(Dwarf_Die* scope, std::uint64_t pc, std::uint64_t base, std::uint64_t address,
                   bool in_one_place, StackVariable& out) {
  Dwarf_Die child;
  if (dwarf_child(scope, &child) != 0) return false;
  do {
    const int tag = dwarf_tag(&child);
    if (tag != DW_TAG_variable && tag != DW_TAG_formal_parameter) continue;
    if (has_one_place(&child) != in_one_place) continue;
    const Dwarf_Op* place = first_operation(&child, DW_AT_location, pc);
    if (place == nullptr || place->atom != DW_OP_fbreg) continue;
    const std::uint64_t begin = base + place->number;
    const std::uint64_t size = size_of(&child);
    const char* name = dwarf_diename(&child);
    if (name == nullptr || address < begin || address - begin >= size) continue;
    out = {name, begin, size};
    return true;
  } while (dwarf_siblingof(&child, &child) == 0);
  return false;
}

}  // namespace

bool find_stack_variable(Dwarf_Die* unit, std::uint64_t pc, const FramePlace& frame,
                         std::uint64_t address, StackVariable& out) {
  Dwarf_Die* raw = nullptr;
  if (dwarf_getscopes(unit, pc, &raw) <= 0) return false;
  const std::unique_ptr<Dwarf_Die, Free> innermost(raw);
  // In inlined code the outer scopes were those of the source; the frame is the function's around
  // it.
  raw = nullptr;
  const int number = dwarf_getscopes_die(innermost.get(), &raw);
  const std::unique_ptr<Dwarf_Die, Free> scopes(number > 0 ? raw : nullptr);
  std::optional<std::uint64_t> base;
  int functions = 0;
  for (; functions < number && !base; ++functions) {
    if (dwarf_tag(&raw[functions]) == DW_TAG_subprogram)
      base = frame_base(&raw[functions], pc, frame);
  }
  if (!base) return false;
  for (const bool in_one_place : {true, false}) {
    for (int i = 0; i < functions; ++i) {
      if (find_in_scope(&raw[i], pc, *base, address, in_one_place, out)) return true;
    }
  }
  return false;
}

}  // namespace coz::linetable
