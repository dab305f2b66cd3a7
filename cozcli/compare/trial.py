"""One run of one side, measured.

The program is started by posix_spawn, which shares our memory until exec: what a fork of a large interpreter
would add to the program's processor time is not in the figures. Its resources come from wait4, for itself and
the children that it waited for. Peak memory needs another start: see small_start.py.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
import resource
import signal
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from cozcli.compare import messages
from cozcli.compare.design import Layout
from cozcli.compare.instrument import Instrument
from cozcli.compare.layouts import Arranger
from cozcli.compare.small_start import spawn_small
from cozcli.errors import STATUS_NOT_EXECUTABLE, STATUS_NOT_FOUND, CozError, reason_of
from cozcli.launch.layout_plan import INTERVAL, PLAN, REPORT, SEED, LayoutReport

#: The variable that makes the environment larger.
PADDING = "COZ_COMPARE_PADDING"
#: How names of files begin that the library of layouts reports to, and how many random letters follow.
_REPORT, _RANDOM = "/coz-layout-", 8
#: Of what a failing program wrote to standard error, so much of the end is read.
_SHOWN_ERRORS = 2000
#: Where output goes: it takes all at no cost, as /dev/null does, at whose sight grep and tar do less work.
SINK = "/dev/zero"
#: Signals that Python ignores, and programs expect not to be.
DEFAULT_SIGNALS = (signal.SIGPIPE, signal.SIGXFSZ)
#: Seconds that a child is given to wake.
_WAKING = 0.001
#: Seconds that an interrupted program is given to end.
_PATIENCE = 5.0
#: A processor's line of /proc/stat: its number, and ticks as user, nice, system, idle, waiting for I/O, in
#: interrupts, soft interrupts, stolen.
_PROCESSOR = re.compile(r"^cpu([0-9]+)((?: [0-9]+){8})", re.MULTILINE)
_IDLE, _STOLEN = (3, 4), 7


class Side(NamedTuple):
    """What is compared: a name for people, the command with its program's path, and more environment.

    builds: paths of the same program with its functions in other places; a layout chooses one. Without any,
    the command's program is run. arrangers: what moves its memory.
    """

    name: str
    command: list[str]
    environment: Mapping[str, str] = {}
    builds: Sequence[str] = ()
    arrangers: Sequence[Arranger] = ()

    def program(self, layout: Layout | None) -> str:
        """The file to run."""
        if not self.builds:
            return self.command[0]
        return self.builds[0 if layout is None else layout.build % len(self.builds)]


class FailedRunError(CozError):
    """A run did not end with status 0, or an instrument read nothing. What was measured before stays true."""


class Trial(NamedTuple):
    """What one run took. cpu, wall: seconds, without those of moving functions; memory: peak resident bytes,
    and no less than ours unless it was asked for.

    lost: share of the wall time in which the program's first thread waited for a processor behind other
    programs, or a hypervisor gave the processors that it may run on to other guests. output: digest of
    standard output; empty if it was not kept. layout: the run's. figures: what instruments read, by the names
    of metrics.
    """

    cpu: float
    wall: float
    memory: int
    lost: float
    output: str = ""
    layout: Layout | None = None
    figures: Mapping[str, float] = {}


def run(
    side: Side,
    layout: Layout | None,
    stdin: str = os.devnull,
    keep_output: bool = False,
    instruments: Sequence[Instrument] = (),
    memory: bool = False,
) -> Trial:
    """Run a side to its end. memory: measure that, too.

    Raises:
        CozError: it cannot be started, failed, or was killed; or an instrument could read nothing.
    """
    with contextlib.ExitStack() as files:
        source = files.enter_context(open(stdin, "rb"))
        errors = files.enter_context(tempfile.TemporaryFile())
        nothing = files.enter_context(open(SINK, "wb"))
        output = files.enter_context(tempfile.TemporaryFile()) if keep_output else nothing
        streams = [
            (os.POSIX_SPAWN_DUP2, each.fileno(), number)
            for number, each in enumerate((source, output, errors))
        ]
        command = [side.program(layout), *side.command[1:]]
        environment = environment_of(side, layout)
        moving = files.enter_context(_report_of_moving(environment))
        readings = [files.enter_context(each.attached(environment)) for each in instruments]
        before = _processor_times()
        # Ctrl-C waits until there is somebody who ends the program.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        status, wall, waited, usage = _wait(_start(command, environment, streams, mask, memory), mask)
        if status != 0:
            errors.seek(max(0, errors.seek(0, os.SEEK_END) - _SHOWN_ERRORS))
            said = errors.read().decode(errors="replace").strip()
            again = _replay_options(environment) if PLAN in environment else None
            raise FailedRunError(messages.failed(side.name, command, status, said, again))
        digest = ""
        if keep_output:
            output.seek(0)
            digest = hashlib.file_digest(output, "sha256").hexdigest()
        cpu = usage.ru_utime + usage.ru_stime
        lost = _lost(waited, cpu, wall, before, _processor_times()) / wall
        # More code takes longer to move, which says nothing of the program.
        moved = LayoutReport.read(moving.read())
        cpu, wall = cpu - moved.processor_seconds, wall - moved.seconds
        if min(cpu, wall) <= 0:
            raise FailedRunError(messages.moving_outlasts(side.name))
        try:
            figures = {name: value for read in readings for name, value in read(side.name).items()}
        except CozError as error:
            raise FailedRunError(error.problem) from error
        peak = usage.ru_maxrss * 1024
        return Trial(cpu, wall, peak, lost, digest, layout, figures)


def _replay_options(environment: Mapping[str, str]) -> str:
    interval = environment.get(INTERVAL)
    return f"--seed {environment[SEED]}" + (f" --rerandomize {interval}ms" if interval else "")


def _report_of_moving(environment: dict[str, str]) -> IO[str]:
    """A file that is told what the library of layouts does, if it is preloaded; an arranger's own, if any."""
    if PLAN not in environment:
        return io.StringIO()
    if not environment[REPORT].startswith("-"):
        return open(environment[REPORT])
    report = tempfile.NamedTemporaryFile("r", prefix=_REPORT.removeprefix("/"))  # noqa: SIM115
    environment[REPORT] = report.name
    return report


