"""`coz doctor`: what stands in the way of a good profile, and what to do about it."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import textwrap
from collections.abc import Sequence

from cozcli import __version__
from cozcli.commands import options as shared
from cozcli.doctor.finding import OK, PROBLEM, WARNING, Finding
from cozcli.doctor.machine import Machine, Refused, examine_machine
from cozcli.doctor.program import examine_program
from cozcli.errors import CozError
from cozcli.launch import messages
from cozcli.launch.helper import Helper
from cozcli.launch.line_tables import Scope
from cozcli.launch.runtime_library import find_installation
from cozcli.messages import count, printable

FORMAT, VERSION = "coz-doctor", 1
#: A finding is a problem.
STATUS_PROBLEM = 1
_COLOURS = {OK: "\x1b[32m", WARNING: "\x1b[33m", PROBLEM: "\x1b[1;31m"}
_PLAIN_WIDTH = 100


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "doctor",
        help="say what stands in the way of a good profile",
        usage="coz doctor [options] [PROGRAM]",
        description="Look at this machine and at a program, without running it, and say what stands in the "
        "way of a good profile and what to do about it. The exit status is 1 if there is a problem.",
        allow_abbrev=False,
    )
    shared.add_scope_options(parser, ("line", "function"))
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    parser.add_argument(
        "words", nargs="*", metavar="PROGRAM", help="as given to coz run; arguments are ignored"
    )
    parser.set_defaults(execute=execute, parser=parser)


def execute(options: argparse.Namespace) -> int:
    """Look at everything, print, tell by the status whether something is a problem."""
    installation = find_installation()
    helper = Helper(installation.helper, options.debuginfod, options.granularity == "function")
    status, answer = helper.ask(["sampling"])
    if status != 0:
        reason = answer.get("message", f"status {status}")
        raise CozError(messages.scope.helper_failed(str(installation.helper), reason))
    refused = Refused(*(str(answer[name]) for name in ("trap_error", "kernel_error", "signal_error")))
    findings = examine_machine(Machine(), refused)
    if options.config is not None:
        used = " ".join(options.from_config) or "nothing that coz doctor uses"
        findings.append(Finding(OK, "config", f"{options.config}: {used}"))
    program = [*options.program, *options.words]
    if program:
        scope = Scope(options.source_scope, options.binary_scope, options.granularity)
        findings += examine_program(program[0], helper, scope)
    if options.json:
        document = {"format": FORMAT, "version": VERSION, "coz": __version__}
        shared.write(json.dumps({**document, "findings": [f._asdict() for f in findings]}, indent=2) + "\n")
    else:
        shared.write(_render(findings, bool(program)))
    return STATUS_PROBLEM if any(finding.level == PROBLEM for finding in findings) else 0


def _render(findings: Sequence[Finding], with_program: bool) -> str:
    terminal = sys.stdout.isatty()
    colours = terminal and not os.environ.get("NO_COLOR")
    width = max(40, min(shutil.get_terminal_size().columns, 120)) if terminal else _PLAIN_WIDTH
    lines = []
    for finding in findings:
        level = f"{finding.level:8}"
        text = printable(f"{finding.subject}: {finding.text}")
        first, *others = textwrap.wrap(text, width - 9, break_long_words=False, break_on_hyphens=False)
        lines.append((f"{_COLOURS[finding.level]}{level}\x1b[0m" if colours else level) + f" {first}")
        lines += [f"{'':9}{line}" for line in others]
        if finding.remedy:
            remedy = textwrap.wrap(
                printable(finding.remedy), width - 12, break_long_words=False, break_on_hyphens=False
            )
            lines += [f"{'':9}{'->' if index == 0 else '  '} {line}" for index, line in enumerate(remedy)]
    return "\n".join([*lines, "", _conclusion(findings, with_program)]) + "\n"


def _conclusion(findings: Sequence[Finding], with_program: bool) -> str:
    problems = sum(finding.level == PROBLEM for finding in findings)
    warnings = sum(finding.level == WARNING for finding in findings)
    if problems:
        return f"{count(problems, 'problem')}: coz run would make no profile. What to do stands after ->."
    text = f"Nothing prevents a profile; {count(warnings, 'warning')}." if warnings else "All is well."
    return text if with_program else f"{text} To look at a program too: coz doctor PROGRAM"
