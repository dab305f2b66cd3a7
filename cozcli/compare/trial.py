"""One run of one side, measured.

The program is started by posix_spawn, which shares our memory until exec: what a fork of a large interpreter
would add to the program's processor time is not in the figures. Its resources come from wait4, for itself and
the children that it waited for.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import resource
import signal
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from cozcli.compare import messages
from cozcli.compare.design import Layout
from cozcli.compare.instrument import Instrument
from cozcli.compare.layouts import Arranger
from cozcli.errors import STATUS_NOT_EXECUTABLE, STATUS_NOT_FOUND, CozError, reason_of

#: The variable that makes the environment larger.
PADDING = "COZ_COMPARE_PADDING"
#: Of what a failing program wrote to standard error, so much is shown.
_SHOWN_ERRORS = 2000
#: Signals that Python ignores, and programs expect not to be.
_DEFAULT_SIGNALS = (signal.SIGPIPE, signal.SIGXFSZ)


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


class Trial(NamedTuple):
    """What one run took. cpu, wall: seconds; memory: peak resident bytes.

    lost: share of the wall time in which the program's first thread waited for a processor, or a hypervisor
    gave one to another guest. output: digest of standard output; empty if it was not kept. layout: the run's.
    figures: what instruments read, by the names of metrics.
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
) -> Trial:
    """Run a side to its end.

    Raises:
        CozError: it cannot be started, failed, or was killed; or an instrument could read nothing.
    """
    with contextlib.ExitStack() as files:
        null = files.enter_context(open(os.devnull, "wb"))
        source = files.enter_context(open(stdin, "rb"))
        errors = files.enter_context(tempfile.TemporaryFile())
        sink = files.enter_context(tempfile.TemporaryFile()) if keep_output else null
        actions = [
            (os.POSIX_SPAWN_DUP2, source.fileno(), 0),
            (os.POSIX_SPAWN_DUP2, sink.fileno(), 1),
            (os.POSIX_SPAWN_DUP2, errors.fileno(), 2),
        ]
        program = side.program(layout)
        environment = environment_of(side, layout)
        readings = [files.enter_context(each.attached(environment)) for each in instruments]
        stolen, start = _stolen_time(), time.monotonic()
        # Ctrl-C waits until there is somebody who ends the program.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            process = os.posix_spawn(
                program,
                [program, *side.command[1:]],
                environment,
                file_actions=actions,
                setsigdef=_DEFAULT_SIGNALS,
                setsigmask=mask,
            )
        except OSError as error:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            missing = isinstance(error, FileNotFoundError)
            raise CozError(
                messages.cannot_start(program, reason_of(error)),
                STATUS_NOT_FOUND if missing else STATUS_NOT_EXECUTABLE,
            ) from error
        status, wall, waited, usage = _wait(process, start, mask)
        if status != 0:
            errors.seek(0)
            said = errors.read(_SHOWN_ERRORS).decode(errors="replace").strip()
            raise CozError(messages.failed(side.name, [program, *side.command[1:]], status, said))
        output = ""
        if keep_output:
            sink.seek(0)
            output = hashlib.file_digest(sink, "sha256").hexdigest()
        lost = (waited + max(0.0, _stolen_time() - stolen)) / wall
        figures = {name: value for read in readings for name, value in read(side.name).items()}
        memory = usage.ru_maxrss * 1024
        return Trial(usage.ru_utime + usage.ru_stime, wall, memory, lost, output, layout, figures)


def environment_of(side: Side, layout: Layout | None) -> dict[str, str]:
    """The environment of a run: ours, the side's, and the layout's bytes and variables."""
    environment = {**os.environ, **side.environment}
    if layout is not None:
        environment[PADDING] = "x" * layout.environment
        for arranger in side.arrangers:
            arranger.arrange(environment, layout)
    return environment


def _wait(
    process: int, start: float, mask: Iterable[int]
) -> tuple[int, float, float, resource.struct_rusage]:
    """Exit status as os.waitstatus_to_exitcode has it, seconds of wall time and in run queues, resources.

    mask: of signals, in force from here on. An interruption (Ctrl-C) reaches the program, too, if it is in
    our terminal; otherwise it is ended here.
    """
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
    except KeyboardInterrupt:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGTERM)
        os.waitpid(process, 0)
        raise
    wall = time.monotonic() - start
    waited = _run_queue_wait(process)
    _, status, usage = os.wait4(process, 0)
    return os.waitstatus_to_exitcode(status), wall, waited, usage


def _run_queue_wait(process: int) -> float:
    """Seconds in which the first thread could run, but had no processor. 0 where the kernel doesn't say."""
    try:
        return int(Path(f"/proc/{process}/schedstat").read_text().split()[1]) * 1e-9
    except (OSError, IndexError, ValueError):
        return 0.0


def _stolen_time() -> float:
    """Seconds, of all processors, that the hypervisor gave to other guests."""
    try:
        fields = Path("/proc/stat").read_text().split(maxsplit=9)
        return int(fields[8]) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        return 0.0
