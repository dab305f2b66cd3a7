"""Starts a program behind a small process, so that its peak memory is its own.

At exec the kernel keeps the peak of the memory that the process had before. A child that we start has had
ours, by vfork() and by fork() alike, and no program would seem smaller than Python with its packages. So a
shell, which is small, forks the child, and is killed by it: the child is ours then, since we adopt orphans
meanwhile. `env` gives the program its environment; what that preloads is not for the shell.

This adds about 0.6 ms of processor time to a run, and its start to what counters count.
"""

from __future__ import annotations

import ctypes
import errno
import os
import socket
from collections.abc import Callable, Iterable, Mapping, Sequence

#: prctl(2).
_SET_CHILD_SUBREAPER = 36
#: By this descriptor the child tells its number, and waits for a line: if the program ended before the shell
#: did, the shell would still take its status.
_SOCKET = 9
_MOST_DIGITS = 32
_SHELL = "/bin/sh"
_SCRIPT = f"""\
(
    read -r me rest </proc/self/stat
    echo "$me" >&{_SOCKET}
    kill -9 $$
    read -r go <&{_SOCKET} || exit
    exec "$@" {_SOCKET}>&-
)
:"""


def spawn_small(
    command: Sequence[str],
    environment: Mapping[str, str],
    streams: Sequence[tuple[int, int, int]],
    defaults: Iterable[int],
    mask: Iterable[int],
) -> tuple[int, Callable[[], None]]:
    """As os.posix_spawn: the number of a child that becomes `command` once the function is called. streams:
    its file actions.

    Where the program cannot be executed, the child ends with status 126 or 127 and says why.

    Raises:
        OSError: there is no shell, or it was ended before it did its work.
    """
    if "=" in command[0]:
        # For env that is a variable.
        raise OSError(errno.ENOTSUP, "with --metric memory its path may not contain =")
    words = ["env", "-i", *(f"{name}={value}" for name, value in environment.items()), *command]
    ours, theirs = socket.socketpair()
    with theirs:
        try:
            _adopt_orphans(True)
            shell = os.posix_spawn(
                _SHELL,
                [_SHELL, "-c", _SCRIPT, _SHELL, *words],
                {"PATH": os.defpath},
                file_actions=[*streams, (os.POSIX_SPAWN_DUP2, theirs.fileno(), _SOCKET)],
                setsigdef=defaults,
                setsigmask=mask,
            )
            os.waitpid(shell, 0)
        except OSError:
            ours.close()
            raise
        finally:
            _adopt_orphans(False)
    told = ours.recv(_MOST_DIGITS).strip()
    if not told.isdigit():
        ours.close()
        raise ChildProcessError(errno.ECHILD, f"{_SHELL} was ended too early")

    def go() -> None:
        with ours:
            ours.send(b"\n")

    return int(told), go


def _adopt_orphans(wanted: bool) -> None:
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, int(wanted), 0, 0, 0)
