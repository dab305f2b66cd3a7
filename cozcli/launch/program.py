"""Starting the program, standing aside while it runs, and ending as it ended."""

from __future__ import annotations

import contextlib
import math
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, Protocol

from cozcli.errors import STATUS_NOT_EXECUTABLE, CozError, reason_of
from cozcli.launch import messages
from cozcli.launch.ending import Ending

if TYPE_CHECKING:
    from cozcli.status_row import StatusRow

#: Signals sent to the launcher that are meant for the program.
_FORWARDED = {signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGINT, signal.SIGQUIT}
_ENDING = {signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT}
_AWAITED = _FORWARDED | {signal.SIGCHLD}
#: Python ignores these from its start; a program expects them to be as a shell leaves them.
_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
#: si_code of a signal from the kernel, as for Ctrl-C: the terminal sends that to the program as well.
_SI_KERNEL = 0x80
#: Seconds between two looks at a process that is not our child, or has not executed the program yet.
_LOOK_EVERY = 0.2


class Service(Protocol):
    """Answers the program while it runs, in a thread of its own."""

    @property
    def inherited(self) -> Mapping[str, int]:
        """Descriptors that the program inherits, by the variables that tell it their numbers."""

    @property
    def successor(self) -> int | None:
        """After the program's end: who is still profiled; 0 if somebody may yet ask to be; None: nobody."""

    def start(self) -> None:
        """The program has been started."""

    def close(self) -> None:
        """It has ended."""


class Display(Protocol):
    """Shows how far the program is while it runs, in a thread of its own."""

    @property
    def row(self) -> StatusRow | None:
        """The row of the terminal that it draws in, if there is one."""

    def start(self) -> None:
        """The program has been started."""

    def close(self) -> None:
        """It has ended."""


def run_unprofiled(program: Path, arguments: Sequence[str]) -> NoReturn:
    """Become the program, as if it had been started without coz.

    Raises:
        CozError: it could not be executed after all.
    """
    for number in _IGNORED_BY_PYTHON:
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execve(program, list(arguments), os.environ)
    except OSError as error:
        reason = reason_of(error)
        raise CozError(messages.program.exec_failed(str(program), reason), STATUS_NOT_EXECUTABLE) from None


