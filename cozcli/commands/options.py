"""Options that several commands share."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from cozcli import messages
from cozcli.errors import CozError, Problem
from cozcli.messages import printable

if TYPE_CHECKING:
    from cozcli.analysis.result import Analysis
    from cozcli.profile.profile import Profile

DEFAULT_PROFILE = "profile.coz"
#: Of regex.h: room for a regex_t, and a flag.
_REGEX_SIZE, _REG_EXTENDED = 256, 1
#: Forms besides the table, and what --help says of them.
FORMS = {"json": "print JSON", "csv": "print CSV", "markdown": "print a Markdown table"}


def add_analysis_options(parser: argparse.ArgumentParser, min_points: int | None, default: str) -> None:
    """The files to read and the results to show. `default` says what `min_points` amounts to."""
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help=f"profiles, pooled (default: {DEFAULT_PROFILE})",
    )
    parser.add_argument(
        "--line",
        metavar="PATTERN",
        help="only this line: FILE:LINE, FILE, a function, or a pattern with %% for any text",
    )
    parser.add_argument("--progress-point", metavar="NAME", help="only effects on this progress point")
    parser.add_argument(
        "--min-points",
        metavar="N",
        type=natural,
        default=min_points,
        help=f"only lines measured at N or more different speedups above 0 (default: {default})",
    )


def add_scope_options(parser: argparse._ActionsContainer, granularities: Sequence[str]) -> None:
    """What may be selected: -s, -b, --debuginfod, --granularity; and --no-config."""
    parser.add_argument(
        "-s",
        "--source-scope",
        metavar="PATTERN",
        action="append",
        default=[],
        type=_path_pattern,
        help="source files whose lines may be selected (default: those of the program); repeatable. "
        "re:EXPRESSION is a regular expression",
    )
    parser.add_argument(
        "--source-exclude",
        metavar="PATTERN",
        action="append",
        dest="source_scope",
        type=_exclusion,
        help="source files whose lines may not be selected, whatever else matches; repeatable",
    )
    parser.add_argument(
        "-b",
        "--binary-scope",
        metavar="PATTERN",
        action="append",
        default=[],
        type=_binary_pattern,
        help="binaries whose lines may be selected, also such as are loaded later; MAIN is the program "
        "(default: MAIN); repeatable",
    )
    parser.add_argument(
        "--debuginfod",
        action="store_true",
        help="ask the servers in DEBUGINFOD_URLS for debug information that is not on this machine",
    )
    parser.add_argument(
        "--granularity",
        choices=granularities,
        default="line",
        help="what is sped up at a time: a line, a whole function"
        + (", or a line under one caller" if "callpath" in granularities else "")
        + " (default: %(default)s)",
    )
    parser.add_argument(
        "--no-config",
        action="store_true",
        help="do not use coz.toml, which has a project's options and is looked for in the current folder and "
        "those above it, then in the program's",
    )


def add_forms(parser: argparse._ActionsContainer, forms: Mapping[str, str]) -> None:
    """An option for each form, of which one may be given, as `form`."""
    group = parser.add_mutually_exclusive_group()
    for name, what in forms.items():
        group.add_argument(f"--{name}", dest="form", action="store_const", const=name, help=what)


def pattern(text: str) -> str:
    """One line of text, which may be a POSIX extended regular expression behind `re:`."""
    if not text or "\n" in text:
        raise argparse.ArgumentTypeError("a pattern must be one line of text")
    if text.startswith("re:"):
        problem = _problem_of_expression(text[3:])
        if problem:
            raise argparse.ArgumentTypeError(
                f"{text[3:]!r} is no POSIX extended regular expression: {problem}"
            )
    return text


def _problem_of_expression(expression: str) -> str:
    """What libc, which will use it, says of it; empty if nothing is wrong."""
    if "\\d" in expression or "\\D" in expression:
        return "write [0-9] for \\d, and [^0-9] for \\D"
    import ctypes

    libc = ctypes.CDLL(None)
    compiled = ctypes.create_string_buffer(_REGEX_SIZE)
    error = libc.regcomp(compiled, os.fsencode(expression), _REG_EXTENDED)
    if error == 0:
        libc.regfree(compiled)
        return ""
    text = ctypes.create_string_buffer(200)
    libc.regerror(error, compiled, text, len(text))
    return text.value.decode(errors="replace")


def below(folder: str, text: str) -> str:
    """A pattern for paths, which begins in the folder if it begins with `./` or `../`."""
    return os.path.normpath(os.path.join(folder, text)) if text.startswith(("./", "../")) else text


def _path_pattern(text: str) -> str:
    """For source files: `./` is the current folder as the shell, and so compilers, name it."""
    here = os.environ.get("PWD", "")
    with contextlib.suppress(OSError):
        if not os.path.isabs(here) or not os.path.samefile(here, "."):
            here = os.getcwd()
    return pattern(below(here, text))


def _binary_pattern(text: str) -> str:
    """For binaries, which are known by their real paths."""
    return pattern(below(os.path.realpath("."), text))


def _exclusion(text: str) -> str:
    return f"!{_path_pattern(text)}"


def require_packages(*names: str) -> None:
    """See that a command has the Python packages it needs. `coz run` needs none.

    Raises:
        CozError: some are not there; the message names the interpreter that was asked.
    """
    import importlib.util  # which `coz run` need not wait for

    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if missing:
        raise CozError(messages.packages_missing(sys.executable, missing))
    if "numpy" in names:
        _load_numpy()


def _load_numpy() -> None:
    """Load scipy, and numpy with it, with one thread for linear algebra.

    OpenBLAS starts a thread for each core; for matrices as small as ours they cost more than they save. It
    reads the variable once, while it is loaded. Programs that are started later must not inherit it.
    """
    name = "OPENBLAS_NUM_THREADS"
    if name in os.environ:
        return
    os.environ[name] = "1"
    try:
        import scipy.special  # noqa: F401
    finally:
        del os.environ[name]


def natural(text: str) -> int:
    """An option's value as an integer from 0."""
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 0 (got {text!r})")
    return int(text[:18])


