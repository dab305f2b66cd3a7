"""Tables of libraries that the program loads after its start, made on request of the runtime.

The runtime asks through a socket (docs/launch_contract.md); a thread of ours answers while the
program runs. When something goes wrong, a library is not profiled; the program never notices.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from cozcli.errors import CozError, Problem
from cozcli.launch import messages
from cozcli.launch.descriptors import move_high
from cozcli.launch.fixed_targets import Wanted
from cozcli.launch.helper import Helper, failure
from cozcli.launch.line_tables import NoLinesError, Scope, build_table, matches_binary

if TYPE_CHECKING:
    import socket

#: Longer than any path.
_MAX_PACKET = 1 << 15
#: How long a helper that is killed may take to end.
_PATIENCE = 5.0


class Later(NamedTuple):
    """What may come later: patterns for binaries, and what was decided upon before the start."""

    binaries: Sequence[str]
    examined: Collection[str]
    scope: Scope = Scope()
    #: Lines that no table of the start has.
    awaited: Sequence[Wanted] = ()


class TableService:
    """Our end of the socket, and the program's until it has been started."""

    def __init__(
        self,
        helper: Helper,
        later: Later,
        warn: Callable[[list[Problem]], None],
        connection: socket.socket | None = None,
    ) -> None:
        """Make the socket, unless the program has made a `connection` itself; that is closed in the end, too.

        `warn` tells the user, from the service's thread.

        Raises:
            OSError: there is none to be had.
        """
        import socket  # which most runs need not wait for

        self._helper = helper.another()  # close() stops it for good, and there may be other runs
        self._later = later
        self._warn = warn
        self._matched = {
            p for p in later.binaries if any(matches_binary(p, b, False) for b in later.examined)
        }
        self._found: set[Wanted] = set()
        self._nearest: dict[Wanted, list[str]] = {want: [] for want in later.awaited}
        self._closing = False
        self.program_end: int | None = None
        if connection is not None:
            self._ours = connection
        else:
            self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self.program_end = move_high(theirs.detach())
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def inherited(self) -> Mapping[str, int]:
        """The program's end."""
        return {} if self.program_end is None else {"COZ_TABLE_SOCKET": self.program_end}

    @property
    def successor(self) -> None:
        """The program itself is served, and nobody after it."""
        return None

    def start(self) -> None:
        """Answer from now on. The program has been started, and has its end.

        Signals that are blocked are so in the thread, too.
        """
        if self.program_end is not None:
            os.close(self.program_end)
        self._thread.start()

    def close(self) -> None:
        """The program has ended: no more answers."""
        self._closing = True
        self._helper.stop()
        with contextlib.suppress(OSError):  # the other end is gone already
            self._ours.shutdown(2)
        if self._thread.is_alive():
            self._thread.join(_PATIENCE)
        self._ours.close()

    @property
    def has_matches(self) -> bool:
        """Was anything loaded, before or after the start, that matches a pattern?"""
        return bool(self._matched)

    def missed(self) -> list[Problem]:
        """What the user named, and never came."""
        never = [pattern for pattern in self._later.binaries if pattern not in self._matched]
        problems = [messages.scope.binary_scope_stayed_empty(never)] if never else []
        missing = [want for want in self._later.awaited if want not in self._found]
        return problems + [
            messages.targets.line_never_came(want.text, self._nearest[want]) for want in missing
        ]

    def _serve(self) -> None:
        # With the program, or a kill -9, the socket goes: then there is nobody to answer.
        with contextlib.suppress(OSError):
            while request := self._ours.recv(_MAX_PACKET):
                answer = self.answer(request)
                if answer is None:
                    self._ours.shutdown(2)  # the runtime need not wait
                    return
                self._ours.send(answer)

    def answer(self, request: bytes) -> bytes | None:
        """`table<TAB>NUMBER<TAB>PATH` is answered `NUMBER<TAB>TABLE`; anything else ends the service."""
        kind, _, rest = request.partition(b"\t")
        number, _, path = rest.partition(b"\t")
        if kind != b"table" or not number.isdigit() or not path.startswith(b"/"):
            return None
        table = self._table_of(os.fsdecode(path))
        return number + b"\t" + os.fsencode(table)

    def _table_of(self, binary: str) -> str:
        """Its table's path; empty, where there is to be none."""
        matching = [p for p in self._later.binaries if matches_binary(p, binary, False)]
        if not matching or binary in self._later.examined:
            return ""
        self._matched.update(matching)
        try:
            table, warnings = build_table(self._helper, binary, self._later.scope.functions)
            self._check_scope(binary, table.table)
        except NoLinesError as error:
            self._warn(
                [messages.scope.module_without_lines(binary, self._later.scope.functions, error.noticed)]
            )
            return ""
        except CozError as error:
            if not self._closing:
                self._warn([messages.scope.module_left_out(error.problem)])
            return ""
        self._warn(warnings)
        return table.table

    def _check_scope(self, binary: str, table: str) -> None:
        scope, awaited = self._later.scope, self._later.awaited
        status, answer = self._helper.scope(table, scope.source, awaited)
        if status != 0:
            raise CozError(failure(binary, status, answer))
        for want, choice in zip(awaited, answer.get("chosen", []), strict=False):
            if choice.get("found"):
                self._found.add(want)
            self._nearest[want] += [
                near for near in choice.get("nearest", []) if near not in self._nearest[want]
            ]
        what = "functions" if scope.functions else "lines"
        if not awaited and not answer.get(what):
            self._warn([messages.scope.module_out_of_scope(binary, scope.source, what.rstrip("s"))])
