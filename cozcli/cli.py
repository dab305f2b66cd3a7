"""The command `coz`: its list of subcommands, and the only place where it exits."""

from __future__ import annotations

import argparse
import contextlib
import errno
import gc
import io
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from cozcli import __version__
from cozcli.commands import project
from cozcli.errors import STATUS_INTERRUPTED, STATUS_REFUSED, CozError, Problem, reason_of
from cozcli.messages import output_full, printable

#: What writing to a file that is standard output fails with.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)

#: Modules of the commands, in the order of `coz --help`. A new command is one module and one entry here.
COMMANDS = {
    "run": "cozcli.commands.run",
    "doctor": "cozcli.commands.doctor",
    "amp": "cozcli.load.command",
    "compare": "cozcli.compare.command",
    "bias": "cozcli.bias.command",
    "layout": "cozcli.compare.layout_command",
    **{
        name: f"cozcli.commands.{name}"
        for name in ("report", "plot", "view", "diff", "merge", "convert", "lines")
    },
}
#: Commands after whose options a program may stand, with arguments that are not for us.
_WITH_PROGRAM = ("run", "lines", "doctor", "amp", "compare", "bias", "layout")
#: Of these, commands whose program may stand without a separator: `--` can then be an argument of its own.
_WITHOUT_SEPARATOR = ("compare", "bias", "layout")
_NEGATIVE = re.compile("-[.0-9]")
_SEPARATORS = ("---", "--")

EPILOG = """\
before:   coz doctor ./program
first:    coz run --- ./program arguments
then:     coz report
or:       coz plot, coz view
options:  coz COMMAND --help
"""


class _Parser(argparse.ArgumentParser):
    """Makes formatters for help, as argparse does for each option that is added, without importing shutil.

    `coz run` would wait 3 ms for that.
    """

    def _get_formatter(self) -> argparse.HelpFormatter:
        return self.formatter_class(prog=self.prog, width=_width())  # type: ignore[call-arg]


