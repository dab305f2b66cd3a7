"""`coz amp`: run a program at several loads, over and over, until its scalability is known."""

from __future__ import annotations

import argparse
import io
import math
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from cozcli.analysis import PACKAGES
from cozcli.commands import options as shared
from cozcli.commands import run, values
from cozcli.errors import STATUS_INTERRUPTED, CozError
from cozcli.launch import messages as launch_messages
from cozcli.load import messages
from cozcli.load.one_run import ended_by_sigterm, run_once
from cozcli.profile.profile import Run, collect_runs, load_profile
from cozcli.profile.reader import ReadProblems, read_records
from cozcli.status_row import StatusRow

DEFAULT_PROFILE = "amp.coz"
DEFAULT_LEVELS = tuple(range(0, 100, 10))
DEFAULT_BUDGET = 600.0
#: Half of each speedup's 95 % interval, in points: so tight, and the sweep ends.
TIGHT = 2.0
#: Rounds before intervals are believed.
MIN_ROUNDS = 2
#: The first level has so many per cent at least: at lower ones chance is larger than what is looked for.
LOW_LEVEL = 5
#: How often a lower load is tried where the first one could not be reached.
MAX_TRIES = 3
#: After so many failed runs of a level, one after another, no more follow: a single one may be an accident.
MAX_FAILURES = 3
#: Arrival speedups that differ by no more than this part are the same level: base load varies.
SAME_LEVEL = 0.02
#: A number with its unit or noun, but none in a name (`a.cpp:17`).
_FIGURE = re.compile(r"(?<![\w:./-])[0-9][0-9.,]*( \w+)?")
#: Options of `coz run` that a sweep sets itself.
OWN = (
    *("--arrival-speedup", "--arrival-rate", "--fixed-speedup", "-o", "--output"),
    *("--until", "--format", "--legacy-format"),
)

#: Options of `coz run` that say which line is sped up, or by how much.
OF_LINES = (
    *("--speedups", "--fixed-line", "--fixed-lines", "--fixed-function"),
    *("--fixed-region", "--fixed-wait", "--fixed-lock"),
)


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "amp",
        help="measure how a program scales under more load",
        usage="coz amp [options] [options of coz run] --- PROGRAM [ARGUMENTS]",
        description="Run a program at several loads, each made by --arrival-speedup, in random order and "
        "repeatedly, and show how its speed depends on load. All runs are added to one profile, which coz "
        "report and coz plot take. Options that are not listed here are those of coz run. What the "
        "program prints is not shown.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        default=DEFAULT_PROFILE,
        help="profile to write, or to add these runs to (default: %(default)s)",
    )
    parser.add_argument(
        "--levels",
        metavar="N,N,...",
        type=_levels,
        default=DEFAULT_LEVELS,
        help="loads, in per cent of the time between two requests that is taken away, 0 to 99; 0 is "
        "always among them (default: 0 to 90 in ten steps)",
    )
    parser.add_argument(
        "--budget",
        metavar="TIME",
        type=values.time,
        default=DEFAULT_BUDGET,
        help="begin no further run after this long: 90s, 5m, 1h (default: 10m)",
    )
    parser.add_argument(
        "--lines",
        action="store_true",
        help="experiment on lines as well, and show whose importance changes with load",
    )
    # What is left over goes to coz run, in its order: no word may be taken out of it here.
    parser.set_defaults(
        execute=execute, accept_others=accept_run_options, parser=parser, words=[], run_options=[]
    )


def execute(options: argparse.Namespace) -> int:
    """Sweep, then report what there is."""
    if not options.program:
        raise CozError(launch_messages.run.no_program(options.words))
    if "%" in options.output:
        options.parser.error(
            "-o: % stands for what differs between runs, but all go to one file; leave it out"
        )
    shared.require_packages(*PACKAGES, "rich")
    status = Sweep(options.output, options.levels, options.budget, _command(options)).run()
    if status != 0:
        return status
    from cozcli.analysis.analyse import analyse
    from cozcli.reports.text import TextReport

    analysis = analyse(load_profile([options.output]))
    shared.write(TextReport(None).render(analysis))
    shared.print_warnings(analysis.warnings)
    return 0


