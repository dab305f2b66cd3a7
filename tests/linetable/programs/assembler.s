# Functions by hand: with type and size, with a type alone, and as bare labels; one has an unwind
# entry. Inside of the first there are labels of both kinds.
        .text
        .globl  by_hand_sized
        .type   by_hand_sized, @function
by_hand_sized:
        .cfi_startproc
        xorl    %eax, %eax
local_label:
        addl    $1, %eax
        .globl  by_hand_inner
by_hand_inner:
        cmpl    $100, %eax
        jne     local_label
        ret
        .cfi_endproc
        .size   by_hand_sized, .-by_hand_sized

# As in libc: the entry begins a byte before the code that handlers return to.
        .cfi_startproc
        .cfi_signal_frame
        nop
        .globl  by_hand_trampoline
        .type   by_hand_trampoline, @function
by_hand_trampoline:
        movl    $15, %eax
        syscall
        .cfi_endproc
        .size   by_hand_trampoline, .-by_hand_trampoline

        .globl  by_hand_typed
        .type   by_hand_typed, @function
by_hand_typed:
        movl    $1, %eax
        nop
        ret

        .globl  by_hand_bare
by_hand_bare:
        movl    $2, %eax
        nop
        ret
        .globl  by_hand_last
by_hand_last:
        movl    $3, %eax
        ret
        .section .note.GNU-stack,"",@progbits
