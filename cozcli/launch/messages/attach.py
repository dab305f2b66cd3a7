"""Texts about profiling a process that the launched program starts."""

from __future__ import annotations

from collections.abc import Sequence

from cozcli.errors import Problem
from cozcli.messages import listed


def not_profiled(program: str, problem: Problem) -> Problem:
    """It was started, and cannot be profiled."""
    return Problem(f"{program} runs unprofiled: {problem.text}", problem.hint)


def never_started(patterns: Sequence[str], launched: str) -> Problem:
    """Nothing with the name asked."""
    return Problem(
        f"{launched} started no program that matches -b {listed(patterns)}, so nothing was profiled.",
        "a name without a slash is the file's; else % stands for any text of the whole path. Programs "
        "that are linked statically or with musl, built with gcc's -fsanitize=address, or started with an "
        "environment without LD_PRELOAD, cannot be profiled. A library that is loaded later is named with "
        ".so in its pattern, as %/libfoo.so%.",
    )


def not_all(beside: int) -> Problem:
    """Processes of the program ran side by side."""
    who = "one process of the program" if beside == 1 else f"{beside} processes of the program"
    return Problem(
        f"{who} ran at the same time as another, and {'was' if beside == 1 else 'were'} not profiled: coz "
        "profiles one at a time.",
        "run them one after another (make -j1), or start their parent with coz run --tree. As it is, effects "
        "are wrong where these processes wait for each other.",
    )


def answer_too_long(size: int) -> Problem:
    """What the options select does not fit into one packet."""
    return Problem(
        f"the chosen lines and patterns take {size:,} bytes, more than can be handed to a program that the "
        "launched one starts.",
        "select fewer lines, or a pattern (-s) instead of a list of lines.",
    )


def no_socket(reason: str) -> Problem:
    """Processes have nobody to ask."""
    return Problem(
        f"no socket could be made for the programs that would be started ({reason}), so nothing was started.",
        "see that TMPDIR is a folder that can be written, with a path of at most 80 characters.",
    )


def never_forked(launched: str, generations: int) -> Problem:
    """--forked, and no child asked."""
    what = "no child" if generations == 1 else f"no child in generation {generations}"
    return Problem(
        f"{launched} forked {what} that could be profiled, so nothing was.",
        "fork, daemon and forkpty are seen, but not in a signal handler; vfork, posix_spawn, system and "
        "clone are not. A daemon that forks twice takes --forked 2. For a script, name the program that "
        "forks: -b NAME. Without --forked the program itself is profiled.",
    )


def tree_of_a_child() -> Problem:
    """--tree goes with the launched program."""
    return Problem(
        "--tree begins with the launched program, and --forked with a child of it.", "leave one of them out."
    )


def tree_wants_a_path(pattern: str) -> Problem:
    """Lines are read before the program starts."""
    return Problem(
        f"with --tree, -b {pattern} does not say which program is meant.",
        "name each program by its path, or as a shell finds it.",
    )


def tree_with(program: str, option: str) -> Problem:
    """Each process would do something of its own."""
    return Problem(
        f"--tree with programs that are executed (-b {program}) and {option} do not go together.",
        "leave one of them out.",
    )


def no_tree_file(reason: str) -> Problem:
    """No memory that programs can share."""
    return Problem(
        f"no memory could be shared between programs ({reason}), so nothing was started.",
        "leave out --tree, or the programs that -b names.",
    )


def forked_and_named(names: Sequence[str]) -> Problem:
    """--forked goes with the launched program."""
    return Problem(
        f"--forked follows the launched program, and -b {listed(names)} names another one below it.",
        "start that program itself with coz run --forked, or leave --forked out.",
    )
