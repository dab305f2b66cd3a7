// A line table of ROWS rows for hardly a line of code: to be compiled without -g. One byte is one
// row.
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

int main(void) { return 7; }

__asm__(
    ".section .debug_line,\"\",@progbits\n"
    ".Lline: .4byte .Lline_end - .Lversion\n"
    ".Lversion: .2byte 4\n"
    " .4byte .Lprogram - .Lafter\n"
    ".Lafter: .byte 1, 1, 1, -5, 14, 13\n"            // the rows' opcodes from 13 on, in steps of 14
    " .byte 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1\n"     // operands of the opcodes before
    " .byte 0\n"                                      // no folders; one file
    " .asciz \"rows.c\"\n"
    " .byte 0, 0, 0, 0\n"
    ".Lprogram: .byte 0, 9, 2\n"
    " .8byte main\n"
    " .fill " TEXT(ROWS) ", 1, 18\n"                  // a row at the same address and line
    " .byte 2, 4\n"
    " .byte 0, 1, 1\n"
    ".Lline_end:\n"
    ".section .debug_abbrev,\"\",@progbits\n"
    " .byte 1, 0x11, 0, 0x10, 0x17, 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0, 0\n"
    ".section .debug_info,\"\",@progbits\n"
    " .4byte .Linfo_end - .Linfo\n"
    ".Linfo: .2byte 4\n"
    " .4byte 0\n"
    " .byte 8, 1\n"                                   // size of addresses; the compilation unit
    " .4byte .Lline\n"
    " .asciz \"rows.c\"\n"
    " .8byte main\n"
    " .8byte 4\n"
    ".Linfo_end:\n"
    ".text\n");
