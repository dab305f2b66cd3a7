"""One `coz run` of a sweep: its process, from its start to its end, and what it says."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

#: How lines of `coz run` and of the runtime begin.
_OF_COZ = (b"coz: ", b"coz run: ")
#: Signals that end a run, and the seconds that each has. Ctrl-C at a terminal has reached it already.
_ENDINGS = ((None, 2.0), (signal.SIGINT, 10.0), (signal.SIGTERM, 5.0))

#: `python -m cozcli`, for a process that inherits a blocked SIGTSTP, and whose environment is the program's.
_START_OF_RUN = (
    "import runpy, signal, sys; signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTSTP}); "
    "sys.path.insert(0, sys.argv.pop(1)); runpy.run_module('cozcli', run_name='__main__', alter_sys=True)"
)
_RUN = (sys.executable, "-I", "-S", "-c", _START_OF_RUN)
_ROOT = Path(__file__).resolve().parents[2]


def run_once(arguments: Sequence[str], profile: str) -> subprocess.CompletedProcess[str]:
    """`coz run` with these arguments, to its end; of standard error, its own lines are kept.

    They go through a file: processes that outlive the program may hold a pipe open for ever.

    A Ctrl-Z stops it only once it has executed Python: before, we would wait for it, and never come to stop
    ourselves, so that the terminal would be nobody's.
    """
    with tempfile.TemporaryFile() as file:
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTSTP})
        try:
            process = subprocess.Popen(
                [*_RUN, str(_ROOT), "run", "-o", profile, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=file,
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        try:
            process.wait()
        except BaseException:
            _end(process)
            raise
        file.seek(0)
        # A progress bar of the program may stand before it.
        lines = (line.rpartition(b"\r")[2] for line in file)
        errors = b"".join(line for line in lines if line.startswith(_OF_COZ)).decode(errors="replace")
    return subprocess.CompletedProcess(process.args, process.returncode, stderr=errors)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Let `coz run` write what it has, and see that it ends. A second Ctrl-C ends it at once."""
    try:
        for number, seconds in _ENDINGS:
            if number is not None:
                process.send_signal(number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(seconds)
                return
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


@contextlib.contextmanager
def ended_by_sigterm() -> Iterator[None]:
    """SIGTERM does what Ctrl-C does: the run ends, and what was measured is shown."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
