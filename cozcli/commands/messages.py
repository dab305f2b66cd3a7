"""Texts of the commands in this package, and of coz.toml; those of a run are in `cozcli.launch.messages`."""

from __future__ import annotations

from collections.abc import Sequence

from cozcli.errors import Problem
from cozcli.messages import listed, printable


def lines_of_what(words: Sequence[str]) -> Problem:
    """`coz lines` with no program, or with several words that may be one."""
    if not words:
        return Problem("no program was given, so there is nothing to list.", "coz lines ./program")
    return Problem(
        f"one program was expected, not {' '.join(words)}.",
        f"leave its arguments out: coz lines {words[0]}",
    )


def no_line_matches(granularity: str, pattern: str) -> Problem:
    """`coz lines --line` with nothing to show."""
    return Problem(
        f"no {granularity} in scope matches {pattern!r}.",
        "see all with coz lines without --line; widen the scope with -s or -b.",
    )


def preload_not_used(library: str) -> Problem:
    """The classic Coz takes its runtime from a variable."""
    return Problem(
        f"COZ_PRELOAD ({library}) is a variable of the classic Coz; this one uses its own runtime.",
        "COZ_HOME names another installation of this one, as in COZ_HOME=/usr/local.",
    )


def config_unreadable(path: str, reason: str) -> Problem:
    """coz.toml is no TOML, or nobody may read it."""
    return Problem(f"{path} cannot be read: {reason}.", "correct it, or leave it aside by --no-config.")


def config_of_another_user(path: str) -> Problem:
    """A coz.toml above the current folder that somebody else wrote, perhaps in /tmp."""
    return Problem(f"{path} belongs to another user, and is not used.", "copy it into a folder of your own.")


def config_unknown_table(path: str, name: str, table: str) -> Problem:
    """Something outside [run]."""
    return Problem(f"{path} has {name}, which means nothing there.", f"write options under [{table}].")


def config_unknown(path: str, key: str, names: Sequence[str]) -> Problem:
    """A key that is no option."""
    import difflib  # for which nobody waits but here

    near = difflib.get_close_matches(key, names, 1)
    instead = f"{near[0]} is meant, perhaps; " if near else ""
    return Problem(
        f"{path}: coz run has no option --{key}.", f"{instead}keys are the long names in coz run --help."
    )


def config_invalid(path: str, key: str, wanted: str) -> Problem:
    """A value of the wrong kind."""
    return Problem(
        f"{path}: {key} is not as it should be: {wanted}.", "see man coz-run for the option's value."
    )


def config_refused(path: str, reason: str) -> Problem:
    """A value that the option does not take."""
    return Problem(f"{path}: {reason}.", "see man coz-run; --no-config leaves the file aside.")


def config_used(path: str, words: Sequence[str]) -> str:
    """Said before a run, since a file that nobody thinks of changes what is measured."""
    return f"options from {path}: {' '.join(words)}"


def curves_left_out(shown: int, total: int) -> str:
    """A picture of the leading results only."""
    return f"{shown} of {total} curves drawn, the others have few data or rank lower; --top N draws more."


def threshold_without_data(threshold: str) -> Problem:
    """All that a threshold of --fail-if means is unfit for it."""
    return Problem(
        f"the threshold {threshold!r} is not checked: all that it means rests on few data, is limited by "
        "load, beyond its share, or on a queue that is unstable. It counts as not exceeded.",
        "run longer; the same -o FILE adds to the profile.",
    )


def threshold_of_rare_point(threshold: str, point: str) -> Problem:
    """--fail-if on a point that was visited, and has no result."""
    return Problem(
        f"the threshold {threshold!r} is not checked: {printable(point)} was visited in too few "
        "experiments. It counts as not exceeded.",
        "run longer; the same -o FILE adds to the profile.",
    )


def threshold_not_measured(threshold: str) -> Problem:
    """Samples there are, but too few for experiments."""
    return Problem(
        f"the threshold {threshold!r} is not checked: what it means takes too little time to have been "
        "measured. It counts as not exceeded."
    )


def threshold_beyond_curves(threshold: str) -> Problem:
    """It asks for a larger speedup than was tried."""
    return Problem(
        f"the threshold {threshold!r} is not checked: no such speedup was measured, nor a larger one. It "
        "counts as not exceeded.",
        "name a speedup within the curves, or profile with larger --speedups.",
    )


def threshold_unknown(threshold: str, locations: Sequence[str], points: Sequence[str]) -> Problem:
    """It names nothing that the profile has, perhaps a misspelt or moved line: a gate that never fails."""
    return Problem(
        f"the threshold {threshold!r} cannot be checked: the profile has no sample in such a line, or no "
        f"such progress point. The closest lines are {listed(locations, 4)}; its points are "
        f"{listed(points, 4)}.",
        "correct the threshold, or name a function or a file, which do not move; leave it out if the line is "
        "not run any more.",
    )


def unknown_picture_format(path: str) -> Problem:
    """A suffix which is not a picture's."""
    return Problem(
        f"cannot tell from the name {path!r} what kind of picture to write.",
        "end it in .png, .svg or .pdf",
    )


def damaged_document(path: str, reason: str) -> Problem:
    """A comparison that is no whole JSON document."""
    return Problem(
        f"{printable(path)} is damaged ({printable(reason)}).", "write it anew by coz compare --json."
    )


def not_our_page(path: str) -> Problem:
    """Something else is where the page is to go."""
    return Problem(
        f"{path} is there already, and is not a page of coz view; it was left as it is.",
        "choose another name with -o FILE, or overwrite it with --force.",
    )


def page_large(size: int) -> Problem:
    """It works, but is slow to load and to send."""
    return Problem(
        f"the page has {size / 1e6:.1f} MB, which browsers take a while to read.",
        "--top N leaves out all but the N highest-ranking results; --no-source leaves out the source.",
    )


def template_missing(reason: str) -> Problem:
    """The installation is incomplete."""
    return Problem(
        f"the template of the page cannot be read ({reason}), so that no page can be made.",
        "install coz again; in a checkout: git checkout cozcli/reports/page_template.html, or make viewer.",
    )


def not_opened(path: str) -> Problem:
    """There is a display, but nothing to show the page with."""
    return Problem(
        "no browser could be started, so that the page was only written.",
        f"open {path} in a browser; --no-open spares the attempt.",
    )
