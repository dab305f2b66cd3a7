#!/usr/bin/env python3
"""Repeats a case study, from the source to the row of the table: `run.py NAME`, by `make case-study-NAME`.

Steps: fetch, build, profile (of lines), perf, predict (a profile of functions, and one of changed locks
alone), measure (before and after in turns), report. Each can be done alone by `--only`; what it finds is kept
in build/case_studies/NAME. `--more` adds to what the profiles and the measurement of earlier calls found.
Only one study runs at a time, and nothing else should beside it: some six minutes, and the build.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path

import perf as recorded
import report
import sampled
from gain import gain
from study import BEFORE, BUILD, ROOT, Run, Study, call, failure

COZ = str(BUILD / "bin" / "coz")
#: What each study needs: a compiler, `patch`, and Debian's tools for source packages.
PACKAGES = ("gcc", "g++", "make", "patch", "dpkg-dev", "ca-certificates")
STEPS = ("fetch", "build", "profile", "perf", "predict", "sample", "measure", "report")
#: Of each profile that tells how fast a function is.
_SAMPLED_SECONDS = 15.0


class CaseStudy:
    """The steps of one study. Each relies on what the earlier ones have left in the study's output folder."""

    def __init__(self, study: Study, options: argparse.Namespace) -> None:
        self.study = study
        self.options = options
        # C: numbers with points, whatever the user's language.
        os.environ.update({"LC_ALL": "C", **study.environment})
        self.output = study.output
        self.log = self.output / "log.txt"
        self.output.mkdir(parents=True, exist_ok=True)
        wanted = study.scratch_bytes(
            max(study.repeated or options.seconds, options.run_seconds, options.perf_seconds)
        )
        self.scratch = Path(tempfile.mkdtemp(prefix="coz-", dir=scratch_folder(wanted, self.output)))

    def fetch(self) -> None:
        """What the build needs, by Debian's packages, and the source, without patches."""
        install = [str(ROOT / "scripts/install_dependencies.sh"), "--only"]
        call([*install, *PACKAGES, *self.study.packages], self.log)
        if shutil.which("perf") is None:
            # Not everywhere of this name, and not all depends on it.
            subprocess.run([*install, "linux-perf"], check=False)
        source = self.output / "source"
        if source.is_dir():
            return
        fresh = self.output / "source.new"
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir()
        self.study.fetch(fresh)
        fresh.rename(source)

    def build(self) -> None:
        """Each variant from a copy of the source of its own."""
        if not (self.output / "source").is_dir():
            raise SystemExit(f"{self.study.name} has no source yet: run the step fetch first")
        for variant in self.study.variants:
            built = self.output / variant
            shutil.rmtree(built, ignore_errors=True)
            source = built / "source"
            shutil.copytree(self.output / "source", source)
            for change in self.study.changes:
                if change.name == variant:
                    patch = self.study.folder / change.patch
                    call(["patch", "-p1", "-d", source, "-i", patch.resolve()], self.log)
            print(f"building {self.study.name}, {variant}", flush=True)
            self.study.build(source, built)

    def profile(self) -> None:
        """The causal profile of all lines: report and picture."""
        self._coz("lines", ())
        text = subprocess.run(
            [COZ, "report", self._coz_file("lines")], capture_output=True, text=True, check=True
        )
        (self.output / "report.txt").write_text(text.stdout + text.stderr)
        print(text.stdout)
        picture = self.output / f"{self.study.name}.png"
        call([COZ, "plot", "--top", "4", "--output", picture, self._coz_file("lines")], self.log)

    def predict(self) -> None:
        """By functions, if the first profile was by lines; and of changed locks alone."""
        if self.study.predicts_by == "functions":
            self._coz("functions", ("--granularity", "function"))
        locks = dict.fromkeys(change.target for change in self.study.changes if change.lock)
        if locks:
            self._coz("locks", tuple(word for lock in locks for word in ("--fixed-lock", lock)))

    def perf(self) -> None:
        """perf's functions before, and how much faster each change has made those that it concerns."""
        if refusal := recorded.refusal(self.output):
            print(f"{refusal}; left out: perf's list, and predictions that need it", file=sys.stderr)
            return
        changes = [c for c in self.study.changes if c.symbols and not c.with_callees]
        variants = [BEFORE, *(c.name for c in changes)]
        samples = {variant: self._record(variant) for variant in variants}
        first = samples[BEFORE]
        ranked = sorted(first.functions.items(), key=lambda item: -item[1])[:15]
        found = {
            "functions": [[name, count / first.total] for name, count in ranked],
            "own": {c.name: recorded.own_speedup(first, samples[c.name], c.symbols) for c in changes},
        }
        self._keep("perf", found)

    def sample(self) -> None:
        """How much faster changes have made functions together with what these call."""
        changes = [c for c in self.study.changes if c.with_callees]
        if not changes:
            return
        samples = {}
        for variant in [BEFORE, *(c.name for c in changes)]:
            name = f"samples-{variant}"
            self._coz(name, ("--granularity", "function", "--fixed-speedup", "0"), variant, _SAMPLED_SECONDS)
            samples[variant] = sampled.read(Path(self._coz_file(name)))
        found = {
            c.name: recorded.own_speedup(samples[BEFORE], samples[c.name], [c.target, *c.symbols])
            for c in changes
        }
        self._keep("samples", {"own": found})

    def measure(self) -> None:
        """All variants in turns, in an order that turns round each time."""
        changes = [c for c in self.study.changes if self.options.change in (None, c.name)]
        variants = [BEFORE, *(c.name for c in changes)]
        kept = self.output / "measure.json"
        pairs: dict[str, list[tuple[float, float]]] = {}
        if self.options.more and kept.is_file():
            pairs = json.loads(kept.read_text())["pairs"]
        for turn in range(self.options.rounds):
            order = variants if turn % 2 == 0 else variants[::-1]
            rates = {variant: self._run(variant, self.options.run_seconds).rate for variant in order}
            for change in changes:
                pairs.setdefault(change.name, []).append((rates[BEFORE], rates[change.name]))
            # After every turn: what an interrupted measurement has found is kept.
            gains = {name: asdict(gain(*zip(*found, strict=True))) for name, found in pairs.items()}
            self._keep("measure", {"pairs": pairs, "gains": gains})

    def report(self) -> None:
        """What was found, and the rows for the table."""
        print(report.text(self.study, COZ))

    def close(self) -> None:
        """Remove what the workload has left."""
        shutil.rmtree(self.scratch, ignore_errors=True)

    def _coz_file(self, name: str) -> str:
        return str(self.output / f"{name}.coz")

    def _command(self, variant: str, seconds: float) -> list[str]:
        built = self.output / variant
        if not built.is_dir():
            raise SystemExit(f"{built} is not built; say this again without --only, or with --only build")
        return [str(word) for word in self.study.workload(built, self.scratch, seconds)]

    def _coz(
        self, name: str, options: tuple[str, ...], variant: str = BEFORE, seconds: float | None = None
    ) -> None:
        seconds = seconds or self.options.seconds
        if not self.options.more:
            Path(self._coz_file(name)).unlink(missing_ok=True)
        program = self._command(variant, self.study.repeated or seconds)
        run = [COZ, "run", "--output", self._coz_file(name)]
        if self.study.repeated:
            run += ["--duration", f"{seconds:g}s"]
        run += [*self.study.coz_options, *options, "---", *program]
        print(f"profiling {self.study.name} ({name}) for about {seconds:.0f} s", flush=True)
        call(run, self.log)

    def _run(
        self, variant: str, seconds: float, before: Callable[[list[str]], list[str]] = lambda c: c
    ) -> Run:
        plain = self._command(variant, seconds)
        command = self.study.with_time(before(plain))
        done = subprocess.run(
            command,
            text=True,
            check=False,
            errors="replace",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        if done.returncode != 0:
            with self.log.open("a") as out:
                out.write(f"$ {' '.join(command)}\n{done.stdout}\n")
            raise failure(command, done.returncode, done.stdout, self.log)
        return self.study.done(plain, done.stdout)

    def _record(self, variant: str) -> recorded.Samples:
        data = self.output / f"perf-{variant}.data"
        run = self._run(variant, self.options.perf_seconds, lambda program: recorded.command(program, data))
        return recorded.record(self._command(variant, 1), data, run, self.log)

    def _keep(self, name: str, found: object) -> None:
        (self.output / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n")


def scratch_folder(wanted: float, otherwise: Path) -> Path:
    """Memory, where that has room for `wanted` bytes and as many more; else a folder on a disk."""
    memory = Path("/dev/shm")
    if memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 2 * wanted:
        return memory
    print(
        f"{memory} has too little room ({wanted / 1e6:.0f} MB and more are wanted): files go to {otherwise}"
    )
    return otherwise


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Waits until no other study runs: two at a time would measure each other."""
    lock = BUILD / "case_studies" / "lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("another case study runs; waiting for its end", flush=True)
            fcntl.flock(held, fcntl.LOCK_EX)
        yield


def names() -> list[str]:
    """All studies: folders with a `study.py`, but for this one."""
    here = Path(__file__).resolve().parent.name
    return sorted(p.parent.name for p in (ROOT / "examples").glob("*/study.py") if p.parent.name != here)


def load(name: str) -> Study:
    """The study in examples/NAME/study.py."""
    path = ROOT / "examples" / name / "study.py"
    if name not in names():
        raise SystemExit(f"There is no case study {name}. There are: {', '.join(names())}")
    spec = importlib.util.spec_from_file_location(f"case_study_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    study: Study = module.STUDY
    return replace(study)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", help="the folder below examples/")
    parser.add_argument("--only", action="append", choices=STEPS, help="do this step only; repeatable")
    parser.add_argument("--more", action="store_true", help="add to what earlier calls have found")
    parser.add_argument("--change", metavar="NAME", help="measure this change only")
    parser.add_argument("--seconds", type=float, default=60, help="of each profile (60)")
    parser.add_argument("--perf-seconds", type=float, default=8, help="of each recording by perf (8)")
    parser.add_argument("--rounds", type=int, default=36, help="turns of all variants (36)")
    parser.add_argument("--run-seconds", type=float, default=1, help="of each run in a turn, about (1)")
    options = parser.parse_args()
    study = load(options.name)
    changes = [change.name for change in study.changes]
    if options.change not in (None, *changes):
        parser.error(f"--change {options.change}: there are {', '.join(changes)}")
    # An end by `kill` or a closed terminal is an end all the same: what lies in memory is removed.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    with alone():
        case = CaseStudy(study, options)
        try:
            for step in options.only or STEPS:
                getattr(case, step)()
        finally:
            case.close()


if __name__ == "__main__":
    main()
