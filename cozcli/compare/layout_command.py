"""`coz layout check` and `coz layout replay`: can functions be moved, and what happens in one layout?"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
from typing import TYPE_CHECKING, Any

from cozcli.commands import options as shared
from cozcli.commands import values
from cozcli.compare import PACKAGES, messages
from cozcli.compare.machine import check_input
from cozcli.compare.personality import set_randomised
from cozcli.compare.self_test import SelfTest, program_of, self_test
from cozcli.compare.sides import one_program, program_path
from cozcli.compare.trial import DEFAULT_SIGNALS
from cozcli.errors import STATUS_NOT_EXECUTABLE, CozError, reason_of
from cozcli.launch.layout_plan import ORIGINAL, LayoutPlan, plan_layout, preloaded
from cozcli.messages import count, printable
from cozcli.status_row import StatusRow

if TYPE_CHECKING:
    from cozcli.compare.explain import Explained
    from cozcli.compare.result import Estimate

#: Of `check`: the program did something else.
STATUS_DIFFERS = 1
_SEEDS = 10
_SHOWN = 10


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "layout",
        help="check whether functions can be moved at start-up, or run one layout",
        description="coz compare gives every run another layout: functions in random order, moved when the "
        "program starts. These commands check that for a program, and repeat one layout.",
        allow_abbrev=False,
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    check = actions.add_parser(
        "check",
        help="say what can be moved, and run the program under several seeds",
        usage="coz layout check [options] ./program [arguments]",
        description="Say which share of the program's code can be moved, and why the rest cannot. Then run "
        "it once as it is and under several seeds: status and output have to be the same.",
        allow_abbrev=False,
    )
    check.add_argument(
        "--seeds",
        metavar="K",
        type=_seeds,
        default=_SEEDS,
        help=f"runs in random layouts (default: {_SEEDS}; 0: none)",
    )
    check.add_argument("--layout-seed", metavar="N", type=values.seed, help="draw the seeds by this number")
    check.add_argument("--input", metavar="FILE", default=os.devnull, help="its standard input")
    check.add_argument("--json", action="store_true", help="print JSON")
    replay = actions.add_parser(
        "replay",
        help="run the program in one layout",
        usage="coz layout replay [options] ./program [arguments]",
        description="Run the program in the layout of a seed, in this terminal. Address space randomisation "
        "is switched off, so that addresses are the same each time.",
        allow_abbrev=False,
    )
    replay.add_argument(
        "--seed",
        metavar="N",
        type=_seed,
        help=f"as coz layout check told it; {ORIGINAL}: copies as the linker left the functions",
    )
    replay.add_argument(
        "--explain",
        action="store_true",
        help="run it again and again, and find the functions whose places make the layout slow or fast; "
        "without --seed, of the most different of twelve layouts",
    )
    replay.add_argument("--input", metavar="FILE", help="with --explain: its standard input")
    replay.add_argument("--json", action="store_true", help="with --explain: print JSON")
    for each, execute in ((check, execute_check), (replay, execute_replay)):
        each.add_argument(
            "--rerandomize",
            metavar="TIME",
            type=values.interval,
            default=0,
            help="let calls lead to another layout in such intervals, as 500ms",
        )
        each.add_argument(
            "command_line", nargs=argparse.REMAINDER, metavar="PROGRAM", help="and its arguments"
        )
        each.set_defaults(execute=execute, parser=each)


def execute_check(options: argparse.Namespace) -> int:
    """Plan, test, print."""
    command = _command(options)
    check_input(options.input)
    plan = plan_layout(program_of(command), options.rerandomize)
    generator = random.Random(options.layout_seed)
    seeds = [generator.getrandbits(63) for _ in range(options.seeds)]
    try:
        with StatusRow.progress("coz") as show:
            test = self_test(plan, command, seeds, options.input, progress=show) if seeds else None
    except OSError as error:
        raise CozError(messages.cannot_start(command[0], reason_of(error)), STATUS_NOT_EXECUTABLE) from error
    shared.write(as_json(plan, test) if options.json else as_text(plan, test))
    return 0 if test is None or test.passed else STATUS_DIFFERS


def execute_replay(options: argparse.Namespace) -> int:
    """Become the program."""
    command = _command(options)
    if options.explain:
        return _explain(options, command)
    if options.seed is None:
        options.parser.error("--seed or --explain is needed")
    if options.json or options.input is not None:
        options.parser.error("--json and --input go with --explain only")
    plan = plan_layout(program_of(command), options.rerandomize)
    if not _fix_addresses():
        shared.print_warnings([messages.addresses_vary("the program runs at other addresses each time")])
    for number in DEFAULT_SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execve(command[0], command, preloaded(plan, options.seed, os.environ))
    except OSError as error:
        problem = messages.cannot_start(command[0], reason_of(error))
        raise CozError(problem, STATUS_NOT_EXECUTABLE) from error


def _explain(options: argparse.Namespace, command: list[str]) -> int:
    shared.require_packages(*PACKAGES)
    from cozcli.compare.explain import Explainer  # which needs numpy

    if options.rerandomize or options.seed == ORIGINAL:
        options.parser.error(f"--explain goes neither with --rerandomize nor with --seed {ORIGINAL}")
    stdin = options.input or os.devnull
    check_input(stdin)
    plan = plan_layout(program_of(command))
    if not _fix_addresses():
        raise CozError(messages.addresses_vary("one layout cannot be measured"))
    with StatusRow.progress("coz") as show:
        found = Explainer(plan, command, stdin, show).explain(options.seed)
    shared.write(explained_as_json(found) if options.json else explained_as_text(plan, found))
    return 0


def explained_as_json(found: Explained) -> str:
    """Ratios to the functions as the linker left them."""

    def ratios(effect: Estimate) -> dict[str, float]:
        return {"ratio": effect.ratio, "low": effect.low, "high": effect.high}

    data = {
        "seed": found.seed,
        **ratios(found.whole),
        "reason": found.reason,
        "functions": [
            {
                "names": list(place.unit.functions),
                "file_address": place.unit.address,
                "bytes": place.unit.bytes,
                "linked": place.linked,
                "address": place.address,
            }
            for place in found.places
        ],
        "alone": ratios(found.part) if found.part else None,
    }
    return json.dumps(data, indent=1) + "\n"


def explained_as_text(plan: LayoutPlan, found: Explained) -> str:
    """The same for people."""
    from cozcli.compare.explain import MAX_FOUND

    layout, left = f"Layout {found.seed}", "the functions as the linker left them"
    if found.reason == "none":
        return f"{layout} takes as long as {left}: {_more(found.whole)}. There is nothing to explain.\n"
    lines = [f"{layout} takes {_more(found.whole)} than {left}."]
    if found.reason:
        lines.append(
            {
                "small": "That is too little to be taken apart: runs differ by more.",
                "spread": f"More than {MAX_FOUND} of {plan.units:,} functions are needed for half of that.",
                "unsure": "No function was found that makes half of that: runs differ too much.",
            }[found.reason]
        )
    elif found.part:
        only = count(len(found.places), "function")
        lines += [
            f"With {only} of {plan.units:,} moved there, and the others as the linker left them: "
            f"{_more(found.part)}.",
            "",
        ]
        lines += [
            f"  {printable(', '.join(unit.functions)) or f'(no name, {unit.address:#x} in the file)'}: "
            f"{unit.bytes:,} bytes, "
            f"from {linked:#x} to {address:#x}"
            for unit, linked, address in found.places
        ]
    return "\n".join(lines) + "\n"


def _more(effect: Estimate) -> str:
    """As "3.1 % more time [2.5, 3.7]"."""
    ratio, low, high = effect.ratio, effect.low, effect.high
    word = "more"
    if ratio < 1:
        word, ratio, low, high = "less", 2 - ratio, 2 - high, 2 - low
    return f"{100 * (ratio - 1):.1f} % {word} time [{100 * (low - 1):.1f}, {100 * (high - 1):.1f}]"


def _fix_addresses() -> bool:
    """For this process's children and what it executes. False if the kernel refuses, as in a container."""
    with contextlib.suppress(OSError):
        set_randomised(False)
        return True
    return False


