"""Measures a case: pairs of runs, with the region twice and once, in turns with the profile of the former."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from doubling import control_group
from doubling.outcome import Logged, Outcome, parse_log, prediction_of, region_of, truth_of
from doubling.program import BUILD, ROOT, Case, Program, Work

COZ = ROOT / "build" / "bin" / "coz"


@dataclass(frozen=True)
class Settings:
    """How long: seconds of profiling, of a run of the profile (before its region was doubled) and of a run of
    a pair, about; pairs; turns in which pairs and profile are measured."""

    seconds: float = 66
    profile_run: float = 10
    run: float = 0.8
    pairs: int = 12
    turns: int = 2


class Measurement(AbstractContextManager["Measurement"]):
    """One case. Leaving it removes what the program has written."""

    def __init__(self, program: Program, case: Case, settings: Settings) -> None:
        self.program = program
        self.case = case
        self.settings = settings
        memory = Path("/dev/shm")
        self.scratch = Path(tempfile.mkdtemp(prefix="coz-doubling-", dir=memory if memory.is_dir() else None))
        self.log = self.scratch / "log"
        self.profile = BUILD / program.name / f"{case.name.replace('/', '-')}.coz"
        self.enter: Callable[[], None] | None = None
        if case.quota is not None:
            self.enter = control_group.with_quota(case.quota)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shutil.rmtree(self.scratch, ignore_errors=True)
        if self.case.quota is not None:
            control_group.remove()

    def outcome(self, say: Callable[[str], None]) -> Outcome:
        """Everything: clocked runs first, which also warm up, then turns of pairs and profile."""
        say("does it do the same?")
        self.check_results()
        say("share of the region")
        clocked = [self.pair(clocked=True) for _ in range(2)]
        self.profile.unlink(missing_ok=True)
        pairs: list[tuple[Logged, Logged]] = []
        for turn in range(1, self.settings.turns + 1):
            say(f"turn {turn} of {self.settings.turns}")
            wanted = self.settings.pairs * turn // self.settings.turns
            while len(pairs) < wanted:
                pairs.append(self.pair())
            self.add_to_profile(self.settings.seconds / self.settings.turns)
        return self.result(clocked, pairs)

    def result(self, clocked: list[tuple[Logged, Logged]], pairs: list[tuple[Logged, Logged]]) -> Outcome:
        """What all of it says."""
        region = region_of(clocked)
        done = subprocess.run(
            [COZ, "report", "--json", self.profile], capture_output=True, text=True, check=True
        )
        report = json.loads(done.stdout)
        predicted = prediction_of(report, self.case.region, region.undone)
        return Outcome(
            program=self.program.title,
            case=self.case.name,
            threads=self.case.all_threads,
            runs=self.case.runs,
            cores=self.case.quota or len(os.sched_getaffinity(0)),
            periods=tuple((twice.period, once.period) for twice, once in pairs),
            region=region,
            truth=truth_of(pairs),
            predicted=predicted[0] if predicted else None,
            marks=tuple(predicted[1]) if predicted else (),
            experiments=report["experiments"],
        )

    def check_results(self) -> None:
        """With two runs the program does what it does with one. SystemExit if not."""
        if self.program.written is None:
            return
        digests = set()
        for twice in (True, False):
            with tempfile.TemporaryFile() as out:
                self.run(self.command(self.settings.run / 2), twice=twice, out=out)
                out.seek(0)
                if self.program.written:
                    data = (self.scratch / self.program.written).read_bytes()
                else:
                    data = out.read()
            digests.add(hashlib.sha256(data).digest())
        if len(digests) > 1:
            raise SystemExit(f"{self.program.name}: {self.case.region} run twice changes the result")

    def pair(self, clocked: bool = False) -> tuple[Logged, Logged]:
        """A run with the region twice and one with it once, in random order."""
        order = random.sample([True, False], 2)
        logs = {twice: self.logged_run(twice, clocked) for twice in order}
        return logs[True], logs[False]

    def logged_run(self, twice: bool, clocked: bool) -> Logged:
        """One run without the profiler."""
        self.log.unlink(missing_ok=True)
        more = {"TWICE_LOG": str(self.log)}
        if clocked:
            more["TWICE_CLOCK"] = self.case.region
        self.run(self.command(self.settings.run * self.program.times_longer), twice=twice, more=more)
        return parse_log(self.log.read_text() if self.log.exists() else "")

    def add_to_profile(self, seconds: float) -> None:
        """Default options, but for those that the program needs."""
        run = [str(COZ), "run", "-o", str(self.profile), "--duration", f"{seconds:g}s"]
        run += self.program.coz_options
        self.run([*run, "---", *self.command(self.settings.profile_run)], twice=True)

    def command(self, seconds: float) -> list[str]:
        """The workload of about so many seconds, in processor time of a quota as in that of all cores."""
        if self.case.quota is not None:
            seconds *= self.case.quota / len(os.sched_getaffinity(0))
        folder = BUILD / self.program.name
        return list(self.program.workload(Work(folder, self.scratch, self.case.threads, seconds)))

    def run(
        self, command: list[str], twice: bool, more: dict[str, str] | None = None, out: object = None
    ) -> None:
        """Run a command; SystemExit with the end of what it says, if it fails."""
        environment = {**os.environ, "LC_ALL": "C", **(more or {})}
        if twice:
            environment |= {"TWICE": self.case.region, "TWICE_RUNS": str(self.case.runs)}
        with tempfile.TemporaryFile("w+", errors="replace") as said:
            done = subprocess.run(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out or subprocess.DEVNULL,  # type: ignore[call-overload]
                stderr=said,
                preexec_fn=self.enter,
                check=False,
            )
            if done.returncode != 0:
                said.seek(0)
                end = "\n".join(said.read().splitlines()[-15:])
                raise SystemExit(f"{' '.join(command)} ended with status {done.returncode}\n{end}")
