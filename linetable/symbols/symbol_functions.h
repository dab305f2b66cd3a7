// The functions of a binary by its symbols and its unwind table, for code that has no debug
// information.
#ifndef LINETABLE_SYMBOLS_SYMBOL_FUNCTIONS_H
#define LINETABLE_SYMBOLS_SYMBOL_FUNCTIONS_H

#include <cstddef>

#include "linetable/elf/elf_file.h"
#include "linetable/table/table_builder.h"

namespace coz::linetable {

// Adds every function of `binary` that has a symbol (in .symtab, which may be that of `debug_file`,
// else in .dynsym) or an entry in .eh_frame. One without a symbol is named by its offset:
// "prog+0x1136". Left out are the stubs of the procedure linkage table, whose time is their
// caller's, and the code that signal handlers return to, which is on the stack of every sample.
//
// Returns the number of code segments that were added.
std::size_t add_symbol_functions(const ElfFile& binary, const ElfFile& debug_file,
                                 TableBuilder& builder);

}  // namespace coz::linetable

#endif  // LINETABLE_SYMBOLS_SYMBOL_FUNCTIONS_H
