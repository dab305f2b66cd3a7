"""Feeds damaged profiles to everything that reads one: `coz run`, report, view, plot, diff, merge and amp.

Whatever a file holds, the outcome must be a result or a `CozError`. As a script, for as long as it is told:
`python tests/fuzz/profiles.py --seconds 600`. What fails is kept in build/fuzz/findings; put it into
tests/fuzz/regressions/profiles once it is mended, where `make test` tries it for ever.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import hashlib
import io
import json
import random
import re
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

from mutations import mutate  # noqa: E402

from cozcli.analysis.analyse import analyse  # noqa: E402
from cozcli.analysis.compare import baseline_periods, choose, compare  # noqa: E402
from cozcli.analysis.estimate import replicates  # noqa: E402
from cozcli.analysis.rank.ranking import leading  # noqa: E402
from cozcli.analysis.result import Analysis  # noqa: E402
from cozcli.commands.plot import SUFFIXES, default_min_points  # noqa: E402
from cozcli.errors import CozError  # noqa: E402
from cozcli.launch import run_summary  # noqa: E402
from cozcli.launch.ending import Ending  # noqa: E402
from cozcli.launch.fixed_targets import FixedTarget  # noqa: E402
from cozcli.launch.points import LocationPoint  # noqa: E402
from cozcli.load import scalability  # noqa: E402
from cozcli.load.command import Sweep  # noqa: E402
from cozcli.load.run import Load  # noqa: E402
from cozcli.profile.merge import merge  # noqa: E402
from cozcli.profile.profile import Profile, load_profile  # noqa: E402
from cozcli.profile.tail import read_tail  # noqa: E402
from cozcli.reports import diff_reports  # noqa: E402
from cozcli.reports.annotate import AnnotateReport  # noqa: E402
from cozcli.reports.figure import write_extension, write_figure  # noqa: E402
from cozcli.reports.json_report import JsonReport  # noqa: E402
from cozcli.reports.page import PageProfile, render_page  # noqa: E402
from cozcli.reports.page_sources import read_sources  # noqa: E402
from cozcli.reports.table_reports import CsvReport, MarkdownReport  # noqa: E402
from cozcli.reports.text import TextReport  # noqa: E402

GOLDEN = ROOT / "tests" / "golden"
#: What others are compared with, and what is merged with them, which is read again each time.
GOOD, SMALL = GOLDEN / "four-lines.coz", GOLDEN / "few-blocks.coz"
REGRESSIONS = Path(__file__).parent / "regressions" / "profiles"
#: Of what a report draws; the arithmetic is the same with fewer.
FEW_REPLICATES = 60
#: Of most profiles only so many lines are kept: what has few records goes through everything in no time.
MAX_LINES = 60
_POINT = LocationPoint("arrival", "breakpoint", "/b", (1,), "work", 2000.0)
#: A number that none is, as one would be printed.
NOT_A_NUMBER = re.compile(r"[±+\-\[, ](nan|inf)\b")
#: Of so many inputs a picture is drawn, of one kind and with so many panels: they take seconds.
PICTURES, FEW_PANELS = 0.08, 4
#: Processor time: an analysis of these few records that takes longer than this is a finding, too.
TOO_LONG = 60.0


def seeds() -> list[bytes]:
    """Small good profiles of every format, and what was found before."""
    golden = sorted(GOLDEN.glob("*.coz"))
    return [path.read_bytes() for path in (*golden, *sorted(REGRESSIONS.iterdir()))]


def use(raw: bytes, folder: Path, pictures: float) -> bool:
    """Read it, estimate, and show the result in every form. True: there was a result.

    `pictures`: of that part of all inputs one is drawn, since they take longer than all the rest; of 1 one of
    each kind.

    Raises:
        Exception: whatever should not have happened.
    """
    path = folder / "fuzzed.coz"
    path.write_bytes(raw)
    # What `coz run` reads of it, when it looks at what a run left.
    tail = read_tail(path)
    run_summary.describe(path, 0, tail, "fuzzed.coz")
    run_summary.never_sampled(tail, [FixedTarget("line", "/s/a.c:1")])
    run_summary.costly_points(tail, [_POINT])
    run_summary.killed_at_breakpoint(tail, Ending(signal=5))
    Load("25%").describe(tail, [_POINT])
    _sweep(path)
    with warnings.catch_warnings():
        # Of numpy, where a number became infinite or none: what is shown is checked below.
        warnings.simplefilter("ignore")
        try:
            profile = load_profile([str(path)])
            _merge(path, profile)
            analysis = analyse(profile)
        except CozError:
            return False
        _report(analysis)
        _diff(profile, analysis)
        chance = hashlib.sha256(raw).digest()
        if chance[0] < 256 * pictures:
            suffixes = SUFFIXES if pictures == 1 else SUFFIXES[chance[1] % len(SUFFIXES) :][:1]
            _plot(profile, analysis, folder, suffixes)
    return True


def _report(analysis: Analysis) -> None:
    texts = [
        form.render(analysis) for form in (TextReport(100), CsvReport(), MarkdownReport(), AnnotateReport())
    ]
    _check_texts(texts)
    document = json.loads(JsonReport().render(analysis), parse_constant=_refuse)
    assert isinstance(document["results"], list)
    sources = read_sources([result.location for result in analysis.results], 0)
    pages = [PageProfile("fuzzed.coz", analysis), PageProfile("good.coz", good()[1])]
    for shown in (pages[:1], pages, pages[::-1]):
        assert render_page(shown, sources).count("</script>") == render_page([], {}).count("</script>")


def _check_texts(texts: list[str]) -> None:
    """The first one is for a terminal, and has its colours."""
    for text in texts:
        unwanted = {c for c in text if ord(c) < 32 and c not in "\n\r"} | ({"\x7f"} & set(text))
        unwanted -= {"\x1b"} if text is texts[0] else set()
        if unwanted:
            raise AssertionError(f"control characters in a report: {unwanted!r}")
        if NOT_A_NUMBER.search(text):
            raise AssertionError(f"a report shows {NOT_A_NUMBER.search(text)!r}")


@functools.cache
def good(path: Path = GOOD) -> tuple[Profile, Analysis]:
    """A profile, and what comes of it."""
    profile = load_profile([str(path)])
    return profile, analyse(profile)


def _diff(profile: Profile, analysis: Analysis) -> None:
    """`coz diff` with itself, and with another profile either way."""
    one, other = (profile, analysis), good()
    for sides in ((one, one), (one, other), (other, one)):
        before, after = (side[1] for side in sides)
        periods = [baseline_periods(side[0].runs) for side in sides]
        named = {name: (a, periods[1][name]) for name, a in periods[0].items() if name in periods[1]}
        shown = diff_reports.Sides(("a.coz", "b.coz"), (before, after), named)
        try:
            comparison = choose(compare(before, after), None, None)
        except CozError:
            continue
        table = diff_reports.render_text(comparison, shown, 100)
        markdown = diff_reports.render_markdown(comparison, shown)
        _check_texts([table, markdown, diff_reports.render_csv(comparison)])
        json.loads(diff_reports.render_json(comparison, shown), parse_constant=_refuse)


def _merge(path: Path, profile: Profile) -> None:
    """`coz merge` with another profile: what comes out holds the experiments of both."""
    output = path.with_name("merged.coz")
    output.unlink(missing_ok=True)
    try:
        merge(str(output), [str(path), str(SMALL)])
    except CozError:
        assert not output.exists()
        return
    try:
        merged = sum(len(run.experiments) for run in load_profile([str(output)]).runs)
    except CozError as error:
        raise AssertionError("what was merged cannot be read") from error
    parts = (sum(len(run.experiments) for run in part.runs) for part in (profile, good(SMALL)[0]))
    assert merged == sum(parts), f"{merged} experiments in what was merged"


def _sweep(path: Path) -> None:
    """What `coz amp` reads of the profile between its runs."""
    sweep = Sweep(str(path), (0, 50), 1.0, ([], []))
    for read in (sweep._interval, sweep._is_tight):
        with contextlib.suppress(CozError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert read() >= 0


def _plot(profile: Profile, analysis: Analysis, folder: Path, suffixes: Sequence[str]) -> None:
    """`coz plot`, into pictures of these kinds."""
    default_min_points(profile)
    shown = leading(analysis.results, FEW_PANELS, FEW_PANELS)
    for suffix in suffixes:
        with contextlib.suppress(CozError):
            path = folder / f"fuzzed{suffix}"
            write_extension(analysis, path)
            write_figure(replace(analysis, results=shown), path, len(analysis.results))


def _refuse(name: str) -> object:
    raise AssertionError(f"{name} in JSON")


def try_one(raw: bytes, folder: Path, pictures: float = 1.0) -> tuple[bool, str]:
    """Whether there was a result; and what went wrong, as a traceback, or nothing."""
    begin = time.process_time()
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            result = use(raw, folder, pictures)
    except Exception:  # whatever it is, it is a finding
        return False, traceback.format_exc()
    took = time.process_time() - begin
    return result, f"took {took:.0f} s" if took > TOO_LONG else ""


def fuzz(seconds: float, seed: int, findings: Path) -> int:
    """Try damaged profiles for so long; the number of different failures, each kept with its traceback."""
    source = random.Random(seed)
    good = seeds()
    end = time.monotonic() + seconds
    replicates.REPLICATES = scalability.REPLICATES = FEW_REPLICATES  # type: ignore[attr-defined]
    tried = results = 0
    seen: set[str] = set()
    with tempfile.TemporaryDirectory() as name:
        while time.monotonic() < end:
            raw = mutate(_shortened(source.choice(good), source), good, source)
            result, failure = try_one(raw, Path(name), PICTURES)
            tried += 1
            results += result
            where = "".join(line for line in failure.splitlines() if line.startswith('  File "'))
            if failure and where not in seen:
                seen.add(where)
                findings.mkdir(parents=True, exist_ok=True)
                stem = findings / f"profile-{hashlib.sha256(raw).hexdigest()[:12]}"
                stem.with_suffix(".coz").write_bytes(raw)
                stem.with_suffix(".txt").write_text(failure)
                print(f"{stem}.coz:\n{failure}", flush=True)
    print(f"profiles: seed {seed}, {tried} tried, {results} with results, {len(seen)} findings", flush=True)
    return len(seen)


def _shortened(raw: bytes, source: random.Random) -> bytes:
    """The first lines, and some of the others, mostly."""
    lines = raw.splitlines(keepends=True)
    if len(lines) <= MAX_LINES or source.random() < 0.1:
        return raw
    begin = source.randrange(len(lines))
    return b"".join([*lines[: MAX_LINES // 2], *lines[begin : begin + MAX_LINES // 2], lines[-1]])


def main() -> int:
    """Status 1 if there are findings."""
    parser = argparse.ArgumentParser(description="Feed damaged profiles to everything that reads one.")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=int.from_bytes(random.randbytes(4), "big"))
    parser.add_argument("--findings", type=Path, default=ROOT / "build" / "fuzz" / "findings")
    parser.add_argument("--try", dest="one", type=Path, help="try this file only")
    options = parser.parse_args()
    if options.one:
        with tempfile.TemporaryDirectory() as name:
            _, failure = try_one(options.one.read_bytes(), Path(name))
        print(failure or "no finding")
        return 1 if failure else 0
    return 1 if fuzz(options.seconds, options.seed, options.findings) else 0


if __name__ == "__main__":
    sys.exit(main())
