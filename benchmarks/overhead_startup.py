"""Start-up against the size of debug information, with and without a line table in the cache."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from overhead_measure import FOLDER, HELPER, Trial, all_errors, interleave, run
from overhead_statistics import Estimate, estimate, table

#: Rows in a translation unit, and lines in a function of it.
_UNIT_ROWS = 100_000
_FUNCTION_LINES = 100
_MAIN = """\
#include <stdio.h>
#include <time.h>
int main(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  printf("main %lld.%09ld\\n", (long long)t.tv_sec, t.tv_nsec);
  return 0;
}
"""
_INLINED = """\
static inline __attribute__((always_inline)) int mix(int x, int y) {
  x ^= y;
  return x * 5;
}
"""


def unit_source(number: int, rows: int) -> Iterator[str]:
    """The lines of a C source that has about `rows` line rows when it is not optimised: functions of
    statements, one a line, a few of them inlined calls."""
    yield from _INLINED.splitlines()
    for function in range(max(1, rows // _FUNCTION_LINES)):
        yield f"int unit{number}_function{function}(int x) {{"
        for line in range(_FUNCTION_LINES - 3):
            yield f"  x = mix(x, {line});" if line % 25 == 10 else f"  x += {line};"
        yield "  return x;"
        yield "}"


def units(rows: int) -> list[int]:
    """How many rows each translation unit has."""
    whole, rest = divmod(rows, _UNIT_ROWS)
    return [_UNIT_ROWS] * whole + ([rest] if rest else [])


def program_with(rows: int) -> Path:
    """A program with so many line rows, compiled unless it is there already."""
    program = FOLDER / f"rows_{rows}"
    if program.exists():
        return program
    print(f"compiling a program with {rows:,} line rows ...", flush=True)
    compiler = [os.environ.get("CC", "cc"), "-g", "-O0"]
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        (Path(folder) / "main.c").write_text(_MAIN)
        objects = []
        for number, size in enumerate(units(rows)):
            source = Path(folder) / f"unit{number}.c"
            source.write_text("\n".join(unit_source(number, size)) + "\n")
            objects.append(str(source.with_suffix(".o")))
            subprocess.run([*compiler, "-c", "-o", objects[-1], str(source)], check=True)
            source.unlink()
        unfinished = Path(folder) / "program"
        subprocess.run([*compiler, "-o", str(unfinished), f"{folder}/main.c", *objects], check=True)
        unfinished.rename(program)
    return program


def helper_cost(program: Path) -> tuple[float, float]:
    """Seconds and MiB that the helper needs to read the debug information."""
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        start = time.monotonic()
        process = subprocess.Popen(
            [str(HELPER), "build", "--cache-dir", folder, str(program)], stdout=subprocess.DEVNULL
        )
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0
        return time.monotonic() - start, usage.ru_maxrss / 1024


def measure(sizes: Sequence[int], rounds: int) -> dict[str, Any]:
    """Measures and prints a row for each size."""
    results: dict[str, Any] = {}
    rows = []
    for size in sizes:
        program = str(program_with(size))
        result = _measure_one(program, rounds)
        results[str(size)] = result
        shown = [Estimate(**result[key]) for key in ("warm_ms", "before_main_ms", "cold_ms")]
        rows.append([f"{size:,}", shown[0].text(0), f"{shown[1].median:.0f}", shown[2].text(0)])
        rows[-1] += [f"{1e3 * result['helper_seconds']:.0f}", f"{result['helper_mib']:.0f}"]
        for error in result["errors"]:
            print(f"{size:,} rows: {error}")
    header = ["line rows", "warm ms [95 %]", "before main", "cold ms [95 %]", "helper ms", "helper MiB"]
    print(table(header, rows))
    return results


def _measure_one(program: str, rounds: int) -> dict[str, Any]:
    def timed(mode: str, cache: Path | None = None) -> Trial:
        start = time.monotonic()
        trial = run([program], mode, cache)
        # Until main, for want of a better place beside `wall`.
        return Trial(trial.wall, f"before {trial.number('main') - start}", errors=trial.errors)

    def cold() -> Trial:
        cache = Path(tempfile.mkdtemp(dir=FOLDER))
        try:
            return timed("start-up", cache)
        finally:
            shutil.rmtree(cache)

    timed("start-up")
    warm = interleave(3 * rounds, {"plain": lambda: timed("plain"), "warm": lambda: timed("start-up")})
    fresh = interleave(min(rounds, 3), {"plain": lambda: timed("plain"), "cold": cold})
    helper = [helper_cost(Path(program)) for _ in range(3)]
    return {
        "warm_ms": estimate([1e3 * (t["warm"].wall - t["plain"].wall) for t in warm]).__dict__,
        "before_main_ms": estimate(
            [1e3 * (t["warm"].number("before") - t["plain"].number("before")) for t in warm]
        ).__dict__,
        "cold_ms": estimate([1e3 * (t["cold"].wall - t["plain"].wall) for t in fresh]).__dict__,
        "helper_seconds": sorted(seconds for seconds, _ in helper)[1],
        "helper_mib": max(mib for _, mib in helper),
        "errors": all_errors([*warm, *fresh]),
    }
