"""From the options of `coz run` and a program to all that its runtime has to be told."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from cozcli.errors import CozError, Problem, reason_of
from cozcli.launch import messages
from cozcli.launch.elf import read_elf
from cozcli.launch.environment import Settings
from cozcli.launch.fixed_targets import FixedTarget, Wanted
from cozcli.launch.helper import Helper
from cozcli.launch.line_tables import LineTables, Scope, build_tables, in_scope_at_start
from cozcli.launch.points import WantedPoints, place_points
from cozcli.launch.preflight import has_static_openmp
from cozcli.launch.table_service import Later, TableService

if TYPE_CHECKING:
    import socket

    from cozcli.launch.extension import RunExtension
    from cozcli.launch.joint import Joint

Warn = Callable[[list[Problem]], None]


class Prepared(NamedTuple):
    """What the runtime is told, and what answers its questions."""

    settings: Settings
    tables: LineTables


class Preparation:
    """What the command line asks for, whichever program it is asked of.

    `seed`: of the first run. `output`: where profiles go.
    """

    def __init__(
        self,
        options: argparse.Namespace,
        library: Path,
        helper: Path,
        output: Path,
        seed: int,
        run_extensions: Sequence[RunExtension] = (),
        joint: Joint | None = None,
        executed: Mapping[str, Path] = MappingProxyType({}),
    ) -> None:
        """Read what the options name. `executed`: programs of a tree, by what -b calls them.

        Raises:
            CozError: they contradict each other, or a file of lines is no good.
        """
        self.library = library
        self.run_extensions = run_extensions
        self._joint = joint
        self._executed = executed
        binaries = [str(executed.get(pattern, pattern)) for pattern in options.binary_scope]
        self.scope = Scope(options.source_scope, binaries, options.granularity)
        self._options = options
        self._helper = helper
        self._output = output
        self._seed = seed
        self._wanted = _wanted(options, self.scope)
        self._points = WantedPoints(
            options.progress,
            options.progress_sampled,
            options.latency,
            options.progress_by,
            [name for extension in run_extensions for name in extension.arrivals],
            any(extension.charges_arrivals for extension in run_extensions),
        )
        if self._points.sampled and options.sampling == "off":
            raise CozError(messages.points.sampled_without_samples())

    def prepare(self, program: Path, interpreter: str) -> Prepared:
        """Read the program's lines, and find in them what was named.

        Raises:
            CozError: nothing is in scope, or something that was named is not there.
        """
        options = self._options
        helper = Helper(self._helper, options.debuginfod, self.scope.functions)
        tables = self._build_tables(helper, program, interpreter)
        if has_static_openmp(program):
            tables.warnings.append(messages.program.static_openmp(str(program)))
        by_name = options.fixed_region or options.fixed_wait or options.fixed_lock
        fixed = tables.select(self._wanted) if self._wanted or not by_name else []
        # Lines that are yet to come are known by the user's names for them.
        awaited = [FixedTarget("line", os.path.normpath(want.text)) for want in tables.awaited]
        fixed += [FixedTarget("region", name) for name in dict.fromkeys(options.fixed_region)]
        place = "function" if self.scope.functions else "line"
        for kind, texts in (("wait", options.fixed_wait), ("lock", options.fixed_lock)):
            if texts:
                wanted = [Wanted(place, text) for text in dict.fromkeys(texts)]
                waits = tables.select(wanted, may_await=False)
                fixed += [FixedTarget(kind, target.name) for target in waits]
        settings = Settings(
            library=self.library,
            program=program,
            output=self._output,
            tables=tuple(tables.tables),
            seed=self._seed,
            source_scope=options.source_scope,
            binary_scope=options.binary_scope,
            fixed=[*fixed, *awaited],
            fixed_speedup=options.fixed_speedup,
            speedups=options.speedups,
            companions=options.companions,
            end_to_end=options.end_to_end,
            period=options.period,
            sampling=options.sampling,
            granularity=options.granularity,
            tree=options.tree,
            tree_programs=tuple(self._executed.values()),
            waits="sites" if options.fixed_wait or options.fixed_lock else options.waits,
            points=place_points(tables, self._points),
            warmup=round(options.warmup * 1e9),
            stop_after=round(options.stop_after * 1e9),
            variables={
                **{k: v for extension in self.run_extensions for k, v in extension.variables.items()},
                **(self._joint.variables if self._joint else {}),
            },
        )
        return Prepared(settings, tables)

    def _build_tables(self, helper: Helper, program: Path, interpreter: str) -> LineTables:
        """Those of the program, and of what its tree executes."""
        others = dict.fromkeys(path for path in self._executed.values() if path != program)
        if not others:
            return build_tables(helper, program, interpreter, self.scope, more_may_come=not self._executed)
        patterns = [pattern for pattern in self.scope.binary if Path(pattern) not in others]
        result = LineTables(helper, self.scope)
        for path in [program, *others]:
            interpreter = _interpreter(path)
            own = [str(path)] if path in others else []
            if not own and not in_scope_at_start(path, interpreter, patterns):
                continue
            scope = self.scope._replace(binary=[*own, *patterns])
            found = build_tables(helper, path, interpreter, scope)
            known = {table.binary for table in result.tables}
            result.tables += [table for table in found.tables if table.binary not in known]
            result.warnings += [warning for warning in found.warnings if warning not in result.warnings]
            result.examined |= found.examined
        return result

    def make_service(
        self, tables: LineTables, warn: Warn, connection: socket.socket | None = None
    ) -> TableService | None:
        """What makes tables while the program runs, where it may load something that is in scope."""
        # Ranks of a job, or programs of a tree, would number later targets in another order.
        if not tables.later or self._joint or self._executed:
            return None
        later = Later(tables.later, {*tables.examined, str(self.library)}, tables.scope, tables.awaited)
        try:
            return TableService(tables.helper, later, warn, connection)
        except OSError as error:
            warn([messages.scope.table_socket_failed(reason_of(error))])
            return None


def _interpreter(program: Path) -> str:
    elf = read_elf(program)
    return elf.interpreter if elf is not None else ""


def _wanted(options: argparse.Namespace, scope: Scope) -> list[Wanted]:
    """The lines or functions that the user named.

    Raises:
        CozError: they are not what experiments are on, or a file of lines is no good.
    """
    if scope.functions and (options.fixed_line or options.fixed_lines):
        option = "--fixed-line" if options.fixed_line else "--fixed-lines"
        raise CozError(messages.targets.fixed_needs_granularity(option, scope.granularity))
    if options.fixed_function and not scope.functions:
        raise CozError(messages.targets.fixed_needs_granularity("--fixed-function", scope.granularity))
    wanted = [Wanted("line", text) for text in options.fixed_line]
    if options.fixed_lines:
        from cozcli.launch.fixed_lines import read_fixed_lines  # which most runs need not wait for

        wanted += [line for name in options.fixed_lines for line in read_fixed_lines(name)]
    return wanted + [Wanted("function", text) for text in options.fixed_function]