def _command(options: argparse.Namespace) -> list[str]:
    words = one_program(options.command_line, options.program)
    if not words:
        options.parser.error("no program was given")
    return [program_path(words[0]), *words[1:]]


def as_json(plan: LayoutPlan, test: SelfTest | None) -> str:
    """What the plan and the runs say; shares as fractions, times in seconds."""
    data: dict[str, Any] = {
        "binary": plan.binary,
        "movable": plan.movable,
        "text_bytes": plan.text_bytes,
        "movable_bytes": plan.movable_bytes,
        "functions": plan.functions,
        "kept_entries": plan.kept_entries,
        "rerandomize": plan.interval / 1000 or None,
        "pinned_count": plan.pinned_count,
        "pinned": [each._asdict() for each in plan.pinned],
        "self_test": None,
    }
    if test is not None:
        data["self_test"] = {
            "passed": test.passed,
            "seeds": test.seeds,
            "unmoved": test.unmoved,
            "output_repeats": test.output_repeats,
            "status_repeats": test.status_repeats,
            "start": test.start,
            "differences": [each._asdict() for each in test.differences],
        }
    return json.dumps(data, indent=1) + "\n"


def as_text(plan: LayoutPlan, test: SelfTest | None) -> str:
    """The same for people."""
    lines = [
        f"{printable(plan.binary)}: {_percent(plan.movable)} of {plan.text_bytes:,} bytes of code can be "
        f"moved, {count(plan.functions, 'function')}."
    ]
    if plan.kept_entries:
        lines.append(
            f"{count(plan.kept_entries, 'function')} of these {'runs' if plan.kept_entries == 1 else 'run'} "
            "at the original place when called by a pointer: there is no room for a jump to the copy."
        )
    lines += _pinned(plan)
    if test is not None:
        lines += _tested(test, plan.interval)
    return "\n".join(lines) + "\n"


