"""Calls of the native helper, `coz-linetable` (docs/launch_contract.md)."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cozcli.errors import CozError, Problem, reason_of
from cozcli.launch import messages
from cozcli.launch.fixed_targets import Wanted
from cozcli.messages import signal_name

NO_DEBUG_INFO = 3
NOT_ELF = 4
#: `error` of an answer: it took more time or memory than any good file needs; and, ours, a signal ended it.
LIMIT, CRASHED = "limit", "crashed"
#: `error` of an answer: tables cannot be kept.
CACHE = "cache"


class Helper:
    """The helper. Any thread may ask, one at a time; any other may call `stop`."""

    def __init__(self, path: Path, debuginfod: bool = False, functions: bool = False) -> None:
        """`debuginfod`, `functions`: tables are made with these options; the former is for points, too."""
        self.path = path
        self._options = debuginfod, functions
        self._search = ["--debuginfod"] if debuginfod else []
        self._build = ["build", *self._search, *(["--functions"] if functions else [])]
        self._running: subprocess.Popen[bytes] | None = None
        self._stopped = False
        self._lock = threading.Lock()

    def another(self) -> Helper:
        """With the same options, and not stopped."""
        return Helper(self.path, *self._options)

    def build(self, binary: str, scope: Iterable[str] | None = None) -> tuple[int, dict[str, Any]]:
        """Status and answer of `build`. `scope`: patterns; then its field `scope` has that answer.

        Raises:
            CozError: the helper did not run, or its answer cannot be read.
        """
        options = [] if scope is None else ["--scope", *_scope_options(scope)]
        return self.ask([*self._build, *options, binary])

    def scope(
        self, table: str, patterns: Iterable[str], wanted: Iterable[Wanted] = ()
    ) -> tuple[int, dict[str, Any]]:
        """Status and answer of `scope`. `wanted`: as they stand in the answer, lines first.

        Raises:
            CozError: as with `build`.
        """
        arguments = ["scope", "--table", table, *_scope_options(patterns)]
        for want in wanted:
            arguments += [f"--{want.kind}", want.text]
        return self.ask(arguments)

    def locations(self, binary: str, names: Iterable[str]) -> tuple[int, dict[str, Any]]:
        """Status and answer of `locations`.

        Raises:
            CozError: as with `build`.
        """
        options = [word for name in names for word in ("--location", name)]
        return self.ask(["locations", *self._search, *options, binary])

    def stop(self) -> None:
        """End what it is doing, and whatever it is asked from now on. Its cache stays valid."""
        with self._lock:
            self._stopped = True
            if self._running is not None:
                self._running.kill()

    def ask(self, arguments: Iterable[str]) -> tuple[int, dict[str, Any]]:
        """Status and answer, which is one JSON object, also when it fails.

        Raises:
            CozError: the helper did not run, or its answer cannot be read.
        """
        try:
            with self._lock:
                if self._stopped:
                    raise CozError(messages.scope.helper_failed(str(self.path), "it was stopped"))
                process = self._running = subprocess.Popen(
                    [str(self.path), *arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                )
        except OSError as error:
            raise CozError(messages.scope.helper_failed(str(self.path), reason_of(error))) from None
        out, complaint = process.communicate()
        with self._lock:
            self._running = None
        answer: dict[str, Any] = {}
        try:
            parsed = json.loads(out or complaint or b"{}")
            answer = parsed if isinstance(parsed, dict) else {}
        except ValueError:
            pass
        if not answer and process.returncode == 0:
            raise CozError(messages.scope.helper_failed(str(self.path), "its answer cannot be read"))
        if process.returncode < 0:
            answer = {
                "error": CRASHED,
                "message": f"coz-linetable was ended by {signal_name(-process.returncode)}",
            }
        if not answer:
            answer = {"message": complaint.decode(errors="replace").strip() or "no message"}
        return process.returncode, answer


def _scope_options(patterns: Iterable[str]) -> list[str]:
    return [word for pattern in patterns for word in ("--source-scope", pattern)]


def failure(what: str, status: int, answer: dict[str, Any]) -> Problem:
    """What to tell of a command that failed on `what`, by its status and answer."""
    reason = str(answer.get("message", f"status {status}"))
    if answer.get("error") in (LIMIT, CRASHED):
        return messages.scope.unreadable_debug_info(what, reason)
    if answer.get("error") == CACHE and not (os.environ.get("XDG_CACHE_HOME") or os.environ.get("HOME")):
        return messages.scope.no_cache_folder(what)
    return messages.scope.helper_failed(what, reason)
