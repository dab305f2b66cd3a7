"""The ground-truth programs: what `benchmarks/programs` holds, and how one of them is run and read."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "benchmarks" / "programs"
BUILD = ROOT / "build" / "bench"
BINARIES = BUILD / "programs"
#: The same programs with debug information that older tools can read, and classic marks.
CLASSIC_BINARIES = BUILD / "programs-dwarf3"

#: Speedups of a line, in per cent, at which predictions are compared with the truth.
SPEEDUPS = (25, 50, 75)

#: Of a lock, which is there or not.
WITHOUT = (100,)

_MARK = re.compile(r"// (LINE|WAIT|LOCK) (\w+)$")
_POINT = re.compile(r'COZ_(?:PROGRESS_NAMED|BEGIN|BEGIN_ID)\("([^"]+)"[,)]')
_RESULT = re.compile(r"visits (\d+) seconds ([0-9.]+)(?: latency_us ([0-9.]+))?$")


@dataclass(frozen=True)
class Program:
    """One program; its lines and its progress point are those marked in its source.

    of: the name of its source, if that is another. arguments: come before all others. options: of `coz run`.
    slice_factor: how much longer slices are in which its true effects are measured. Where items wait in a
    queue, and take milliseconds each or count by their latency, a change takes longer to show in full.
    """

    name: str
    latency: bool = False
    of: str = ""
    arguments: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    slice_factor: int = 1

    @property
    def source(self) -> Path:
        """Its source file."""
        return SOURCES / f"{self.of or self.name}.cpp"

    @property
    def binary(self) -> Path:
        """Its executable, as `make` builds it."""
        return BINARIES / self.source.stem

    @property
    def classic_binary(self) -> Path:
        """Its executable for tools that need old debug information."""
        return CLASSIC_BINARIES / self.source.stem

    @cached_property
    def lines(self) -> Mapping[str, int]:
        """Line numbers of the marked lines, by name, in the order of the source."""
        return marked_lines(self.source.read_text())

    @cached_property
    def kinds(self) -> Mapping[str, str]:
        """What is marked, by name: line, wait or lock."""
        marks = (_MARK.search(text) for text in self.source.read_text().splitlines())
        return {match[2]: match[1].lower() for match in marks if match}

    def speedups(self, line: str) -> tuple[int, ...]:
        """At which speedups of a line predictions are compared with the truth."""
        return WITHOUT if self.kinds[line] == "lock" else SPEEDUPS

    @property
    def run_options(self) -> tuple[str, ...]:
        """What `coz run` needs, to have all marked lines as targets, too."""
        return (*self.options, *(("--waits",) if set(self.kinds.values()) - {"line"} else ()))

    @cached_property
    def point(self) -> str:
        """The name of its progress point."""
        names: set[str] = set(_POINT.findall(self.source.read_text()))
        if len(names) != 1:
            raise ValueError(f"{self.source} has {len(names)} progress points")
        return names.pop()

    @property
    def kind(self) -> str:
        """The kind of its progress point, as reports call it."""
        return "latency" if self.latency else "throughput"


#: Shapes of programs with more threads than cores, and numbers of threads.
CROWDS = ("pipeline", "pool", "lock", "barrier", "waiting")
CROWD_THREADS = (3, 4, 8, 16)


def crowds() -> list[Program]:
    """Programs with more threads than cores."""
    return [
        Program(f"{shape}_of_{threads}", of=f"crowd_{shape}", arguments=("--threads", str(threads)))
        for threads in CROWD_THREADS
        for shape in CROWDS
    ]


PROGRAMS = (
    Program("two_threads"),
    Program("independent_threads"),
    Program("serial"),
    Program("pipeline"),
    Program("pipeline_two_consumers"),
    Program("queue_8", slice_factor=5),
    Program("queue_64_three"),
    Program("queue_1000"),
    Program("pools_of_two", slice_factor=5),
    Program("stages_of_five", slice_factor=2),
    Program("pool_at_limit"),
    Program("slow_stages", slice_factor=12),
    Program("mutex_long"),
    Program("mutex_short"),
    Program("barrier_phases"),
    Program("std_barrier"),
    Program("equal_shares"),
    Program("second_bottleneck"),
    Program("condvar_handoff"),
    Program("thread_pool"),
    Program("task_kinds"),
    Program("kernel_time"),
    Program("thread_for_each_request"),
    Program("thread_batches"),
    Program("std_async"),
    Program("pipe_stages"),
    Program("event_loop"),
    Program("rwlock"),
    Program("semaphore_ring"),
    Program("atomic_wait"),
    Program("spin_wait"),
    Program("openmp_rounds"),
    Program("openmp_tasks"),
    Program("two_phases"),
    Program("latency_queue", latency=True, slice_factor=4),
    Program("latency_tail", latency=True, slice_factor=4),
    Program("queue_8_latency", latency=True, slice_factor=4),
    Program("staged_latency", latency=True, slice_factor=5),
    Program("io_beside_compute"),
    Program("lock_dropped"),
    Program("lock_split"),
    Program("rwlock_split"),
    Program("device_depth_1"),
    Program("device_depth_4"),
    Program("slow_reads_aside", of="slow_reads"),
    Program("slow_reads_on_path", of="slow_reads", arguments=("--blocks", "2")),
    Program("process_pool", options=("--tree",)),
    Program("process_pipe", options=("--tree",)),
    Program("process_socket", options=("--tree",)),
    Program("process_for_each_request", options=("--tree",)),
    Program("process_mutex", options=("--tree",)),
    Program("process_executed", options=("--tree", "-b", "process_executed")),
    *crowds(),
)


@dataclass(frozen=True)
class Count:
    """Visits in so many seconds, and the mean latency in microseconds if the program measures it."""

    visits: int
    seconds: float
    latency: float | None

    @property
    def period(self) -> float:
        """Microseconds that count: mean latency if there is one, else time from visit to visit."""
        return self.latency if self.latency is not None else 1e6 * self.seconds / self.visits


@dataclass(frozen=True)
class Slice(Count):
    """A part of a run, with a case in force: its index, or -1 for none.

    stolen: seconds that a hypervisor stole from the machine's processors meanwhile.
    """

    case: int
    stolen: float = 0.0


@dataclass(frozen=True)
class Outcome(Count):
    """What a program printed in all; its lines' iterations at the end, and the slices.

    quantiles: p50, p90 and p99 of the latency in microseconds, of programs that measure them.
    """

    iterations: Mapping[str, int]
    slices: tuple[Slice, ...] = ()
    quantiles: tuple[float, ...] = ()


def marked_lines(source: str) -> dict[str, int]:
    """Numbers of the lines that end in `// LINE name`, or are marked as a wait or a lock, by name."""
    found: dict[str, int] = {}
    for number, text in enumerate(source.splitlines(), start=1):
        if match := _MARK.search(text):
            if match[2] in found:
                raise ValueError(f"two lines are marked {match[2]}")
            found[match[2]] = number
    return found


def parse_outcome(text: str) -> Outcome:
    """Read what a program printed.

    Raises:
        ValueError: it printed something else, or no visits.
    """
    *lines, last = text.strip().splitlines() or [""]
    iterations = {}
    slices = []
    quantiles: tuple[float, ...] = ()
    for line in lines:
        word, name, rest = line.split(maxsplit=2)
        if word == "line":
            iterations[name] = int(rest)
        elif word == "quantiles_us":
            quantiles = tuple(map(float, (name, *rest.split())))
        elif word == "slice":
            count, _, stolen = rest.partition(" stolen ")
            slices.append(Slice(*_parse_count(count), case=int(name), stolen=float(stolen or 0)))
        else:
            raise ValueError(f"a program printed {line!r}")
    return Outcome(*_parse_count(last), iterations=iterations, slices=tuple(slices), quantiles=quantiles)


def _parse_count(text: str) -> tuple[int, float, float | None]:
    match = _RESULT.fullmatch(text)
    if match is None or int(match[1]) == 0:
        raise ValueError(f"a program printed {text!r}")
    return int(match[1]), float(match[2]), float(match[3]) if match[3] else None


def run_slices(
    program: Program, seconds: float, slice_seconds: float, cases: Sequence[tuple[str, int]]
) -> Outcome:
    """Run a program without a profiler, with lines made faster for a slice of time each."""
    command = [str(program.binary), *program.arguments, "--seconds", f"{seconds:g}"]
    command += ["--slices", f"{slice_seconds:g}"]
    for line, percent in cases:
        command += ["--case", f"{line}={percent}"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60 + 10 * seconds)
    return parse_outcome(done.stdout)


def run(program: Program, seconds: float, speedups: Mapping[str, float] | None = None) -> Outcome:
    """Run a program without a profiler, with lines made faster by so many per cent."""
    command = [str(program.binary), *program.arguments, "--seconds", f"{seconds:g}"]
    for line, percent in (speedups or {}).items():
        command += ["--speedup", f"{line}={percent:g}"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60 + 10 * seconds)
    return parse_outcome(done.stdout)


def choose(names: list[str]) -> list[Program]:
    """The programs of these names, all without names.

    Raises:
        ValueError: there is no such program.
    """
    known = {program.name: program for program in PROGRAMS}
    if unknown := [name for name in names if name not in known]:
        raise ValueError(f"no such program: {', '.join(unknown)}; there are {', '.join(known)}")
    return [known[name] for name in names] if names else list(PROGRAMS)
