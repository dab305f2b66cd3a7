"""What rests on effects of combined windows: gates, comparisons, merged profiles."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from combined_evidence import analyse_records
from combined_profiles import SHAPES, Measurement, Program
from in_fork import coz
from synthetic import to_bytes

from cozcli.analysis.analyse import analyse
from cozcli.analysis.check.threshold_syntax import parse_threshold
from cozcli.analysis.check.threshold_verdict import check_threshold
from cozcli.analysis.compare import baseline_periods, compare
from cozcli.analysis.estimate.shape import effect_at
from cozcli.analysis.rank.rest import hardly_matters
from cozcli.analysis.result import Analysis, Mark
from cozcli.profile.profile import collect_runs, load_profile
from cozcli.profile.reader import ReadProblems, read_records

LINES = 60


def mostly_serial(work: np.ndarray) -> np.ndarray:
    """One line in ten runs in a thread that nobody waits for."""
    return np.asarray(work[..., np.arange(work.shape[-1]) % 10 != 0].sum(axis=-1))


@pytest.fixture(scope="module")
def found() -> Iterator[tuple[Program, Analysis]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SHAPES, "mostly_serial", mostly_serial)
        program = Program("mostly_serial", LINES, 3)
        yield program, analyse_records(Measurement(seed=3).records(program, 300))


def has_effect(program: Program, location: str) -> bool:
    return (int(location.rpartition(":")[2]) - 1) % 10 != 0


def test_an_interval_that_others_narrow_proves_nothing(found: tuple[Program, Analysis]) -> None:
    program, analysis = found
    idle = [result for result in analysis.results if not has_effect(program, result.location)]
    by_others = [result for result in idle if (e := effect_at(result, 0.25)) is not None and e.low > 0]
    assert by_others  # the model takes them for lines like all others
    assert not any(result.is_proven and result.significant for result in by_others)
    for result in idle:
        assert check_threshold(parse_threshold(f"{result.location} > 0%"), analysis.results).result is None


def test_a_gate_finds_what_is_proven(found: tuple[Program, Analysis]) -> None:
    program, analysis = found
    verdict = check_threshold(parse_threshold("% > 1% at 50%"), analysis.results)
    assert verdict.result is not None
    assert verdict.looked_at == len(analysis.results)
    assert has_effect(program, verdict.result.location)
    assert verdict.result.is_proven
    assert program.truth(int(verdict.result.location.rpartition(":")[2]) - 1, 0.5) > 0.01


def test_what_is_beyond_its_share_fails_no_build_and_is_no_change() -> None:
    """Samples of one line are lost, as of one whose time is in calls that are not sampled."""
    program = Program("serial", 20)
    program.work = np.full(20, 0.05)
    records = Measurement().records(program, 900)
    location = program.location(0)
    number = next(r["number"] for r in records if r["type"] == "target" and r["location"] == location)
    for record in records:
        if record["type"] == "experiment":
            record["hits"] //= 10 if record["location"] == location else 1
            for companion in record["companions"]:
                companion[2] //= 10 if companion[0] == number else 1
    records[-1]["lines"][0]["count"] //= 10
    analysis = analyse_records(records)
    result = next(r for r in analysis.results if r.location == location)
    assert Mark.BEYOND_SHARE in result.marks
    verdict = check_threshold(parse_threshold(f"{result.location} > 0.1%"), analysis.results)
    assert verdict.result is None
    assert verdict.unfit == 1
    records[-1]["lines"][0]["count"] += 1  # the bound is another one by a hair
    again = compare(analysis, analyse_records(records))
    assert not next(c for c in again.changes if c.after.location == result.location).certain


def test_two_profiles_of_one_program_have_no_certain_change() -> None:
    program = Program("serial", LINES)
    one, other = (analyse_records(Measurement(seed=seed).records(program, 300)) for seed in (1, 2))
    assert not any(change.certain for change in compare(one, other).changes)


def improved(program: Program, line: int, left: float) -> Program:
    faster = Program(program.shape, program.lines)
    faster.work = program.work.copy()
    faster.work[line] *= left
    faster.work /= SHAPES[program.shape](faster.work)
    return faster


def test_a_line_that_was_improved_is_a_certain_change() -> None:
    program = Program("serial", LINES)
    line = int(np.argmax(program.work))
    after = improved(program, line, 0.1)
    one, other = (analyse_records(Measurement(seed=s).records(p, 600)) for s, p in ((1, program), (2, after)))
    certain = [change for change in compare(one, other).changes if change.certain]
    assert certain[0].after.location == program.location(line)
    assert certain[0].slope.change.high < 0


def test_companions_do_not_shorten_the_period_of_a_comparison() -> None:
    program = Program("serial", LINES)
    periods, plain = [], []
    for dose in (0.0, 0.1):
        records = Measurement(dose=dose, noise=0.01).records(program, 400)
        read = read_records(to_bytes(records).splitlines(keepends=True), ReadProblems())
        runs = collect_runs(read, "x")
        periods.append(baseline_periods(runs, analyse_records(records).results)["request"])
        plain.append(baseline_periods(runs)["request"])
    assert plain[1] < 0.95 * plain[0]
    assert periods[1] == pytest.approx(periods[0], rel=0.015)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("combined")
    program = Program("serial", LINES)
    profiles: dict[str, Any] = {
        name: Measurement(dose=0.1, seed=seed).records(program, 300) for seed, name in enumerate("ab", 1)
    }
    for name, records in profiles.items():
        (path / f"{name}.coz").write_bytes(to_bytes(records))
    return path


def test_diff_has_the_lines_that_matter_and_a_sentence(folder: Path) -> None:
    text = coz("diff", "a.coz", "b.coz", cwd=folder).stdout
    assert "No certain change in " in text
    rest = next(line for line in text.splitlines() if " other lines: no certain change, and at most " in line)
    assert rest.endswith(" % at 25 % in either profile (95 % intervals).")
    rows = [line for line in text.splitlines() if line.lstrip().startswith("program.c:") and "→" in line]
    markdown = coz("diff", "--markdown", "a.coz", "b.coz", cwd=folder).stdout
    assert rest.replace("_", "\\_") in markdown
    assert markdown.count("\n| program.c:") == len(rows)
    everything = coz("diff", "--csv", "a.coz", "b.coz", cwd=folder).stdout
    both = sum(line.startswith("both,") for line in everything.splitlines())
    assert both == len(rows) + int(rest.split()[0])


def test_diff_of_two_programs_that_share_a_library_lists_none_of_its_lines_and_warns(folder: Path) -> None:
    matters = set()
    for name in "ab":
        results = analyse(load_profile([str(folder / f"{name}.coz")])).results
        matters |= {result.location for result in results if not hardly_matters(result)}
    text = (folder / "b.coz").read_text().replace('"/src/program"', '"/src/other"')
    for location in matters:
        text = text.replace(f'"{location}"', f'"{location.replace("program.c", "other.c")}"')
    (folder / "other.coz").write_text(text)
    done = coz("diff", "a.coz", "other.coz", cwd=folder)
    assert (
        "coz: warning: nothing that the profiles have in common matters (A is of program, B of oth"
        in done.stderr
    )
    assert "at 25%" not in done.stdout
    common = LINES - len(matters)
    assert f"No certain change in {common} lines" in done.stdout
    assert f"\n{common} lines: no certain change, and at most " in done.stdout


def test_a_merged_profile_says_what_its_parts_say_together(folder: Path) -> None:
    assert coz("merge", "-o", "both.coz", "a.coz", "b.coz", cwd=folder).returncode == 0
    merged = coz("report", "both.coz", "--csv", cwd=folder).stdout
    assert merged == coz("report", "a.coz", "b.coz", "--csv", cwd=folder).stdout
    assert merged != coz("report", "a.coz", "--csv", cwd=folder).stdout
