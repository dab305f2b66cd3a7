#!/usr/bin/env python3
"""Repeats a case study, from the source to the row of the table: `run.py NAME`, by `make case-study-NAME`.

Steps: fetch, build, profile (of lines), perf, predict (a profile of changed places alone), measure (before
and after in turns), report. Each can be done alone by `--only`; what it finds is kept in
build/case_studies/NAME. `--more` adds to what the profiles and the measurement of earlier calls found.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import perf as recorded
import report
from gain import gain
from study import BEFORE, BUILD, ROOT, Run, Study, call

COZ = str(BUILD / "bin" / "coz")
STEPS = ("fetch", "build", "profile", "perf", "predict", "measure", "report")


class CaseStudy:
    """The steps of one study. Each relies on what the earlier ones have left in the study's output folder."""

    def __init__(self, study: Study, options: argparse.Namespace) -> None:
        self.study = study
        self.options = options
        os.environ.update(study.environment)
        self.output = study.output
        self.log = self.output / "log.txt"
        self.output.mkdir(parents=True, exist_ok=True)
        memory = Path("/dev/shm")
        self.scratch = Path(tempfile.mkdtemp(prefix="coz-", dir=memory if memory.is_dir() else self.output))

    def fetch(self) -> None:
        """What the build needs, by Debian's packages, and the source, without patches."""
        if self.study.packages:
            call([ROOT / "scripts/install_dependencies.sh", "--only", *self.study.packages], self.log)
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
        call([COZ, "plot", "--output", picture, self._coz_file("lines")], self.log)

    def predict(self) -> None:
        """A second profile, in which only the changed places are sped up."""
        targets = [c.target for c in self.study.changes if c.symbols]
        if not targets:
            return
        options = list(self.study.prediction_options)
        kind = "--fixed-function" if "function" in options else "--fixed-line"
        for target in targets:
            options += [kind, target]
        self._coz("targets", tuple(options))

    def perf(self) -> None:
        """perf's functions before, and how much faster each change has made those that it concerns."""
        if shutil.which("perf") is None:
            raise SystemExit(
                "perf is missing: apt-get install linux-perf (or leave this step out with --only)"
            )
        variants = [BEFORE, *(c.name for c in self.study.changes if c.symbols)]
        samples = {variant: self._record(variant) for variant in variants}
        first = samples[BEFORE]
        ranked = sorted(first.functions.items(), key=lambda item: -item[1])[:15]
        found = {
            "functions": [[name, count / first.total] for name, count in ranked],
            "own": {
                c.name: recorded.own_speedup(first, samples[c.name], c.symbols)
                for c in self.study.changes
                if c.symbols
            },
        }
        self._keep("perf", found)

    def measure(self) -> None:
        """All variants in turns, in an order that turns round each time."""
        changes = [c for c in self.study.changes if self.options.change in (None, c.name)]
        variants = [BEFORE, *(c.name for c in changes)]
        rates: dict[str, list[float]] = {variant: [] for variant in variants}
        kept = self.output / "measure.json"
        if self.options.more and kept.is_file():
            rates |= json.loads(kept.read_text())["rates"]
        for turn in range(self.options.rounds):
            order = variants if turn % 2 == 0 else variants[::-1]
            for variant in order:
                rates[variant].append(self._run(variant, self.options.run_seconds).rate)
            # After every turn: what an interrupted measurement has found is kept.
            gains = {c.name: asdict(gain(rates[BEFORE], rates[c.name])) for c in changes}
            self._keep("measure", {"rates": rates, "gains": gains})

    def report(self) -> None:
        """What was found, and the rows for the table."""
        print(report.text(self.study, COZ))

    def close(self) -> None:
        """Remove what the workload has left."""
        shutil.rmtree(self.scratch, ignore_errors=True)

    def _coz_file(self, name: str) -> str:
        return str(self.output / f"{name}.coz")

    def _command(self, variant: str, seconds: float) -> list[str]:
        return [str(word) for word in self.study.workload(self.output / variant, self.scratch, seconds)]

    def _coz(self, name: str, options: tuple[str, ...]) -> None:
        if not self.options.more:
            Path(self._coz_file(name)).unlink(missing_ok=True)
        program = self._command(BEFORE, self.options.seconds)
        run = [COZ, "run", "--output", self._coz_file(name)]
        run += [*self.study.coz_options, *options, "---", *program]
        print(f"profiling {self.study.name} ({name}) for about {self.options.seconds:.0f} s", flush=True)
        call(run, self.log)

    def _run(
        self, variant: str, seconds: float, before: Callable[[list[str]], list[str]] = lambda c: c
    ) -> Run:
        command = self.study.timed(before(self._command(variant, seconds)))
        done = subprocess.run(
            command,
            text=True,
            check=True,
            errors="replace",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        return self.study.parse(done.stdout)

    def _record(self, variant: str) -> recorded.Samples:
        data = self.output / f"perf-{variant}.data"
        run = self._run(variant, self.options.perf_seconds, lambda program: recorded.command(program, data))
        return recorded.record(self._command(variant, 1), data, run, self.log)

    def _keep(self, name: str, found: object) -> None:
        (self.output / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n")


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
    parser.add_argument("--seconds", type=float, default=150, help="of each profile (150)")
    parser.add_argument("--perf-seconds", type=float, default=8, help="of each recording by perf (8)")
    parser.add_argument("--rounds", type=int, default=12, help="turns of all variants (12)")
    parser.add_argument("--run-seconds", type=float, default=4, help="of each run in a turn (4)")
    options = parser.parse_args()
    case = CaseStudy(load(options.name), options)
    try:
        for step in options.only or STEPS:
            getattr(case, step)()
    finally:
        case.close()


if __name__ == "__main__":
    main()