def _width() -> int:
    """Of help: as argparse has it."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns) - 2
    try:
        return (os.get_terminal_size(1).columns or 80) - 2
    except OSError:
        return 78


def build_parser(only: str | None = None) -> argparse.ArgumentParser:
    """The command line: the whole of it, or `only` one command, which spares importing the others."""
    parser = _Parser(
        prog="coz",
        description="Coz tells which lines of a program are worth optimizing, and by how much.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"coz {__version__}")
    # Without `prog`, argparse would format a usage to find it, and import shutil for that.
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, prog="coz")
    for command, module in COMMANDS.items():
        if only in (None, command):
            import_module(module).register(subparsers)
    for each in subparsers.choices.values():
        # `-5s` is a value that its option refuses; argparse would take it for an option itself.
        each._negative_number_matcher = _NEGATIVE
    return parser


def parse(arguments: Sequence[str], program: Sequence[str] = ()) -> argparse.Namespace:
    """Read the command line; what is wrong with a command's options is said with that command's usage.

    Raises:
        CozError: what is wrong is in coz.toml.
    """
    known = arguments and arguments[0] in COMMANDS
    # --version needs none of the commands; importing all of them takes longest.
    only = "run" if list(arguments[:1]) == ["--version"] else arguments[0] if known else None
    parser = build_parser(only)
    from_file: list[str] = []
    path = None
    if known and arguments[0] in project.COMMANDS:
        command: argparse.ArgumentParser = parser.parse_known_args(arguments[:1])[0].parser
        from_file, path = project.project_options(command, arguments, program)
    options, unknown = parser.parse_known_args([*arguments[:1], *from_file, *arguments[1:]])
    options.config, options.from_config = path, from_file
    if "accept_others" in options:
        options.accept_others(options, unknown)  # they are for another command
    elif unknown and _are_files(unknown, options):
        options.files = [*options.files, *unknown]  # argparse takes those before an option only
    elif unknown:
        options.parser.error(_unknown(unknown, options.parser))
    return options


def _are_files(words: Sequence[str], options: argparse.Namespace) -> bool:
    """Not behind `coz view --compare`, where a second profile may be meant to be compared, too."""
    is_clear = "files" in options and not getattr(options, "compare", None)
    return is_clear and not any(word.startswith("-") for word in words)


def _unknown(words: Sequence[str], parser: argparse.ArgumentParser) -> str:
    """Arguments that the command does not have, and the option that the first one may be meant for."""
    import difflib  # for which nobody waits but here

    near = difflib.get_close_matches(words[0].partition("=")[0], parser._option_string_actions, 1, 0.7)
    guess = f" (did you mean {near[0]}?)" if near else ""
    return f"unrecognized arguments: {' '.join(words)}{guess}"


def separate_program(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Divide `run [options] --- program args`, and `lines` and `doctor` likewise, before anything is parsed.

    Returns:
        What is coz's, and the program with its arguments (empty without a separator).
    """
    if arguments and arguments[0] in _WITH_PROGRAM:
        separators = _SEPARATORS[:1] if arguments[0] in _WITHOUT_SEPARATOR else _SEPARATORS
        for index, argument in enumerate(arguments):
            if argument in separators:
                return list(arguments[:index]), list(arguments[index + 1 :])
    return list(arguments), []


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: arguments without the program's name; `sys.argv[1:]` by default.

    Returns:
        The exit status: the command's own, or that of the `CozError` which ended it.
    """
    # A child that Ctrl-Z stops before it executes its program would keep us in vfork(), which no signal ends.
    subprocess._USE_VFORK = False  # type: ignore[misc]
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller, and so it stays for the program
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
    _forget_unwritten_messages()
    _forget_locale_of_python()
    arguments = list(sys.argv[1:] if argv is None else argv)
    own, program = separate_program(arguments)
    try:
        options = parse(own, program)
        options.program, options.given = program, own
        gc.enable()  # start() was called without: there is no garbage among imports
        status: int = options.execute(options)
        sys.stdout.flush()
    except CozError as error:
        _print_error(error.problem)
        return error.status
    except BrokenPipeError:
        # The reader of a pipe (`coz report | head`) has seen enough. Python would complain again
        # when it flushes at exit, so nothing may be left to flush.
        _leave_output()
        return 0
    except OSError as error:
        if error.errno not in _FULL or error.filename is not None:
            raise
        _leave_output()
        _print_error(output_full(reason_of(error)))
        return STATUS_REFUSED
    except KeyboardInterrupt:
        return STATUS_INTERRUPTED
    return status


def _forget_unwritten_messages() -> None:
    """Standard error gets no buffer: what cannot be written is gone, and fails no further flush."""
    if sys.stderr is sys.__stderr__ and sys.stderr is not None:
        raw = io.FileIO(sys.stderr.fileno(), "w", closefd=False)
        sys.stderr = io.TextIOWrapper(raw, sys.stderr.encoding, sys.stderr.errors, write_through=True)


def _forget_locale_of_python() -> None:
    """In the C locale Python sets LC_CTYPE for its own process (PEP 538); programs are not to inherit it."""
    if "LC_CTYPE" not in os.environ:
        return
    with contextlib.suppress(OSError), open("/proc/self/environ", "rb") as stream:
        if b"\0LC_CTYPE=" not in b"\0" + stream.read():
            del os.environ["LC_CTYPE"]


def _print_error(problem: Problem) -> None:
    with contextlib.suppress(OSError):  # nobody reads it; the status says it, too
        print(f"coz: error: {printable(problem.text)}", file=sys.stderr)
        if problem.hint:
            print(f"coz: hint: {printable(problem.hint)}", file=sys.stderr)


def _leave_output() -> None:
    """What is still to be flushed goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def start() -> NoReturn:
    """Run the command of `sys.argv` and end the process.

    Where a program was run, without taking Python down first, for which its caller would wait 8 ms.
    """
    status = main()
    if sys.argv[1:2] == ["run"]:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)