def run_program(
    program: Path,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    service: Service | None = None,
    live: Display | None = None,
    end_after: float | None = None,
) -> Ending:
    """Run a program in this terminal and process group, and wait for its end.

    Args:
        program: what to execute. arguments: its argv, with the name it is to see first.
        environment: its environment; COZ_PROCESS is added, and what the service lets it inherit.
        service: answers it while it runs; it is closed with the program's end. live: shows how far it is.
        end_after: seconds after which it is sent SIGTERM, once.

    Raises:
        CozError: it could not be executed after all.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    child_actions = signal.getsignal(signal.SIGCHLD)
    # If SIGCHLD is ignored (inherited), the kernel would discard the status.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    awaited = _AWAITED | {signal.SIGTSTP} if live is not None and live.row is not None else _AWAITED
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
    try:
        failure, failure_out = os.pipe2(os.O_CLOEXEC)
        process = os.fork()
    except OSError as error:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if service is not None:
            service.close()
        reason = reason_of(error)
        raise CozError(messages.program.exec_failed(str(program), reason), STATUS_NOT_EXECUTABLE) from None
    if process == 0:
        try:
            signal.signal(signal.SIGCHLD, child_actions or signal.SIG_DFL)
            for number in _IGNORED_BY_PYTHON:
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            own = {**environment, "COZ_PROCESS": str(os.getpid())}
            for name, descriptor in (service.inherited if service is not None else {}).items():
                own[name] = str(descriptor)
                os.set_inheritable(descriptor, True)
            os.execve(program, list(arguments), own)
        except OSError as error:
            os.write(failure_out, str(error.errno).encode())
        finally:
            os._exit(STATUS_NOT_EXECUTABLE)
    os.close(failure_out)
    try:
        if service is not None:
            service.start()
        kept = _what_kept_it(failure, live.row if live is not None else None)
        if live is not None and not kept:
            live.start()
        ending = _wait(process, live.row if live is not None else None, end_after, service)
        if service is not None:
            service.close()
        if live is not None and not kept:
            live.close()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    if kept:
        reason = os.strerror(int(kept))
        raise CozError(messages.program.exec_failed(str(program), reason), STATUS_NOT_EXECUTABLE)
    return ending


def end_like(ending: Ending) -> int:
    """The program's status; or, if a signal killed it, die by the same one, without a core of ours.

    0 where the program ended because its time was over, be it by our SIGTERM or by a status of its own.
    """
    if ending.ended_as_asked:
        return 0
    if ending.signal == 0:
        return ending.status
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if ending.signal not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(ending.signal, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {ending.signal})
    os.kill(os.getpid(), ending.signal)
    return 128 + ending.signal


def _what_kept_it(failure: int, row: StatusRow | None) -> bytes:
    """An error number, if the child could not execute the program; nothing once it has.

    A Ctrl-Z that comes before may have stopped the child: whoever waits for it has to stop as well.
    """
    with os.fdopen(failure, "rb") as stream:
        while not select.select([stream], [], [], _LOOK_EVERY)[0]:
            if row is not None and signal.sigtimedwait({signal.SIGTSTP}, 0) is not None:
                row.stop_process()
        return stream.read()


def _wait(process: int, row: StatusRow | None, end_after: float | None, service: Service | None) -> Ending:
    """Take signals one by one until the program has ended, passing on those that only we were sent.

    Ctrl-Z stops the program, and us, who have to take the row away before. A process that the program leaves
    behind is waited for if it is the one that is profiled, and takes the signals then.
    """
    awaited = _AWAITED | ({signal.SIGTSTP} if row is not None else set())
    interrupted = on_time = False
    deadline = math.inf if end_after is None else time.monotonic() + end_after
    status: int | None = None
    #: What the program was sent to end it: what it leaves behind is sent the same.
    asked: int | None = None
    while True:
        if status is None:
            ended, found = os.waitpid(process, os.WNOHANG)
            status = found if ended else None
        if status is not None:
            successor = service.successor if service is not None else None
            if successor is None or (asked is not None and not successor):
                break
            if successor != process and successor and asked is not None:
                _send(successor, asked)
            process = successor
        received = _next_signal(awaited, deadline, math.inf if status is None else _LOOK_EVERY)
        if received is None:
            if time.monotonic() >= deadline:
                if process:
                    _send(process, signal.SIGTERM)
                on_time = on_time or status is None
                asked, deadline = signal.SIGTERM, math.inf
            continue
        if received.si_signo == signal.SIGTSTP and row is not None:
            row.stop_process()
            continue
        # One that is ignored, as below nohup, ends neither the program nor us.
        if received.si_signo in _ENDING and signal.getsignal(received.si_signo) != signal.SIG_IGN:
            if status is not None and asked is not None:
                break  # what is left behind does not end, and the user will not wait
            interrupted, asked = True, received.si_signo
        from_terminal = received.si_code >= _SI_KERNEL and _is_in_our_group(process)
        if received.si_signo in _FORWARDED and not from_terminal and process and received.si_pid != process:
            _send(process, received.si_signo)
    if os.WIFSIGNALED(status):
        return Ending(signal=os.WTERMSIG(status), interrupted=interrupted, on_time=on_time)
    return Ending(status=os.WEXITSTATUS(status), interrupted=interrupted, on_time=on_time)


def _is_in_our_group(process: int) -> bool:
    """Does the terminal send it what it sends us? Our own child is; what a daemon has left behind is not."""
    try:
        return os.getpgid(process) == os.getpgrp()
    except ProcessLookupError:
        return False


def _send(process: int, number: int) -> None:
    # One that is not our child may be gone; another user's (sudo) goes on.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(process, number)


def _next_signal(
    awaited: set[signal.Signals], deadline: float, longest: float
) -> signal.struct_siginfo | None:
    """None: the time (monotonic; or infinity) came first, or so many seconds were over."""
    seconds = min(longest, deadline - time.monotonic())
    if seconds == math.inf:
        return signal.sigwaitinfo(awaited)
    return signal.sigtimedwait(awaited, max(0.0, seconds))
