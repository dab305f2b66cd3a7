// The static variables of a binary that may hold a lock, by its symbols.
#ifndef LINETABLE_SYMBOLS_SYMBOL_OBJECTS_H
#define LINETABLE_SYMBOLS_SYMBOL_OBJECTS_H

#include "linetable/elf/elf_file.h"
#include "linetable/table/table_builder.h"

namespace coz::linetable {

// Adds the variables of `binary` that can change, are not thread-local, and are as large as a lock:
// by .symtab, which may be that of `debug_file`, else by .dynsym.
void add_symbol_objects(const ElfFile& binary, const ElfFile& debug_file, TableBuilder& builder);

}  // namespace coz::linetable

#endif  // LINETABLE_SYMBOLS_SYMBOL_OBJECTS_H
