"""Builds the programs in tests/programs and runs them under build/bin/coz."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from compiled import compiled
from machine import MachineWatch

ROOT = Path(__file__).resolve().parents[2]
COZ = ROOT / "build/bin/coz"
PROGRAMS = ROOT / "tests/programs"
WATCH = MachineWatch()
#: How many windows a test wants to see, or whether those in the profile are what it wants.
Wanted = int | Callable[[list[dict[str, Any]]], bool]
#: Of warnings.
_OF_A_BUSY_MACHINE = ("no experiment", "slower than at its best", "waited for a core")


@dataclass
class Run:
    """What one `coz` command did."""

    status: int
    out: str
    err: str
    profile: Path = field(default_factory=Path)

    def records(self, kind: str | None = None) -> list[dict[str, Any]]:
        """The profile's records; each line of it must be a JSON object."""
        records = [json.loads(line) for line in self.profile.read_text().splitlines()]
        return [record for record in records if kind is None or record["type"] == kind]

    def warnings(self) -> list[str]:
        """What coz warns of, without what a busy machine gives reason to."""
        found = [line for line in self.err.splitlines() if line.startswith("coz: warning")]
        return [line for line in found if not any(text in line for text in _OF_A_BUSY_MACHINE)]


class Coz:
    """`coz`, with a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.profile = folder / "profile.coz"
        #: What starts `coz`, as a command before it.
        self.below: list[str] = []
        self.environment = os.environ | {"XDG_CACHE_HOME": str(folder / "cache")}

    def __call__(self, *arguments: object, **options: Any) -> Run:
        """Any coz command, to its end."""
        done = subprocess.run(
            [*self.below, COZ, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=options.pop("timeout", 120),
            cwd=options.pop("cwd", self.folder),
            env=self.environment | options.pop("env", {}),
            **options,
        )
        return Run(done.returncode, done.stdout, done.stderr, self.profile)

    def run(self, program: Sequence[object], *arguments: object, **options: Any) -> Run:
        """`coz run` with a profile in the folder."""
        return self("run", "-o", self.profile, *arguments, "---", *program, **options)

    @property
    def enough(self) -> str:
        """In place of seconds, for programs with until.h that run_until() runs."""
        return f"until:{self.folder / 'enough'}"

    def run_until(self, wanted: Wanted, program: Sequence[object], *arguments: object, **options: Any) -> Run:
        """`coz run`; the program, told `enough`, ends once the profile has the wanted windows.

        So it takes no longer than needed, and a busy machine may take as long as it needs.
        """
        (self.folder / "enough").unlink(missing_ok=True)
        is_over = threading.Event()
        watch = threading.Thread(target=self._end_at, args=(wanted, is_over))
        watch.start()
        try:
            return self.run(program, *arguments, **options)
        finally:
            is_over.set()
            watch.join()

    def _end_at(self, wanted: Wanted, is_over: threading.Event) -> None:
        while not is_over.wait(0.05):
            if self.has_experiments(wanted):
                (self.folder / "enough").touch()
                return

    def start(self, program: Sequence[object], *arguments: object, **options: Any) -> subprocess.Popen[str]:
        """`coz run` in a process group of its own, as a shell starts it."""
        return subprocess.Popen(
            [*self.below, COZ, "run", "-o", self.profile, *map(str, arguments), "---", *map(str, program)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            env=self.environment,
            start_new_session=True,
            **options,
        )

    def stopped_at(self, wanted: Wanted, program: Sequence[object], *arguments: object) -> Run:
        """`coz run`, ended by SIGTERM once the profile has what is wanted; for programs without until.h."""
        process = self.start(program, *arguments)
        self.wait_for_experiments(wanted)
        process.terminate()
        return self.finished(process)

    def finished(self, process: subprocess.Popen[str], timeout: float = 20) -> Run:
        out, err = process.communicate(timeout=timeout)
        return Run(process.returncode, out, err, self.profile)

    def results(self) -> list[dict[str, Any]]:
        """`results` of `coz report --json`."""
        report = self("report", "--json", self.profile)
        assert report.status == 0, report.err
        return json.loads(report.out)["results"]  # type: ignore[no-any-return]

    def has_experiments(self, wanted: Wanted) -> bool:
        """The profile has them by now."""
        lines = self.profile.read_text().splitlines(keepends=True) if self.profile.exists() else []
        experiments = [json.loads(line) for line in lines if '"experiment"' in line and line.endswith("\n")]
        return len(experiments) >= wanted if isinstance(wanted, int) else wanted(experiments)

    def wait_for_experiments(self, wanted: Wanted, timeout: float = 90) -> None:
        """Until the profile of a running program has them."""
        end = time.monotonic() + timeout
        while not self.has_experiments(wanted):
            if time.monotonic() > end:
                pytest.fail(f"not the wanted experiments in {timeout} s")
            time.sleep(0.05)


@pytest.fixture
def coz(tmp_path: Path) -> Coz:
    return Coz(tmp_path)


#: By name; forgotten when a test fails, which may run again.
_SHARED_RUNS: dict[str, Run] = {}


@pytest.fixture
def shared_run(coz: Coz) -> Callable[[str, Callable[[], Run]], Run]:
    """shared_run(NAME, MAKE): what MAKE returned to the first test that asked, with its profile for `coz`."""

    def share(name: str, make: Callable[[], Run]) -> Run:
        if name not in _SHARED_RUNS:
            _SHARED_RUNS[name] = make()
        coz.profile = _SHARED_RUNS[name].profile
        return _SHARED_RUNS[name]

    return share


@pytest.fixture(scope="session")
def build() -> Callable[..., Path]:
    """build(SOURCE, FLAG...): compiles a program of tests/programs, examples or benchmarks, once.

    By GCC, or by LLVM if asked, where that is installed.
    """

    def compile_program(source: str, *flags: str, debug: str = "-g", llvm: bool = False) -> Path:
        path = (ROOT if source.startswith(("examples/", "benchmarks/")) else PROGRAMS) / source
        is_c = path.suffix == ".c"
        compiler = ("clang" if is_c else "clang++") if llvm else ("gcc" if is_c else "g++")
        if llvm and shutil.which(compiler) is None:
            pytest.skip(f"{compiler} not found")
        standard = "-std=gnu11" if is_c else "-std=c++20"
        include = ["-I", str(ROOT / "include")]
        return compiled(
            [compiler, standard, "-O2", debug, *include, str(path), *flags, "-lpthread"], path, path.stem
        )

    return compile_program


@pytest.fixture
def with_section(build: Callable[..., Path], tmp_path: Path) -> Callable[[str, bytes], Path]:
    """with_section(NAME, CONTENT): loop.c, looking as if it was built in another way."""

    def add(name: str, content: bytes) -> Path:
        added, program = tmp_path / "content", tmp_path / f"with{name}"
        added.write_bytes(content)
        command = ["objcopy", "--add-section", f"{name}={added}", build("loop.c"), program]
        subprocess.run(command, check=True)
        return program

    return add


def program_below(coz_process: subprocess.Popen[str], program: Path, timeout: float = 10) -> int:
    """The process id of the profiled program."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit() or int(folder.name) == coz_process.pid:
                continue
            try:
                same = os.readlink(folder / "exe") == str(program.resolve())
                session = os.getsid(int(folder.name))
            except OSError:
                continue
            if same and session == coz_process.pid:
                return int(folder.name)
        time.sleep(0.05)
    pytest.fail("the program was not started")


@pytest.fixture
def pid_of() -> Callable[..., int]:
    return program_below


def pytest_configure(config: pytest.Config) -> None:
    if not COZ.exists() or not shutil.which("gcc"):
        pytest.exit("the system tests need build/bin/coz: run them by `make test`", 1)
    WATCH.start()


#: How often a test that measures is run at most: twice in any case, as not all disturbance is seen, and
#: again while the machine is disturbed.
_RUNS, _RUNS_UNDISTURBED = 5, 2


def _is_worth_another_run(item: Any) -> Callable[[], bool]:
    return lambda: item.execution_count < _RUNS_UNDISTURBED or bool(WATCH.disturbance())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("measured") is not None:
            again = pytest.mark.flaky(reruns=_RUNS - 1, condition=_is_worth_another_run(item))
            item.add_marker(again)


def pytest_runtest_setup() -> None:
    WATCH.begin()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    """A failure says what the machine was like, whatever the test."""
    report = (yield).get_result()  # type: ignore[misc]
    if report.failed:
        _SHARED_RUNS.clear()
        report.sections.append(("machine during the test", str(WATCH.disturbance())))
