"""Texts about lines, functions and regions that the user chose."""

from __future__ import annotations

from collections.abc import Sequence

from cozcli.errors import Problem
from cozcli.messages import listed

#: A name as the user wrote it, where it stands if not on the command line, and the names nearest to it.
MissingName = tuple[str, str, Sequence[str]]


def fixed_not_found(kind: str, missing: Sequence[MissingName], existing: Sequence[str]) -> Problem:
    """Names of lines that have no code, or of functions that do not exist. `kind`: line or function."""
    is_line = kind == "line"
    what = "line" if is_line else "function"
    if len(missing) == 1:
        ((text, origin, nearest),) = missing
        name = f"{what} {text}" + (f" ({origin})" if origin else "")
        if nearest:
            text = f"there is no code on {name}." if is_line else f"there is no {name}."
            return Problem(text, f"the nearest with code: {listed(nearest, 8)}")
        text = f"there is no {name}."
    else:
        text = f"{len(missing)} of the {what}s that were chosen are not there: "
        text += "; ".join(_missing_with_nearest(one) for one in missing) + "."
    if is_line:
        return Problem(
            text, f"files with code: {listed(existing, 8) or 'none'}; coz lines lists their lines."
        )
    return Problem(text, "coz lines --granularity function lists what there is.")


def _missing_with_nearest(missing: MissingName) -> str:
    text, origin, nearest = missing
    details = [origin] if origin else []
    details += [f"nearest: {listed(nearest)}"] if nearest else ["nothing near"]
    return f"{text} ({'; '.join(details)})"


def fixed_ambiguous(names: Sequence[tuple[str, str, Sequence[str]]]) -> Problem:
    """Names of lines (with their origins) that several files in scope have."""
    text = "; ".join(
        f"{name}{f' ({origin})' if origin else ''} is ambiguous: {len(lines)} files in scope have that line"
        for name, origin, lines in names
    )
    lines = dict.fromkeys(line for _, _, lines in names for line in lines)
    return Problem(f"{text}.", f"write more of the path: {listed(list(lines), 8)}")


def line_not_found_yet(line: str, later: Sequence[str]) -> Problem:
    """--fixed-line names no line of what is loaded at the start."""
    return Problem(
        f"there is no line {line} at the start; it is selected once a library that has it is loaded (-b "
        f"{listed(later)}).",
        "if none has it, nothing is measured: coz lines shows which lines there are.",
    )


def line_never_came(line: str, nearest: Sequence[str]) -> Problem:
    """No library that was loaded later had it either."""
    hint = f"the nearest with code: {listed(nearest)}" if nearest else ""
    return Problem(f"no library that was loaded had a line {line}, so nothing was sped up.", hint)


def fixed_out_of_scope(locations: Sequence[str]) -> Problem:
    """Chosen, but samples there are those of their callers."""
    is_or_are = "is" if len(locations) == 1 else "are"
    return Problem(
        f"{listed(locations, 8)} {is_or_are} out of scope: what is sampled there counts for its caller.",
        "add the file to the scope with -s, beside the program's own files if they are to stay in it.",
    )


def fixed_needs_granularity(option: str, granularity: str) -> Problem:
    """--fixed-line with functions, --fixed-function with lines."""
    if option == "--fixed-function":
        return Problem(
            f"--fixed-function chooses functions, but experiments are on {granularity}s.",
            "add --granularity function.",
        )
    return Problem(
        f"{option} chooses lines, but experiments are on functions.",
        "choose a function with --fixed-function NAME, or leave out --granularity function.",
    )


def too_many_fixed(number: int) -> Problem:
    """They are handed over in one variable of the environment."""
    return Problem(
        f"{number:,} chosen lines are more than can be handed to the program.",
        "choose whole files with -s, or fewer lines.",
    )


def fixed_lines_unreadable(name: str, reason: str) -> Problem:
    """--fixed-lines FILE."""
    return Problem(f"{name} cannot be read ({reason}), so no lines were chosen.", "check the name.")


def fixed_lines_invalid(name: str, invalid: Sequence[tuple[int, str]]) -> Problem:
    """Lines of the file that are no FILE:LINE."""
    texts = "; ".join(f"line {number} is {text!r}" for number, text in invalid[:8])
    more = f"; and {len(invalid) - 8} more" if len(invalid) > 8 else ""
    return Problem(
        f"{name} has lines that are not FILE:LINE: {texts}{more}.",
        "write one a line, as in queue.cpp:10; # begins a comment. coz lines prints such lines.",
    )


def fixed_lines_empty(name: str) -> Problem:
    """Nothing but comments."""
    return Problem(f"{name} lists no line.", "write one a line, as in queue.cpp:10.")


def never_sampled(locations: Sequence[str]) -> Problem:
    """Chosen and there, but the program spent no time in them."""
    return Problem(
        f"no sample was taken in {listed(locations, 8)}: no time is spent there, or too little was "
        "profiled to say.",
        "run longer; a run without a choice shows where the time is spent.",
    )


def never_entered(names: Sequence[str], entered: Sequence[str]) -> Problem:
    """--fixed-region with a name that the program never used."""
    regions = "region" if len(names) == 1 else "regions"
    return Problem(
        f"the program never entered the {regions} {listed(names, 8)}, so nothing was measured there.",
        f"regions that it entered: {listed(entered, 8) or 'none'}",
    )
