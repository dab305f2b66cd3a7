// The line table: one flat, sorted file per binary, from code address to source lines.
//
// Written by the helper `coz-linetable` (linetable/), outside the profiled process; mapped
// read-only by the runtime (common/line_table.h), which looks addresses up in a signal
// handler. The file holds no pointers and is the same wherever it is mapped.
//
//   header | starts | chains | chain_begins | frames | lines | files | functions | objects |
//   strings
//
// Every section starts at a multiple of 8 bytes. All integers are little-endian.
//
//  starts       uint32_t[row_count]      first address of a row, relative to `base_address`,
//                                        strictly ascending; a row ends where the next begins
//  chains       uint32_t[row_count]      the row's inline chain, or kNoChain for a gap (no line
//                                        information, or after an end_sequence)
//                                        Code of which only the function is known, by a symbol or
//                                        the unwind table, has a chain of one frame, whose line is
//                                        the binary's path with line 0
//  chain_begins uint32_t[chain_count+1]  chain c is frames[chain_begins[c] .. chain_begins[c+1])
//  frames       LineTableFrame[]         innermost (the inlined code itself) first, outermost last
//  lines        LineTableLine[]          a distinct (file, line); its index is the line id
//  files        uint32_t[file_count]     offset of the path in strings: absolute where the debug
//                                        information allows it, with "." and ".." removed
//  functions    uint32_t[function_count] offset of the function's demangled name in strings
//  objects      LineTableObject[]        static variables that may hold a lock, by address
//  strings      char[]                   NUL-terminated, ends with a NUL
//
// A reader must not trust an index: the file may be damaged. Offsets and sizes are checked when
// it is mapped, indices where they are used.
#ifndef COMMON_LINE_TABLE_FORMAT_H
#define COMMON_LINE_TABLE_FORMAT_H

#include <cstdint>

namespace coz {

inline constexpr char kLineTableMagic[8] = {'C', 'O', 'Z', 'L', 'I', 'N', 'E', '\n'};
inline constexpr std::uint32_t kLineTableVersion = 7;
inline constexpr std::uint32_t kNoChain = 0xffffffffU;
inline constexpr std::uint32_t kNoFunction = 0xffffffffU;
inline constexpr std::uint32_t kMaxBuildIdSize = 32;

struct LineTableSection {
  std::uint64_t offset;  // bytes from the start of the file
  std::uint64_t count;   // entries, not bytes
};

struct LineTableHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t header_size;    // sizeof(LineTableHeader)
  std::uint64_t file_size;      // of the whole table, bytes
  std::uint64_t base_address;   // lowest virtual address in the ELF file's own address space
  std::uint32_t build_id_size;  // 0 when the binary has none
  std::uint8_t build_id[kMaxBuildIdSize];
  std::uint32_t reserved;
  LineTableSection starts;
  LineTableSection chains;
  LineTableSection chain_begins;
  LineTableSection frames;
  LineTableSection lines;
  LineTableSection files;
  LineTableSection functions;
  LineTableSection objects;
  LineTableSection strings;
  std::uint64_t header_checksum;  // FNV-1a 64 of all header bytes before this field
};
static_assert(sizeof(LineTableHeader) == 224);

struct LineTableFrame {
  std::uint32_t line;      // index into lines
  std::uint32_t function;  // index into functions, or kNoFunction
};

struct LineTableLine {
  std::uint32_t file;  // index into files
  std::uint32_t line;  // 1-based; 0: no line is known, and the file is the binary
};

struct LineTableObject {
  std::uint32_t begin;  // relative to `base_address`
  std::uint32_t size;
  std::uint32_t name;  // offset of the demangled name in strings
};

}  // namespace coz

#endif  // COMMON_LINE_TABLE_FORMAT_H
