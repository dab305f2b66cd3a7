// The functions of a binary by its symbols and its unwind table, for code that has no debug
// information.
#ifndef LINETABLE_SYMBOLS_SYMBOL_FUNCTIONS_H
#define LINETABLE_SYMBOLS_SYMBOL_FUNCTIONS_H

#include <cstddef>

#include "linetable/elf/elf_file.h"
#include "linetable/table/table_builder.h"

namespace coz::linetable {

// Adds every function of `binary` that is known by a symbol (of .symtab, which may be that of
// `debug_file`, else of .dynsym) or by an entry of .eh_frame. One without a symbol is called after
// its place: "prog+0x1136". The stubs of the procedure linkage table are left out: what they call
// is not there. So is the code that signal handlers return to: it is on the stack of every sample.
//
// Returns the number of stretches of code that were added.
std::size_t add_symbol_functions(const ElfFile& binary, const ElfFile& debug_file,
                                 TableBuilder& builder);

}  // namespace coz::linetable

#endif  // LINETABLE_SYMBOLS_SYMBOL_FUNCTIONS_H
