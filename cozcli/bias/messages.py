"""Texts of `coz bias`: what it refuses, and what it doubts."""

from __future__ import annotations

from cozcli.errors import Problem


def no_program() -> Problem:
    """Nothing to run."""
    return Problem(
        "no program was given, so there is nothing to run.", "write it as: coz bias ./program arguments"
    )


def no_personality() -> Problem:
    """The kernel refuses personality(2)."""
    return Problem(
        "address space randomisation cannot be switched off here, so no place can be tried twice.",
        "in a container, allow the system call personality (Docker: --security-opt seccomp=unconfined).",
    )


def too_short(seconds: float, per_run: float, least: float) -> Problem:
    """--duration allows too few runs."""
    return Problem(
        f"a run takes {per_run:.2g} s, and {seconds:.0f} s are too short to try enough places.",
        f"give it at least --duration {least / 60:.0f}m, or the program less to do.",
    )


def few_sizes(tried: int, of: int) -> Problem:
    """Not all sizes of the environment could be tried."""
    return Problem(
        f"{tried} of {of} environment sizes were tried, for lack of time: others may be slow.",
        "give it more time (--duration), or the program less to do: 20 to 50 ms are enough.",
    )


def disturbed(repeated: int, runs: int) -> Problem:
    """Runs that lost time to others."""
    return Problem(
        f"{repeated} of {runs} runs were repeated: other programs, or other virtual machines, took time from "
        "them.",
        "keep the machine otherwise idle.",
    )


def interrupted(rounds: int) -> Problem:
    """Ctrl-C, but enough rounds."""
    return Problem(
        f"the study was interrupted after {rounds} rounds of runs: slow places may be missing.",
        "let it run to its end, or give it less time (--duration).",
    )


def ended_early(failure: Problem, rounds: int) -> Problem:
    """A run that failed, after enough rounds."""
    return Problem(
        f"the study ended after {rounds} rounds of runs, so that slow places may be missing: {failure.text}",
        failure.hint,
    )


def no_counters(reason: Problem) -> Problem:
    """--counters, but cycles cannot be counted, or none of the events."""
    return Problem(
        f"no events were counted: {reason.text} Slow places are found without them.",
        "use a machine whose counters may be used (/proc/sys/kernel/perf_event_paranoid 2 or less).",
    )


def no_heap_library() -> Problem:
    """libcoz-heap.so is not installed."""
    return Problem(
        "stack and heap were not varied: libcoz-heap.so, which moves them, is not beside libcoz.so.",
        "install a Coz that has it.",
    )


def left_out(factors: str, reason: Problem) -> Problem:
    """libcoz-heap.so can do nothing in this program, or not all."""
    return Problem(
        f"not varied: {factors}. {reason.text[0].upper()}{reason.text[1:]}",
        "build the program with libc's malloc, linked dynamically.",
    )


def untested(reason: Problem) -> Problem:
    """A run failed after the rounds."""
    return Problem(
        f"slow places may be missing, or what helps there: {reason.text}",
        "let the program run alone a few hundred times: it should end with status 0.",
    )


def allocator_fails(name: str, reason: Problem) -> Problem:
    """The program does not run with another allocator."""
    return Problem(f"{name} could not replace the program's allocator: {reason.text}")


def unnamed(reason: str) -> Problem:
    """What lies at a slow place could not be found."""
    return Problem(f"what collides could not be found out ({reason}).")
