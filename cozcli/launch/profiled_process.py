"""Which process is profiled: the launched one, or one below it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from cozcli.errors import CozError, Problem, reason_of
from cozcli.launch import messages
from cozcli.launch.elf import read_elf
from cozcli.launch.environment import Settings, make_environment
from cozcli.launch.line_tables import executable_patterns
from cozcli.launch.preparation import Preparation, Warn
from cozcli.launch.program import Service
from cozcli.launch.table_service import TableService

if TYPE_CHECKING:
    from cozcli.launch.attach_requests import AttachRequests
    from cozcli.launch.tree import TreeFile


def child_patterns(program: Path, patterns: Sequence[str]) -> list[str]:
    """The patterns of -b that name a program which `program` starts; none if they name `program` itself.

    Raises:
        CozError: it cannot be read.
    """
    try:
        elf = read_elf(program)
    except OSError as error:
        raise CozError(messages.program.program_unreadable(str(program), reason_of(error)), 126) from None
    # Scripts, and what is linked statically, have no libraries of their own to look at.
    return executable_patterns(program, elf.interpreter if elf else "", patterns)


class ProfiledProcess(Protocol):
    """One of the three below. Each run is between `begin` and `end`."""

    #: What is profiled, as the user may name it.
    name: str

    @property
    def is_launched(self) -> bool:
        """Does what is profiled end as the launched program does?"""

    @property
    def settings(self) -> Settings | None:
        """What the runtime was told; None: there was none to tell."""

    def warnings(self) -> list[Problem]:
        """What was noticed before the start."""

    def begin(self, run: int) -> tuple[Service | None, Mapping[str, str]]:
        """Before a run (0, 1, ...): what serves it, and the launched program's environment."""

    def end(self) -> list[Problem]:
        """After a run: what was noticed in it."""

    def explain(self) -> list[Problem]:
        """After all runs."""

    def never_came(self) -> bool:
        """After all runs: was nothing there of what -b names, so that nothing could be profiled?"""


class LaunchedProcess:
    """The launched program is profiled."""

    is_launched = True

    def __init__(
        self, preparation: Preparation, name: str, program: Path, interpreter: str, warn: Warn
    ) -> None:
        """Read its lines. `name`: as it was typed. `warn` tells the user, from any thread.

        Raises:
            CozError: nothing is in scope, or something that was named is not there.
        """
        self.name = name
        self._preparation = preparation
        self._prepared = preparation.prepare(program, interpreter)
        self._warn = warn
        self._service: TableService | None = None
        self._tree_file: TreeFile | None = None
        self._came = bool(self._prepared.tables.tables)

    @property
    def settings(self) -> Settings:
        """What the runtime is told."""
        return self._prepared.settings

    def warnings(self) -> list[Problem]:
        """What was noticed about its lines."""
        return self._prepared.tables.warnings

    def begin(self, run: int) -> tuple[Service | None, Mapping[str, str]]:
        """Its environment, and what makes tables for it."""
        seed = (self.settings.seed + run) % 2**64
        self._service = self._preparation.make_service(self._prepared.tables, self._warn)
        environment = make_environment(self.settings._replace(seed=seed), os.environ)
        if self.settings.tree_programs:
            from cozcli.launch.tree import TreeFile  # which most runs need not wait for

            try:
                self._tree_file = TreeFile()
            except OSError as error:
                raise CozError(messages.attach.no_tree_file(reason_of(error))) from None
            environment.update(self._tree_file.variables(self.settings.tree_programs))
        return self._service, environment

    def end(self) -> list[Problem]:
        """What -b named, and never came."""
        if self._tree_file is not None:
            self._tree_file.close()
            self._tree_file = None
        if self._service is None:
            self._came = True  # nobody can say
            return []
        self._came = self._came or self._service.has_matches
        return self._service.missed()

    def explain(self) -> list[Problem]:
        """Nothing beyond what the profile says."""
        return []

    def never_came(self) -> bool:
        """No binary of the start is in scope, and none that was loaded later."""
        return not self._came


class ChildProcess:
    """Programs that the launched one starts are profiled, one at a time."""

    is_launched = False

    def __init__(
        self,
        preparation: Preparation,
        names: Sequence[str],
        launched: str,
        seed: int,
        output: Path,
        warn: Warn,
    ) -> None:
        """`names`: patterns of executables. `launched`: as it was typed. `warn` tells the user."""
        self.name = launched
        self._preparation = preparation
        self._names = names
        self._seed = seed
        self._output = output
        self._warn = warn
        self._requests: AttachRequests | None = None
        self._last: Settings | None = None
        self._profiled = 0
        self._refused = 0
        self._failed = False

    @property
    def settings(self) -> Settings | None:
        """Of the last process that was profiled."""
        return self._last

    def warnings(self) -> list[Problem]:
        """Nothing is known yet."""
        return []

    def begin(self, run: int) -> tuple[Service | None, Mapping[str, str]]:
        """An environment that makes processes ask, and what answers them."""
        try:
            self._requests = self._make_requests(self._seed + self._profiled)
        except OSError as error:
            raise CozError(messages.attach.no_socket(reason_of(error))) from None
        return self._requests, self._requests.environment(os.environ)

    def _make_requests(self, seed: int) -> AttachRequests:
        from cozcli.launch.attach_requests import AttachRequests  # which most runs need not wait for

        return AttachRequests(self._preparation, self._names, self._output, self._warn, seed)

    def end(self) -> list[Problem]:
        """Count."""
        if self._requests is not None:
            self._profiled += self._requests.profiled
            self._refused += self._requests.refused
            self._failed = self._failed or self._requests.failure is not None
            if self._requests.profiled and self._requests.last is not None:
                self._last = self._requests.last.settings
                self.name = str(self._last.program)
        return []

    def explain(self) -> list[Problem]:
        """That there was none, or that not all were profiled."""
        if not self._profiled:
            # Why one could not be was said when it was started.
            return [] if self._failed else [self._none()]
        return [messages.attach.not_all(self._refused)] if self._refused else []

    def never_came(self) -> bool:
        """No program with the name was started; what cannot be profiled was."""
        return bool(self._names) and not self._profiled and not self._failed

    def _none(self) -> Problem:
        return messages.attach.never_started(self._names, self.name)


class ForkedProcess(ChildProcess):
    """A child that the launched program forks is profiled, one at a time, and it is not."""

    def __init__(
        self,
        preparation: Preparation,
        launched: str,
        program: Path,
        interpreter: str,
        seed: int,
        output: Path,
        generations: int,
        warn: Warn,
    ) -> None:
        """Read the program's lines. `generations`: 1 for its children, 2 for theirs.

        Raises:
            CozError: nothing is in scope, or something that was named is not there.
        """
        super().__init__(preparation, (), launched, seed, output, warn)
        self._prepared = preparation.prepare(program, interpreter)
        self._generations = generations

    def warnings(self) -> list[Problem]:
        """What was noticed about its lines."""
        return self._prepared.tables.warnings

    def _make_requests(self, seed: int) -> AttachRequests:
        from cozcli.launch.attach_requests import ForkedAttachRequests

        return ForkedAttachRequests(self._preparation, self._prepared, self._generations, self._warn, seed)

    def end(self) -> list[Problem]:
        """The name stays as it was typed."""
        name = self.name
        problems = super().end()
        self.name = name
        return problems

    def _none(self) -> Problem:
        return messages.attach.never_forked(self.name, self._generations)
