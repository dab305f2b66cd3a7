"""The leading lines of a profile that is still growing, as an analysis in a process of its own finds them.

`coz run` forks the program, and takes signals one by one: numpy, which makes threads, must not be in it. The
process imports the analysis once, and analyses whenever it is asked to (analysis_worker.py).
"""

from __future__ import annotations

import contextlib
import json
import math
import select
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

_ROOT = Path(__file__).resolve().parents[2]
_COMMAND = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from cozcli.launch.analysis_worker import main; main()"
)


class LeadingLine(NamedTuple):
    """A line at the top of a report.

    `effect` and `half`, half of its 95 % interval: at `speedup`, by the fitted curve at 50 %, or
    measured as near to it as there is. Fractions. `is_trusted`: see LineResult.
    """

    location: str
    is_certain_enough: bool
    speedup: float
    effect: float
    half: float
    is_trusted: bool = True


class Leaders(NamedTuple):
    """The answer of one analysis. `used`: seconds of processor time that all of them have taken so far.

    `known`: of combined windows, how many targets' effects are known well, and how many targets there are.
    """

    lines: list[LeadingLine]
    used: float
    known: tuple[int, int] = (0, 0)

    @property
    def precision(self) -> float | None:
        """The widest half interval of the effects; None while a leading line rests on few data."""
        if not self.lines or not all(line.is_certain_enough for line in self.lines):
            return None
        return max(line.half for line in self.lines)

    def is_in_order(self, precision: float) -> bool:
        """Are neighbours in the list known to differ, or as good as equal: less than `precision` apart?"""
        gaps = [
            (abs(line.effect - after.effect), math.hypot(line.half, after.half))
            for line, after in pairwise(self.lines)
        ]
        return all(gap > half or gap <= precision for gap, half in gaps)


class Analyst:
    """Asks for one analysis after the other. For one thread; to be closed.

    `is_idle`: the analysis gets only processor time that nothing else wants.
    """

    def __init__(self, profile: Path, is_idle: bool) -> None:
        self._arguments = [str(profile), *(["idle"] if is_idle else [])]
        self._process: subprocess.Popen[bytes] | None = None
        self._is_asked = False
        self._lacks_packages = False

    def missing_packages(self) -> list[str]:
        """What the analysis needs, and this interpreter lacks. Waits until the process is ready."""
        found = self._receive(self._running())
        return list(found.get("missing", [])) if found else []

    def ask(self) -> None:
        """Begin an analysis, where one is possible."""
        if self._lacks_packages:
            return
        process = self._running()
        assert process.stdin is not None
        with contextlib.suppress(OSError):
            process.stdin.write(b"analyse\n")
        self._is_asked = True

    @property
    def is_asked(self) -> bool:
        """Is an analysis on?"""
        return self._is_asked

    def answer(self, wait: bool) -> Leaders | None:
        """What came of it; None while it is on (unless we `wait`), or if there are no results yet."""
        process = self._process
        if process is None or not self._is_asked:
            return None
        assert process.stdout is not None
        while wait or select.select([process.stdout], [], [], 0)[0]:
            found = self._receive(process)
            self._lacks_packages |= found is not None and bool(found.get("missing"))
            if found is None or self._lacks_packages:
                self.close()
                return None
            if "lines" in found:
                self._is_asked = False
                well, targets = found["known"]
                return Leaders(
                    [LeadingLine(*line) for line in found["lines"]], found["used"], (well, targets)
                )
        return None

    def close(self) -> None:
        """End the process."""
        process, self._process, self._is_asked = self._process, None, False
        if process is not None:
            process.kill()
            with process:
                pass

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            cache = ["-X", f"pycache_prefix={sys.pycache_prefix}"] if sys.pycache_prefix else []
            self._process = subprocess.Popen(
                [sys.executable, "-P", *cache, "-c", _COMMAND, str(_ROOT), *self._arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,  # so that `select` sees every answer
            )
        return self._process

    @staticmethod
    def _receive(process: subprocess.Popen[bytes]) -> dict[str, Any] | None:
        assert process.stdout is not None
        try:
            found = json.loads(process.stdout.readline())
        except ValueError:
            return None  # it has ended
        return found if isinstance(found, dict) else None