def _pinned(plan: LayoutPlan) -> list[str]:
    if not plan.pinned_count:
        return []
    lines = [
        "",
        f"{count(plan.pinned_count, 'piece')} of code {'stays' if plan.pinned_count == 1 else 'stay'}:",
    ]
    lines += [
        f"  {each.address:#x} {printable(each.function) or '(no name)'}: {each.bytes} bytes; it {each.reason}"
        for each in plan.pinned[:_SHOWN]
    ]
    if plan.pinned_count > _SHOWN:
        lines.append(f"  and {plan.pinned_count - _SHOWN} smaller ones (--json lists up to 1,000)")
    return lines


def _tested(test: SelfTest, interval: int) -> list[str]:
    lines = [""]
    runs = count(test.seeds, "run")
    if test.passed:
        same = "same status and output as" if test.output_repeats else "same status as"
        lines.append(
            f"{runs} in random layouts: {same if test.status_repeats else 'no worse than'} the plain run."
        )
    elif test.unmoved:
        lines.append(
            f"{runs}, in {test.unmoved} of which the library was not loaded: nothing was moved there."
        )
    for each in test.differences[:_SHOWN]:
        lines.append(f"seed {each.seed}: {printable(each.what)}")
    if test.differences:
        again = f" --rerandomize {interval}ms" if interval else ""
        lines.append(f"coz layout replay --seed N{again} runs one of them. Please report it.")
        if interval:
            lines.append(
                "When functions move again depends on the machine: one seed may end in several ways."
            )
    if not test.status_repeats:
        lines.append("Plain runs end with different statuses, so neither these nor output were compared.")
    elif not test.output_repeats:
        lines.append("Plain runs print different things, so output was not compared.")
    if test.start is not None:
        lines.append(f"Moving the functions took {1000 * test.start:.2g} ms at each start.")
    return lines


def _percent(share: float) -> str:
    """Never rounded up to all."""
    return f"{int(share * 10_000) / 100:g} %"


def _seeds(text: str) -> int:
    number = shared.natural(text)
    if number > 10_000:
        raise argparse.ArgumentTypeError(f"{text!r} is more than 10000")
    return number


def _seed(text: str) -> int | str:
    return ORIGINAL if text == ORIGINAL else values.seed(text)
