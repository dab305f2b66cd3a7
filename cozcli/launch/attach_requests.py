"""Answers processes below the launched one that ask to be profiled (`-b NAME`, `--forked`).

A process whose executable has one of the names connects to our socket and waits for the answer
(docs/launch_contract.md, COZ_CLAIMS). The first one gets what a launched program finds in its environment.
While it lives, all others are refused; after its end the next one is accepted, so that all runs of the
program go into the profile, one after the other. A thread answers while the launched program runs, or the
one that is profiled.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import shutil
import struct
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cozcli.errors import CozError, Problem, reason_of
from cozcli.launch import messages
from cozcli.launch.descriptors import move_high
from cozcli.launch.environment import preloaded, runtime_variables
from cozcli.launch.preflight import check_program, refuse_sanitized
from cozcli.launch.preparation import Preparation, Prepared, Warn
from cozcli.launch.table_service import TableService

if TYPE_CHECKING:
    import socket

_MAX_PACKET = 1 << 15
_PATIENCE = 5.0
#: Between two looks at whether the launched program has ended; everything else wakes the thread.
_LOOK_EVERY_MS = 500
#: Seconds after the launched program's end in which the first process may ask.
_GRACE = 0.5


class _Attached(NamedTuple):
    """The process that is profiled. `end`: a pidfd. `service`: makes tables for it. `file`: it executes."""

    process: int
    end: int
    service: TableService | None
    file: tuple[int, int] | None = None


class AttachRequests:
    """For one run of the launched program; to be closed."""

    #: Is the user told what was noticed about a program's lines, once?
    _warns_about_lines = True

    def __init__(
        self, preparation: Preparation, patterns: Sequence[str], output: Path, warn: Warn, first_seed: int
    ) -> None:
        """`patterns`: of executables. `output`: the profile. `warn` tells the user, from the thread.

        Raises:
            OSError: there is no socket to be had.
        """
        import socket  # which most runs need not wait for

        self._preparation = preparation
        self._patterns = patterns
        self._output = output
        self._warn = warn
        self._seed = first_seed
        self._folder = Path(tempfile.mkdtemp(prefix="coz-"))
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._socket.bind(str(self._folder / "requests"))
            self._socket.listen(64)
        except OSError:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        self._current: _Attached | None = None
        self._identity: tuple[Path, int, int] | None = None
        self._closing = False
        self._is_answering = False
        self._ended_at: float | None = None  # the launched program
        self._thread = threading.Thread(target=self._serve, daemon=True)
        #: How many processes were profiled; how many requests were refused, since one was profiled already.
        self.profiled = 0
        self.refused = 0
        self.failure: CozError | None = None
        self.last: Prepared | None = None

    def environment(self, inherited: Mapping[str, str]) -> dict[str, str]:
        """That of the launched program."""
        environment = preloaded(self._preparation.library, inherited)
        environment["COZ_CLAIMS"] = "\n".join([str(self._folder / "requests"), *self._patterns])
        return environment

    @property
    def inherited(self) -> Mapping[str, int]:
        """Nothing: processes find the socket by its path."""
        return {}

    @property
    def successor(self) -> int | None:
        """The process that is profiled, which has outlived the launched one; 0: one that has just asked."""
        now = time.monotonic()
        self._ended_at = self._ended_at or now
        is_answering, current = self._is_answering, self._current
        if current is not None:
            return current.process
        # A child that was started last has yet to ask.
        may_ask = not self.profiled and now < self._ended_at + _GRACE
        return 0 if is_answering or may_ask else None

    def start(self) -> None:
        """Answer from now on."""
        self._thread.start()

    def close(self) -> None:
        """It has ended, and so has what was profiled. Requests of processes that are left are refused."""
        self._closing = True
        if self._thread.is_alive():
            self._thread.join(_PATIENCE)
        self._end_current()
        self._socket.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _serve(self) -> None:
        while not self._closing:
            poll = select.poll()
            poll.register(self._socket, select.POLLIN)
            if self._current is not None:
                poll.register(self._current.end, select.POLLIN)
            ready = [descriptor for descriptor, _ in poll.poll(_LOOK_EVERY_MS)]
            if self._current is not None and (self._current.end in ready or self._has_left(self._current)):
                self._end_current()
            if self._socket.fileno() in ready:
                try:
                    connection, _ = self._socket.accept()
                except OSError:  # too many open files; the process goes on asking
                    time.sleep(_LOOK_EVERY_MS / 1000)
                    continue
                self._is_answering = True
                try:
                    keep = self._answer(connection)
                except OSError:
                    keep = False  # it has ended meanwhile
                finally:
                    self._is_answering = False
                if not keep:
                    connection.close()

    def _answer(self, connection: socket.socket) -> bool:
        """Is the connection needed further?"""
        connection.settimeout(_PATIENCE)
        kind, _, path = connection.recv(_MAX_PACKET).partition(b"\t")
        process = _peer(connection)
        if kind != b"claim" or not path.startswith(b"/") or process <= 0:
            return False
        if (
            self._current is not None
            and self._current.process != process
            and not self._has_left(self._current)
        ):
            self.refused += 1
            return False
        if self._ended_at is not None and not self._takes_later(process):
            return False
        # The same process again: it has executed the program anew.
        self._end_current()
        program = Path(os.fsdecode(path))
        end = os.pidfd_open(process)
        try:
            prepared, answer = self._prepare(program)
        except CozError as error:
            os.close(end)
            self._fail(program, error)
            return False
        if self._closing:  # too late: nobody would be there to close the profile
            os.close(end)
            return False
        service = self._preparation.make_service(prepared.tables, self._warn, connection)
        if service is not None:
            answer += b"COZ_TABLE_SOCKET=0\0"
        self._end_incomplete_line()
        # Set before the answer is sent: from then on the process may be looked for.
        self._current = _Attached(process, end, service, _file_of(process))
        if not self._send(connection, answer, program):
            self._current = None
            os.close(end)
            return False
        if not self.profiled and self._warns_about_lines:
            self._warn(prepared.tables.warnings)
        self.last = prepared
        self.profiled += 1
        connection.settimeout(None)
        if service is not None:
            service.start()
        return service is not None

    def _send(self, connection: socket.socket, answer: bytes, program: Path) -> bool:
        """False: the process has ended, or the answer is too long, of which the user is warned once."""
        connection.setsockopt(1, 7, 1 << 20)  # SOL_SOCKET, SO_SNDBUF: long lists of lines
        try:
            connection.send(answer)
        except OSError as error:
            if error.errno == errno.EMSGSIZE:
                self._fail(program, CozError(messages.attach.answer_too_long(len(answer))))
            return False
        return True

    def _fail(self, program: Path, error: CozError) -> None:
        if self.failure is None:
            self.failure = error
            self._warn([messages.attach.not_profiled(str(program), error.problem)])

    def _prepare(self, program: Path) -> tuple[Prepared, bytes]:
        identity = _identity(program)
        if self.last is not None and identity == self._identity and not self.last.tables.later:
            prepared = self.last  # the same again
        else:
            elf = check_program(program)
            refuse_sanitized(program)
            prepared = self._preparation.prepare(program, elf.interpreter)
        self._identity = identity
        return self._answer_for(prepared)

    def _answer_for(self, prepared: Prepared) -> tuple[Prepared, bytes]:
        """The same with a seed of its own, and what the process is sent."""
        seed = (self._seed + self.profiled) % 2**64
        prepared = prepared._replace(settings=prepared.settings._replace(seed=seed))
        variables = runtime_variables(prepared.settings)
        return prepared, b"".join(os.fsencode(f"{name}={value}") + b"\0" for name, value in variables.items())

    def _end_incomplete_line(self) -> None:
        """A process that was killed may have left half a record."""
        with self._output.open("ab+") as stream:
            if stream.tell():
                stream.seek(-1, os.SEEK_END)
                if stream.read(1) != b"\n":
                    stream.write(b"\n")

    def _end_current(self) -> None:
        current, self._current = self._current, None
        if current is None:
            return
        os.close(current.end)
        if current.service is not None:
            with contextlib.suppress(OSError):
                current.service.close()
            self._keep_missed(current.service)

    def _keep_missed(self, service: TableService) -> None:
        self._warn(service.missed())

    def _has_left(self, current: _Attached) -> bool:
        """Has it become another program? One that is named asks again."""
        return current.file is not None and _file_of(current.process) not in (None, current.file)

    def _takes_later(self, process: int) -> bool:
        """Is one profiled that asks after the launched program's end? Else a run might never end."""
        is_again = self._current is not None and self._current.process == process
        return is_again or not self.profiled


