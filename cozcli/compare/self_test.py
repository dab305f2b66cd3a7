"""Does a program do the same when its functions lie elsewhere? Runs under several seeds, beside plain ones.

Only what differs from plain runs counts, and only if the same seed does it twice; what plain runs differ in,
by chance or the time of day, does not.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from cozcli.compare import messages
from cozcli.errors import CozError
from cozcli.launch.layout_plan import STATUS_GAVE_UP, LayoutPlan, LayoutReport, preloaded
from cozcli.messages import signal_name

#: A moved program that takes longer than so many plain runs, and so many seconds, hangs.
_TIMES, _SECONDS = 20.0, 60.0
#: Plain runs that a difference asks for.
_MORE_PLAIN = 2
#: What the library says before it ends the program with `STATUS_GAVE_UP`.
_GAVE_UP = "coz-layout: the functions of this program cannot be moved: "
#: Where functions move again at times that the seed does not tell, it may need some runs to differ again.
_REPLAYS_IN_TIME = 3


class Outcome(NamedTuple):
    """How a run ended. status: as subprocess has it; None: it was killed because it did not end.
    error: the last line on standard error.
    """

    status: int | None
    output: str
    error: str
    seconds: float


class Difference(NamedTuple):
    """What a run under this seed did otherwise."""

    seed: int
    what: str


class SelfTest(NamedTuple):
    """seeds: how many were tried. output_repeats, status_repeats: do plain runs print the same, and end with
    the same status? start: seconds for moving, at the median; None if it was never told. unmoved: runs in
    which the library was not loaded, or the program executed another one in its own place. others: processes
    of other programs in a run.
    """

    seeds: int
    output_repeats: bool
    differences: Sequence[Difference]
    unmoved: int
    start: float | None
    status_repeats: bool = True
    others: int = 0

    @property
    def passed(self) -> bool:
        """Were functions moved in all runs, and nothing else changed?"""
        return not self.differences and self.unmoved == 0


def self_test(
    plan: LayoutPlan,
    command: Sequence[str],
    seeds: Sequence[int],
    stdin: str = os.devnull,
    more: Mapping[str, str] = MappingProxyType({}),
    progress: Callable[[str], None] = lambda text: None,
) -> SelfTest:
    """Run the command plainly, and under each seed. If that differs, two more plain runs tell what repeats.

    more: variables beside those of our own environment. progress: told before each run.

    Raises:
        CozError: the library found at the start that it cannot move the functions.
        OSError: it cannot be started.
    """
    environment = {**os.environ, **more}
    progress("running the program as it is")
    plain = [run(command, environment, stdin)]
    limit = max(_SECONDS, _TIMES * plain[0].seconds)
    differences, starts, unmoved, others = [], [], 0, 0
    for number, seed in enumerate(seeds, 1):
        progress(f"running it in layout {number} of {len(seeds)}")
        with tempfile.NamedTemporaryFile("r", prefix="coz-layout-") as report:
            moved = run(command, preloaded(plan, seed, environment, report.name), stdin, limit)
            told = LayoutReport.read(report.read())
        others = max(others, told.others)
        if told.moved and not told.replaced:
            starts.append(told.seconds)
        elif not told.moved and moved.status == STATUS_GAVE_UP and moved.error.startswith(_GAVE_UP):
            raise CozError(messages.functions_not_movable(command[0], moved.error.removeprefix(_GAVE_UP)))
        else:
            unmoved += 1
        if not _difference(plain, moved, limit):
            continue
        if len(plain) == 1:
            plain += [run(command, environment, stdin) for _ in range(_MORE_PLAIN)]
        if not _difference(plain, moved, limit):
            continue
        for _ in range(_REPLAYS_IN_TIME if plan.interval else 1):
            replayed = run(command, preloaded(plan, seed, environment), stdin, limit)
            if what := _difference(plain, replayed, limit):
                differences.append(Difference(seed, what))
                break
    return SelfTest(
        len(seeds),
        _agree(each.output for each in plain),
        differences,
        unmoved,
        statistics.median(starts) if starts else None,
        _agree(each.status for each in plain),
        others,
    )


def run(
    command: Sequence[str], environment: dict[str, str], stdin: str, limit: float | None = None
) -> Outcome:
    """Run to the end, or for `limit` seconds.

    Raises:
        OSError: it cannot be started.
    """
    with (
        open(stdin, "rb") as source,
        tempfile.TemporaryFile() as output,
        tempfile.TemporaryFile() as errors,
    ):
        begin = time.monotonic()
        process = subprocess.Popen(command, stdin=source, stdout=output, stderr=errors, env=environment)
        try:
            status: int | None = process.wait(limit)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                process.wait()
        seconds = time.monotonic() - begin
        output.seek(0)
        errors.seek(0)
        lines = errors.read().decode(errors="replace").strip().splitlines()
        digest = hashlib.file_digest(output, "sha256").hexdigest()
        return Outcome(status, digest, lines[-1] if lines else "", seconds)


def _difference(plain: Sequence[Outcome], moved: Outcome, limit: float) -> str:
    """From plain runs, in what these agree; empty for none."""
    first = plain[0]
    if moved.status is None:
        return f"it had not ended after {limit:.0f} s; the plain run took {first.seconds:.2g} s"
    if not _agree(each.status for each in plain):
        return ""  # a run that fails need not have printed all
    if moved.status != first.status:
        last = f", saying: {moved.error}" if moved.error and moved.error != first.error else ""
        return f"{_ending(moved.status)}{last}; the plain run {_ending(first.status)}"
    repeats = _agree(each.output for each in plain)
    return "it printed something else" if repeats and moved.output != first.output else ""


def _agree(values: Iterable[object]) -> bool:
    return len(set(values)) == 1


def _ending(status: int | None) -> str:
    if status is None or status >= 0:
        return f"ended with status {status}"
    return f"was killed by {signal_name(-status)}"


def program_of(command: Sequence[str]) -> Path:
    """The file that the command executes."""
    return Path(os.path.realpath(command[0]))
