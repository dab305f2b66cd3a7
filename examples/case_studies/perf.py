"""What perf says: the share of each function, and how much faster a change has made those it concerns."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from study import Run

#: Samples a second of processor time.
FREQUENCY = 2000


@dataclass(frozen=True)
class Samples:
    """Samples of one recording, by function, and the units of work done in it."""

    functions: dict[str, int]
    units: float

    @property
    def total(self) -> int:
        """All samples."""
        return sum(self.functions.values())

    def of(self, symbols: Sequence[str]) -> int:
        """Samples in these functions."""
        return sum(self.functions.get(symbol, 0) for symbol in symbols)


def record(command: Sequence[str], data: Path, run: Run, log: Path) -> Samples:
    """Read back what `perf record` has written to `data` during `run`."""
    columns = ["--sort", "sym", "-F", "sample,sym", "-t", "\t"]
    arguments = ["perf", "report", "--force", "-i", str(data), "--stdio", *columns]
    text = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout
    functions: dict[str, int] = {}
    for line in text.splitlines():
        fields = line.strip().split("\t")
        if len(fields) == 2 and fields[0].strip().isdigit():
            name = fields[1].strip().removeprefix("[.] ").removeprefix("[k] ").strip()
            functions[name] = functions.get(name, 0) + int(fields[0])
    if not functions:
        raise SystemExit(f"perf recorded no samples of {command[0]}; see {log}")
    return Samples(functions, run.units)


def command(program: Sequence[str], data: Path) -> list[str]:
    """The command that records `program`. By the processor's clock: many virtual machines lack counters."""
    options = ["-q", "-e", "cpu-clock", "-F", str(FREQUENCY), "-o", str(data)]
    return ["perf", "record", *options, "--", *program]


def refusal(folder: Path) -> str:
    """Why perf cannot be used here, with what would help; nothing where it can."""
    if shutil.which("perf") is None:
        return "perf is missing: apt-get install linux-perf"
    tried = command(["true"], folder / "perf-try.data")
    done = subprocess.run(tried, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    (folder / "perf-try.data").unlink(missing_ok=True)
    if done.returncode == 0:
        return ""
    reason = (done.stdout.strip().splitlines() or [str(done.returncode)])[0]
    return f"perf is refused ({reason}): sudo sysctl kernel.perf_event_paranoid=1"


def own_speedup(before: Samples, after: Samples, symbols: Sequence[str]) -> tuple[float, float, float]:
    """How much less time these functions take for a unit of work: a fraction, with a 95 % interval."""
    random = np.random.default_rng(1)
    counts = before.of(symbols), after.of(symbols)
    if not counts[0]:
        raise SystemExit(f"perf has no samples of {', '.join(symbols)}")

    def speedup(old: float, new: float) -> float:
        return 1 - (new / after.units) / (old / before.units)

    draws = [speedup(max(o, 1), n) for o, n in zip(*(random.poisson(c, 4000) for c in counts), strict=True)]
    low, high = np.quantile(draws, [0.025, 0.975])
    return speedup(*counts), float(low), float(high)
