"""Starting the program, standing aside while it runs, and ending as it ended."""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from cozcli.errors import STATUS_NOT_EXECUTABLE, CozError
from cozcli.launch import messages
from cozcli.launch.table_service import TableService

#: Signals sent to the launcher that are meant for the program.
_FORWARDED = {signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGINT, signal.SIGQUIT}
_ENDING = {signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT}
_AWAITED = _FORWARDED | {signal.SIGCHLD}
#: Python ignores these from its start; a program expects them to be as a shell leaves them.
_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
#: si_code of a signal from the kernel, as for Ctrl-C: the terminal sends that to the program as well.
_SI_KERNEL = 0x80


class Ending(NamedTuple):
    """How the program ended: by a status, or (`signal` above 0) by a signal.

    `interrupted`: somebody wanted it to end, by Ctrl-C or a signal to us, however it took that.
    """

    status: int = 0
    signal: int = 0
    interrupted: bool = False


def run_program(
    program: Path,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    service: TableService | None = None,
) -> Ending:
    """Run a program in this terminal and process group, and wait for its end.

    Args:
        program: what to execute. arguments: its argv, with the name it is to see first.
        environment: its environment; COZ_PROCESS is added, and COZ_TABLE_SOCKET for the service.
        service: makes tables while the program runs; it is closed with the program's end.

    Raises:
        CozError: it could not be executed after all.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    child_actions = signal.getsignal(signal.SIGCHLD)
    # If SIGCHLD is ignored (inherited), the kernel would discard the status.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _AWAITED)
    failure, failure_out = os.pipe2(os.O_CLOEXEC)
    process = os.fork()
    if process == 0:
        try:
            signal.signal(signal.SIGCHLD, child_actions or signal.SIG_DFL)
            for number in _IGNORED_BY_PYTHON:
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            own = {**environment, "COZ_PROCESS": str(os.getpid())}
            if service is not None:
                own["COZ_TABLE_SOCKET"] = str(service.program_end)
                os.set_inheritable(service.program_end, True)
            os.execve(program, list(arguments), own)
        except OSError as error:
            os.write(failure_out, str(error.errno).encode())
        finally:
            os._exit(STATUS_NOT_EXECUTABLE)
    os.close(failure_out)
    try:
        if service is not None:
            service.start()
        with os.fdopen(failure, "rb") as stream:
            reason = stream.read()
        ending = _wait(process)
        if service is not None:
            service.close()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    if reason:
        text = os.strerror(int(reason))
        raise CozError(messages.exec_failed(str(program), text), STATUS_NOT_EXECUTABLE)
    return ending


def end_like(ending: Ending) -> int:
    """The program's status; or, if a signal killed it, die by the same one, without a core of ours."""
    if ending.signal == 0:
        return ending.status
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if ending.signal not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(ending.signal, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {ending.signal})
    os.kill(os.getpid(), ending.signal)
    return 128 + ending.signal


def _wait(process: int) -> Ending:
    """Take signals one by one until the program has ended, passing on those that only we were sent."""
    interrupted = False
    while True:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            break
        received = signal.sigwaitinfo(_AWAITED)
        interrupted = interrupted or received.si_signo in _ENDING
        from_terminal = received.si_code >= _SI_KERNEL
        if received.si_signo in _FORWARDED and not from_terminal and received.si_pid != process:
            os.kill(process, received.si_signo)
    if os.WIFSIGNALED(status):
        return Ending(signal=os.WTERMSIG(status), interrupted=interrupted)
    return Ending(status=os.WEXITSTATUS(status), interrupted=interrupted)