class _Started(NamedTuple):
    """A process, when it was begun, and how long it had waited for a processor by then."""

    process: int
    begin: float
    waited: float = 0.0


def _start(
    command: list[str],
    environment: dict[str, str],
    streams: Sequence[tuple[int, int, int]],
    mask: Iterable[int],
    memory: bool,
) -> _Started:
    """Start it. mask: of signals, for the program, and for us if it cannot be started.

    Raises:
        CozError: it cannot be started.
    """
    begin = time.monotonic()
    try:
        if memory:
            return _awake(*spawn_small(command, environment, streams, DEFAULT_SIGNALS, mask))
        process = os.posix_spawn(
            command[0],
            command,
            environment,
            file_actions=streams,
            setsigdef=DEFAULT_SIGNALS,
            setsigmask=mask,
        )
        return _Started(process, begin)
    except OSError as error:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        missing = isinstance(error, FileNotFoundError)
        raise CozError(
            messages.cannot_start(command[0], reason_of(error)),
            STATUS_NOT_FOUND if missing else STATUS_NOT_EXECUTABLE,
        ) from error


def _awake(process: int, go: Callable[[], None]) -> _Started:
    """Let a child go that sleeps, and see it run: idle processors of virtual machines wake slowly, which is
    no disturbance.
    """
    begin = time.monotonic()
    turns = _run_queue(process)[1]
    go()
    while _run_queue(process)[1] == turns and time.monotonic() < begin + _WAKING:
        os.sched_yield()
    return _Started(process, time.monotonic(), _run_queue(process)[0])