def _identity(program: Path) -> tuple[Path, int, int]:
    """Tells versions of a program apart."""
    try:
        status = program.stat()
    except OSError as error:
        raise CozError(messages.program.program_unreadable(str(program), reason_of(error))) from None
    return program, status.st_ino, status.st_mtime_ns


def _file_of(process: int) -> tuple[int, int] | None:
    """Which file it executes; None if it has ended, or nobody can tell."""
    try:
        status = Path(f"/proc/{process}/exe").stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _peer(connection: socket.socket) -> int:
    credentials = connection.getsockopt(1, 17, struct.calcsize("3i"))  # SOL_SOCKET, SO_PEERCRED
    process: int = struct.unpack("3i", credentials)[0]
    return process


class ForkedAttachRequests(AttachRequests):
    """The same for a child that the launched program forks, which may outlive it: a daemon, a worker."""

    _warns_about_lines = False  # told before the start
    #: Seconds after the launched program's end for a child that has closed its end of the pipe, to ask.
    _GRACE = 2.0

    def __init__(
        self, preparation: Preparation, prepared: Prepared, generations: int, warn: Warn, first_seed: int
    ) -> None:
        """`prepared`: of the launched program. `generations`: 1 for its children, 2 for theirs.

        Raises:
            OSError: there is no socket, or no pipe, to be had.
        """
        super().__init__(preparation, (), prepared.settings.output, warn, first_seed)
        self._generations = generations
        self._prepared = prepared
        self._missed: list[Problem] = []
        self._closed_at: float | None = None
        #: Open in all processes that may yet ask.
        try:
            self._candidates, low = os.pipe()
        except OSError:
            super().close()
            raise
        self._program_end = move_high(low)

    def environment(self, inherited: Mapping[str, str]) -> dict[str, str]:
        """That of the launched program."""
        environment = super().environment(inherited)
        environment["COZ_PROGRAM"] = str(self._prepared.settings.program)
        environment["COZ_FORKED"] = str(self._generations)
        environment["COZ_FORKED_INODE"] = str(os.fstat(self._candidates).st_ino)
        return environment

    @property
    def inherited(self) -> Mapping[str, int]:
        """The end of the pipe that is theirs."""
        return {"COZ_FORKED_PIPE": self._program_end}

    @property
    def successor(self) -> int | None:
        """The child that is profiled; 0: some process may yet ask."""
        is_open = not select.select([self._candidates], [], [], 0)[0]
        current = self._current
        if current is not None:
            return current.process
        if is_open:
            return 0
        # Daemons close what they have inherited, perhaps before the fork that counts.
        now = time.monotonic()
        self._closed_at = self._closed_at or now
        return 0 if not self.profiled and now < self._closed_at + self._GRACE else None

    def start(self) -> None:
        """The launched program has its end of the pipe."""
        os.close(self._program_end)
        super().start()

    def close(self) -> None:
        """All have ended, or the user has had enough."""
        super().close()
        os.close(self._candidates)
        self._warn(self._missed)

    def _prepare(self, program: Path) -> tuple[Prepared, bytes]:
        return self._answer_for(self._prepared)

    def _takes_later(self, process: int) -> bool:
        return True  # it is a child, which waits for its parent's end

    def _keep_missed(self, service: TableService) -> None:
        self._missed = service.missed()  # of the last: each child has its own

    def _has_left(self, current: _Attached) -> bool:
        try:
            return not Path(f"/proc/{current.process}/exe").samefile(self._prepared.settings.program)
        except OSError:
            return False  # it has ended, which is seen elsewhere, or nobody can tell
