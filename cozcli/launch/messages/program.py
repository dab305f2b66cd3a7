"""Why a program cannot be profiled."""

from __future__ import annotations

from cozcli.errors import Problem
from cozcli.messages import starts_others


def program_not_found(name: str, here: bool = False) -> Problem:
    """Neither a file nor on PATH."""
    if here:
        return Problem(
            f"{name} is in the current folder, which is not on PATH.", f"name it with its folder: ./{name}"
        )
    hint = "check the path." if "/" in name else "check the name, and PATH."
    return Problem(f"{name}: no such program.", hint)


def program_is_directory(name: str) -> Problem:
    """A directory is not a program."""
    return Problem(f"{name} is a directory, not a program.", "name the executable in it.")


def not_executable(name: str) -> Problem:
    """No permission to execute."""
    return Problem(f"{name} may not be executed.", f"if it is the program: chmod +x {name}")


def program_unreadable(path: str, reason: str) -> Problem:
    """Execute permission without read permission."""
    return Problem(
        f"{path} cannot be read ({reason}), and without its debug information it cannot be profiled.",
        "make it readable.",
    )


def path_unusable(path: str) -> Problem:
    """The runtime is told of programs in lines and columns."""
    return Problem(
        f"{path} cannot be profiled, since its path has a tab or the end of a line in it.", "rename it."
    )


def program_is_script(path: str, interpreter: str) -> Problem:
    """A script instead of a binary."""
    return Problem(
        f"{path} is a script (run by {interpreter or 'an interpreter'}): it has no lines that coz could "
        "speed up. What can be profiled are compiled programs that it starts.",
        f"{starts_others(f'{path} …')}   (before that: coz doctor NAME)",
    )


def not_elf(path: str) -> Problem:
    """Executable bit, but not an executable."""
    return Problem(f"{path} is not an ELF executable.", "name the compiled program.")


def wrong_architecture(path: str, machine: str, bits: int, here: str) -> Problem:
    """Built for another processor."""
    return Problem(
        f"{path} is a {bits}-bit {machine} program; coz here profiles 64-bit {here} programs.",
        f"compile it for {here}.",
    )


def static_binary(path: str) -> Problem:
    """No dynamic linker, no preloading."""
    return Problem(
        f"{path} is linked statically: the profiler's library cannot be loaded into it.",
        "link it without -static (Rust: not for a musl target; see docs/troubleshooting.md).",
    )


def go_binary(path: str) -> Problem:
    """Goroutines are no threads, and their stacks have no room for a signal handler of others."""
    return Problem(
        f"{path} has code in Go, whose goroutines run on stacks too small for samples: it would crash or "
        "hang.",
        "use Go's own profiler (go tool pprof); profile C code that it calls in a program without Go.",
    )


def musl_binary(path: str) -> Problem:
    """Another C library than the one the runtime is linked with."""
    return Problem(
        f"{path} is linked with musl, and the profiler's library needs glibc: it cannot be loaded into it.",
        "build it for glibc (Rust: a gnu target; musl-gcc: gcc), if only for the profile.",
    )


def sanitized_binary(path: str) -> Problem:
    """Address, thread, memory or leak sanitizer."""
    return Problem(
        f"{path} is built with a sanitizer, which replaces what coz has to see, and changes what is slow.",
        "profile a build without -fsanitize.",
    )


def static_openmp(path: str) -> Problem:
    """libgomp.a: waits are futex calls of its own."""
    return Problem(
        f"GCC's OpenMP library is linked statically into {path}: who wakes whom in it is not seen, and "
        "effects come out too small.",
        "link it dynamically (-fopenmp, without -static or libgomp.a).",
    )


def privileged_binary(path: str) -> Problem:
    """setuid, setgid or capabilities."""
    return Problem(
        f"{path} is setuid, setgid or has file capabilities: the system does not load the profiler's "
        "library into it.",
        "profile a copy without them (cp makes one), as a user who may do what it does.",
    )


def exec_failed(program: str, reason: str) -> Problem:
    """The system refused after all."""
    return Problem(f"{program} could not be started ({reason}).", "start it without coz to see why.")