def environment_of(side: Side, layout: Layout | None) -> dict[str, str]:
    """The environment of a run: ours, the side's, and the layout's bytes and variables."""
    environment = {**os.environ, **side.environment}
    if layout is not None:
        environment[PADDING] = "x" * layout.environment
        for arranger in side.arrangers:
            arranger.arrange(environment, layout)
    for plan, report in ((PLAN, REPORT), (PLAN.lower(), REPORT.lower())):
        if plan in environment:  # a name as long as that of a file, or the stack would move
            environment.setdefault(report, "-" * (len(tempfile.gettempdir()) + len(_REPORT) + _RANDOM))
    return environment


def _wait(started: _Started, mask: Iterable[int]) -> tuple[int, float, float, resource.struct_rusage]:
    """Exit status as os.waitstatus_to_exitcode has it, seconds of wall time and in run queues, resources.

    mask: of signals, in force from here on. An interruption (Ctrl-C) reaches the program, too, if it is in
    our terminal; otherwise it is ended here.
    """
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        os.waitid(os.P_PID, started.process, os.WEXITED | os.WNOWAIT)
    except KeyboardInterrupt:
        _end(started.process)
        raise
    wall = time.monotonic() - started.begin
    waited = _run_queue(started.process)[0] - started.waited
    _, status, usage = os.wait4(started.process, 0)
    return os.waitstatus_to_exitcode(status), wall, waited, usage


def _end(process: int) -> None:
    """By SIGTERM, and if that is not enough, or the user does not want to wait, by SIGKILL."""
    try:
        os.kill(process, signal.SIGTERM)
        end = time.monotonic() + _PATIENCE
        look = os.WEXITED | os.WNOWAIT | os.WNOHANG
        while time.monotonic() < end and os.waitid(os.P_PID, process, look) is None:
            time.sleep(0.01)
    finally:
        os.kill(process, signal.SIGKILL)  # a zombie does not mind
        os.waitpid(process, 0)


def _run_queue(process: int) -> tuple[float, int]:
    """Seconds in which the first thread could run, but had no processor, and how often it got one. 0 where
    the kernel doesn't say.
    """
    try:
        _, waited, turns = map(int, Path(f"/proc/{process}/schedstat").read_text().split())
        return waited * 1e-9, turns
    except (OSError, ValueError):
        return 0.0, 0


class _ProcessorTimes(NamedTuple):
    """Seconds of the processors that we may run on: busy, in all; stolen by the hypervisor for other guests,
    of one on the average. tick: what both are counted in, for all of them.
    """

    busy: float
    stolen: float
    tick: float


def _processor_times() -> _ProcessorTimes:
    """Since the machine started. All 0 where the kernel doesn't say."""
    allowed = os.sched_getaffinity(0)
    try:
        lines = Path("/proc/stat").read_text()
        ticks = {int(each[1]): list(map(int, each[2].split())) for each in _PROCESSOR.finditer(lines)}
        stolen = sum(ticks[processor][_STOLEN] for processor in allowed)
        idle = sum(ticks[processor][kind] for processor in allowed for kind in _IDLE)
        total = sum(sum(ticks[processor]) for processor in allowed)
    except (OSError, KeyError, ValueError):
        return _ProcessorTimes(0.0, 0.0, 0.0)
    per_second = os.sysconf("SC_CLK_TCK")
    return _ProcessorTimes(
        (total - idle - stolen) / per_second, stolen / len(allowed) / per_second, len(allowed) / per_second
    )


def _lost(waited: float, cpu: float, wall: float, before: _ProcessorTimes, after: _ProcessorTimes) -> float:
    """Seconds that the machine took away. waited: in run queues. cpu: the program's processor time.

    A thread may have waited behind the program's other threads, but behind others no longer than these ran.
    That is counted in ticks; where several threads certainly ran, which may have waited behind each other,
    the doubt of a tick counts for the program.
    """
    if before.tick > 0 and after.tick > 0:
        doubt = after.tick if cpu + waited <= wall else -after.tick
        waited = min(waited, max(after.busy - before.busy - cpu + doubt, 0.0))
    return waited + max(after.stolen - before.stolen, 0.0)