def positive(text: str) -> int:
    """An option's value as an integer from 1."""
    if not (text.isascii() and text.isdigit()) or natural(text) == 0:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1 (got {text!r})")
    return natural(text)


def print_warnings(warnings: Iterable[Problem]) -> None:
    """Each on standard error, so that a report can be piped."""
    sys.stdout.flush()
    with contextlib.suppress(OSError):  # nobody reads them
        for warning in warnings:
            print(f"coz: warning: {printable(warning.text)}", file=sys.stderr)
            if warning.hint:
                print(f"coz: hint: {printable(warning.hint)}", file=sys.stderr)


def about(name: str, warning: Problem) -> Problem:
    """With the profile that it is about, which some name themselves."""
    return (
        warning if warning.text.startswith(f"{name}: ") else warning._replace(text=f"{name}: {warning.text}")
    )


def naming(name: str, analyse: Callable[[Profile], Analysis], profile: Profile) -> Analysis:
    """What the analysis says, or the error that says of which profile there is nothing to say.

    Raises:
        CozError: nothing can be estimated.
    """
    try:
        return analyse(profile)
    except CozError as error:
        raise CozError(about(name, error.problem)) from None


def terminal_width() -> int | None:
    """Columns of standard output's terminal; None if it is none."""
    if not sys.stdout.isatty():
        return None
    import shutil  # which `coz run` need not wait for

    return shutil.get_terminal_size().columns


def write(text: str) -> None:
    """Write text to standard output, whatever the locale's encoding can hold."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        sys.stdout.write(text.encode(encoding, errors="replace").decode(encoding))
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough; the command's status is another matter
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
