"""Why a location cannot be a progress point, and what counting there costs."""

from __future__ import annotations

from collections.abc import Sequence

from cozcli.errors import Problem
from cozcli.messages import count, listed


def point_not_found(name: str, is_line: bool, nearest: Sequence[str], files: Sequence[str]) -> Problem:
    """--progress and its like name nothing."""
    what = "line with code" if is_line else "function"
    if nearest:
        hint = f"the nearest: {listed(nearest)}"
    elif is_line:
        hint = f"files with code: {listed(files, 8) or 'none'}"
    else:
        hint = "% stands for any text, as in %push%; -b adds libraries to those that are searched."
    return Problem(f"there is no {what} {name}, so its visits cannot be counted.", hint)


def point_ambiguous(name: str, locations: Sequence[str]) -> Problem:
    """--progress and its like name several things."""
    return Problem(
        f"{name} stands for {count(len(locations), 'location')}, but a progress point is one.",
        f"name one of them: {listed(locations, 8)}",
    )


def point_unusable(name: str, reason: str) -> Problem:
    """A location at which counting would be wrong."""
    return Problem(
        f"visits to {name} cannot be counted: {reason}.",
        "name a line of it instead (FILE:LINE), or the line that calls it.",
    )


def instruction_stays(name: str, reason: str) -> Problem:
    """No breakpoint instruction can stand there."""
    return Problem(
        f"no breakpoint instruction can be set at {name}: {reason}.",
        "name the line before or after it, or try --progress-by hardware.",
    )


def no_breakpoint_instruction(machine: str) -> Problem:
    """Only x86-64 has been taught."""
    return Problem(
        f"breakpoint instructions are for x86-64 programs, and this machine is {machine}.",
        "use --progress-by hardware, or write COZ_PROGRESS there in the source.",
    )


def no_hardware_breakpoint(name: str, needed: int, free: int, error: str, only: bool) -> Problem:
    """The processor has none, or too few."""
    why = f" ({error})" if error else ""
    another = "" if only else "use --progress-by auto, or "
    return Problem(
        f"{name} needs {count(needed, 'hardware breakpoint')}, and {free} can be had{why}.",
        f"{another}write COZ_PROGRESS there in the source.",
    )


def costly_point(name: str, rate: float, cost: float, share: float) -> Problem:
    """Counting was a good part of what the program did."""
    visit = f"{cost / 1000:.1f} µs" if cost >= 1000 else f"{cost:.0f} ns"
    return Problem(
        f"{name} was reached {rate:,.0f} times a second; counting that took about {share:.0%} of a "
        f"processor's time ({visit} a visit), so that effects are not those of the program alone.",
        "choose a location that is passed more rarely, or write COZ_PROGRESS there in the source, or use "
        "--progress-sampled.",
    )


def killed_by_trap(names: Sequence[str]) -> Problem:
    """SIGTRAP ended a program with breakpoint instructions of ours."""
    return Problem(
        f"the program was ended by SIGTRAP, and visits to {', '.join(names)} were counted by a breakpoint "
        "instruction. A thread ends like that if it has blocked SIGTRAP by a system call of its own, or "
        "before the profiler started, and then reaches the instruction.",
        "if it ends well without the profiler, try --progress-by hardware, or write COZ_PROGRESS there "
        "in the source.",
    )


def sampled_wants_line(name: str) -> Problem:
    """--progress-sampled FUNCTION."""
    return Problem(f"--progress-sampled counts samples in a line, and {name} is none.", "name FILE:LINE.")


def sampled_out_of_scope(line: str) -> Problem:
    """A line whose samples are given to its callers."""
    return Problem(
        f"{line} is not in the source scope: its samples count for the lines that call it.",
        "widen the scope with -s, or count visits with --progress.",
    )


def sampled_without_samples() -> Problem:
    """--progress-sampled with --sampling off."""
    return Problem(
        "--progress-sampled counts samples, and with --sampling off there are none.",
        "leave out --sampling off, or count visits with --progress.",
    )


def arrival_by_hardware(name: str) -> Problem:
    """--progress-by hardware with an arrival point that is to be sped up."""
    return Problem(
        f"{name} cannot be counted by hardware breakpoints: each arrival has to be sped up where it "
        "happens, and those only count.",
        "leave out --progress-by hardware.",
    )