def accept_run_options(options: argparse.Namespace, arguments: Sequence[str]) -> None:
    """See that what is left of the command line would do for `coz run`; an error ends the command."""
    parser = options.parser
    for argument in arguments:
        if argument.partition("=")[0] in OWN:
            parser.error(
                f"{argument.partition('=')[0]} is not for a sweep; see --levels, --budget and --lines"
            )
    checker = argparse.ArgumentParser(prog="coz amp", add_help=False, allow_abbrev=False, usage=parser.usage)
    run.register(checker.add_subparsers())
    parsed = checker.parse_args(["run", *arguments])
    if parsed.words:
        parser.error(f"unrecognized arguments: {' '.join(parsed.words)}; the program comes after ---")
    if not options.lines and (of_lines := [name for name in OF_LINES if _is_given(name, arguments)]):
        parser.error(f"{of_lines[0]} is for experiments on lines: add --lines")
    options.run_options = list(arguments)


def _is_given(name: str, arguments: Sequence[str]) -> bool:
    return any(argument.partition("=")[0] == name for argument in arguments)


class _RefusedError(Exception):
    """`coz run` did not start the program, and has said why."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class Sweep:
    """Rounds of runs, one at each level in random order. `command`: but for the level's own option."""

    def __init__(
        self, profile: str, levels: Sequence[int], budget: float, command: tuple[list[str], list[str]]
    ) -> None:
        self._profile = profile
        self._levels = levels
        self._budget = budget
        self._command = command
        self._start = time.monotonic()
        self._runs = 0
        self._failures: Counter[int] = Counter()  # by level, one after another
        self._failed: set[int] = set()  # levels at which a run failed
        self._has_succeeded = False
        self._beginning = _size(profile)
        self._said: set[str] = set()
        self._planned: dict[int, int] = {}  # arrival speedups by level
        self._earlier: frozenset[int] | None = None  # those of earlier sweeps, once they are known

    def run(self) -> int:
        """Until all intervals are tight, or the budget is used up, or the user has seen enough (SIGINT).

        Returns:
            0; the status of a first run that `coz run` refused and said why; 130 if it was interrupted before
            anything was measured.

        Raises:
            CozError: the first run measured nothing or no arrivals, or runs fail again and again.
        """
        try:
            with ended_by_sigterm(), StatusRow.progress("coz", on_ctrl_z=True) as self._show:
                self._sweep()
        except _RefusedError as refused:
            return refused.status
        except KeyboardInterrupt:
            if _size(self._profile) == self._beginning:
                print("coz: stopped before anything was measured", file=sys.stderr)
                return STATUS_INTERRUPTED
            print("coz: stopped; this is what was measured so far", file=sys.stderr)
        return 0

    def _sweep(self) -> None:
        self._measure(0, 0)
        interval = self._interval()
        first = [level for level in self._levels if level > 0]
        if first and self._has_time():
            interval /= self._try_low(interval, first)
        self._planned = {level: self._arrival_speedup(interval, level) for level in self._levels}
        rounds = 0
        while self._has_time():
            order = first if rounds == 0 else list(self._levels)
            random.shuffle(order)
            for level in order:
                if not self._has_time():
                    return
                if level in self._levels:
                    self._measure(level, self._planned[level])
            rounds += 1
            if rounds >= MIN_ROUNDS and self._is_tight():
                return

    def _arrival_speedup(self, interval: float, level: int) -> int:
        """That of the level; if an earlier sweep had nearly the same, that one, so that both add up."""
        wanted = round(interval * level / 100)
        if self._earlier is None:
            self._earlier = _arrival_speedups(self._profile, self._beginning)
        nearest = min(self._earlier, key=lambda each: abs(each - wanted), default=0)
        return nearest if abs(nearest - wanted) <= SAME_LEVEL * wanted else wanted

    def _try_low(self, interval: float, levels: list[int]) -> float:
        """How many times as high as planned loads become, by a low level or, where that cannot be reached, by
        parts of it. The level is measured then, and taken out of `levels`, unless loads are to be adapted.
        """
        from cozcli.load.scalability import MIN_EXCESS, excess_of_load, unusable_levels

        level = next((level for level in levels if level >= LOW_LEVEL), levels[0])
        arrival_speedup = self._arrival_speedup(interval, level)
        self._measure(level, arrival_speedup)
        tries = 0
        while arrival_speedup in unusable_levels(self._own_runs()) and tries < MAX_TRIES and self._has_time():
            tries += 1
            arrival_speedup = round(arrival_speedup / 4)
            self._measure(level, arrival_speedup)
        excess = excess_of_load(self._own_runs())
        if excess < MIN_EXCESS:
            if tries == 0:
                levels.remove(level)
            return 1.0
        shared.print_warnings([messages.sweep_adapted(excess)])
        # Mostly the number of threads, which rounding makes exact.
        return round(excess) if math.isclose(excess, round(excess), rel_tol=0.05) else excess

    def _has_time(self) -> bool:
        return time.monotonic() - self._start < self._budget

    def _measure(self, level: int, arrival_speedup: int) -> None:
        self._runs += 1
        spent = time.monotonic() - self._start
        self._show(f"run {self._runs}, load {level} %; {spent:.0f} of at most {self._budget:.0f} s")
        before, program = self._command
        done = run_once(
            [*before, "--arrival-speedup", f"{arrival_speedup}ns", "---", *program], self._profile
        )
        self._pass_on(done.stderr)
        status = done.returncode if done.returncode >= 0 else 128 - done.returncode
        if self._runs == 1 and _size(self._profile) == self._beginning:
            if status != 0 and ("coz: error:" in done.stderr or "coz run: error:" in done.stderr):
                raise _RefusedError(status)
            raise CozError(messages.sweep_cannot_start(status), status or 2)
        self._count_failure(level, status)

    def _count_failure(self, level: int, status: int) -> None:
        """A load at which runs fail again and again is left out; without base load the sweep ends."""
        if status == 0:
            self._failures[level], self._has_succeeded = 0, True
            return
        if level not in self._failed:
            self._failed.add(level)
            shared.print_warnings([messages.run_of_sweep_failed(level, status)])
        self._failures[level] += 1
        if not self._has_succeeded and self._failures.total() == MAX_FAILURES:
            raise CozError(messages.sweep_keeps_failing("runs", MAX_FAILURES, status, self._profile), status)
        if self._failures[level] < MAX_FAILURES:
            return
        if level == 0:
            what = "runs at base load"
            raise CozError(messages.sweep_keeps_failing(what, MAX_FAILURES, status, self._profile), status)
        self._levels = tuple(each for each in self._levels if each != level)
        self._planned.pop(level, None)
        shared.print_warnings([messages.level_keeps_failing(level, MAX_FAILURES, status)])

    def _pass_on(self, errors: str) -> None:
        """What runs say (`--quiet`: warnings and errors), each once.

        A warning that another run has with other figures is the same.
        """
        for line in errors.splitlines():
            without_figures = _FIGURE.sub("#", line)
            if without_figures not in self._said:
                self._said.add(without_figures)
                print(line, file=sys.stderr, flush=True)

    def _interval(self) -> float:
        """Nanoseconds between two arrivals in a thread, at base load."""
        records = [
            record.arrivals
            for run_ in self._own_runs()
            for record in run_.experiments
            if record.arrivals and record.arrivals.speedup == 0
        ]
        intervals = sum(arrivals.intervals for arrivals in records)
        between = sum(arrivals.between for arrivals in records)
        if not intervals or not between:
            raise CozError(messages.sweep_without_arrivals(bool(records)))
        return between / intervals

    def _own_runs(self) -> Sequence[Run]:
        """Those of this sweep. Earlier ones in the file may be another program's, or of another machine."""
        with open(self._profile, "rb") as stream:
            stream.seek(self._beginning)
            return collect_runs(read_records(stream, ReadProblems()), self._profile)

    def _is_tight(self) -> bool:
        from cozcli.analysis.result import LATENCY
        from cozcli.load.scalability import measure_scalability

        results = measure_scalability(self._own_runs())
        widths = [
            50 * (point.speedup_high - point.speedup_low)
            for result in results
            if result.kind != LATENCY
            for point in result.points
            if point.arrival_speedup in self._planned.values()
        ]
        return bool(widths) and all(width <= TIGHT for width in widths)


def _command(options: argparse.Namespace) -> tuple[list[str], list[str]]:
    """What comes before the level's option, and the program."""
    before = ["--quiet", "--format", "coz", *options.run_options]  # whatever coz.toml says
    if not any(word.partition("=")[0] in ("--repeat", "--duration") for word in before):
        before += ["--repeat", "1"]
    return before if options.lines else [*before, "--fixed-speedup", "0"], options.program


def _arrival_speedups(profile: str, end: int) -> frozenset[int]:
    """Those in the first `end` bytes of a profile."""
    if end == 0:
        return frozenset()
    with open(profile, "rb") as stream:
        earlier = io.BytesIO(stream.read(end))
    runs = collect_runs(read_records(earlier, ReadProblems()), profile)
    return frozenset(run.arrivals.speedup for each in runs for run in each.experiments if run.arrivals)


def _size(profile: str) -> int:
    try:
        return Path(profile).stat().st_size
    except OSError:
        return 0


def _levels(text: str) -> tuple[int, ...]:
    parts = [part.strip().removesuffix("%").strip() for part in text.split(",")]
    if not all(re.fullmatch(r"[0-9]{1,2}", part) for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of whole numbers of per cent from 0 to 99")
    return tuple(sorted({0, *map(int, parts)}))
