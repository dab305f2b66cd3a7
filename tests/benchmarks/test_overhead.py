"""The parts of `make bench-overhead` that compute: statistics, bookkeeping, the generator."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

import overhead
import overhead_doses
import overhead_measure
import overhead_programs
import overhead_startup
from overhead_measure import Trial
from overhead_programs import Times, percentages, times_of
from overhead_statistics import Estimate, estimate, interval_coverage, table


def test_median_and_interval_by_ranks():
    assert estimate([3, 1, 2]).median == 2
    assert estimate([4, 1, 2, 3]).median == 2.5
    # Binomial tables: of nine values, the second and the second last cover the median in 96.1 %.
    nine = estimate(range(9))
    assert (nine.low, nine.high) == (1, 7)
    assert nine.coverage == pytest.approx(0.9609, abs=1e-4)


def test_too_few_values_give_their_extremes_and_say_so():
    three = estimate([5, 7, 6])
    assert (three.low, three.high) == (5, 7)
    assert three.coverage == pytest.approx(0.75)
    assert estimate([5]) == Estimate(5, 5, 5, 0.0)
    assert interval_coverage(6, 0) > 0.95 > interval_coverage(5, 0)
    with pytest.raises(ValueError, match="no values"):
        estimate([])


def test_table_aligns():
    assert table(["name", "ms"], [["a", "1.5"], ["long", "10"]]).splitlines() == [
        "name   ms",
        "---------",
        "a     1.5",
        "long   10",
    ]


def test_parts_sum_to_the_total():
    plain, start = Times(1.0, 0.0, 0), Times(1.01, 0.05, 0)
    sampling, full = Times(1.04, 0.05, 0), Times(1.2, 0.06, 0.16)
    parts = percentages(plain, start, sampling, full)
    assert parts["start_up"] == pytest.approx(5)
    assert parts["wrappers"] == pytest.approx(1)
    assert parts["sampling"] == pytest.approx(3)
    assert parts["delays"] == pytest.approx(17)
    assert parts["total"] == pytest.approx(26)
    assert parts["effective"] == pytest.approx(10)


def test_times_of_fixed_work_and_of_fixed_time():
    assert times_of(Trial(1.5, "work 1.25\n", 0.1), 1.0, 0) == Times(1.25, 0.25, 0.1)
    # Half the rows in the same time: the work would have taken twice as long.
    halved = times_of(Trial(2.1, "500 rows in 2.0 s", 0.3), 2.0, 1000)
    assert halved.work == 4.0
    assert halved.around == pytest.approx(0.1)
    assert halved.delays == pytest.approx(0.6)


def test_doses_are_compared_by_rows_and_by_effective_time():
    alone = Trial(4.1, "800 rows in 4.0 s", delays=0.0, samples=4000, experiments=10)
    companions = Trial(4.1, "400 rows in 4.0 s", delays=1.0, samples=4400, experiments=12)
    ratios = overhead_doses.compare(companions, alone, 4.0)
    assert ratios == pytest.approx(
        {"time": 2, "effective": 1.5, "delays": 0.25, "samples": 1.1, "windows": 1.2}
    )
    assert overhead_doses.compare(alone, alone, 4.0)["effective"] == 1


def test_missing_numbers_are_errors():
    with pytest.raises(SystemExit, match="'work'"):
        Trial(1, "nothing", errors=("exit status 1",)).number("work")
    with pytest.raises(SystemExit, match="rows"):
        times_of(Trial(1, "0 rows"), 1, 100)


def test_profiles_are_read_to_the_last_samples_record():
    def samples(**values):
        return json.dumps({"type": "samples", "total": 5, "experiments": 1, **values})

    lines = [
        json.dumps({"type": "run"}),
        samples(duration=10, run_time=10),
        samples(duration=3_000_000_000, run_time=2_500_000_000, experiments=4),
    ]
    assert overhead_measure.read_profile(lines) == (0.5, 5, 4)
    assert overhead_measure.read_profile([]) == (0.0, 0, 0)


def test_rounds_hold_every_mode_in_changing_order():
    order = []

    def action(name):
        return lambda: order.append(name) or Trial(1, "", errors=("odd",) if name == "b" else ())

    rounds = overhead_measure.interleave(8, {name: action(name) for name in "abc"})
    assert [list(done) for done in rounds] == [["a", "b", "c"]] * 8
    by_round = ["".join(order[i : i + 3]) for i in range(0, 24, 3)]
    assert {"".join(sorted(text)) for text in by_round} == {"abc"}
    assert len(set(by_round)) > 1
    assert overhead_measure.all_errors(rounds) == ["b: odd"]


def test_generated_source_has_the_rows():
    source = list(overhead_startup.unit_source(3, 1000))
    statements = [line for line in source if line.startswith("  ")]
    assert len(statements) == pytest.approx(1000, rel=0.05)
    assert len({line for line in source if line.startswith("int ")}) == 10
    assert overhead_startup.units(250_000) == [100_000, 100_000, 50_000]
    assert overhead_startup.units(40) == [40]


def test_options():
    options = overhead.parse(["--rows", "1,2", "--only", "startup", "--programs", "mutex,sqlite"])
    assert options.rows == [1, 2]
    assert options.only == ["startup"]
    assert set(options.programs) <= {*overhead_programs.WORKLOADS, overhead_programs.SQLITE}
    with pytest.raises(SystemExit):
        overhead.parse(["--rounds", "0"])


def test_report_has_a_row_for_each_program_and_the_mean():
    def measured(value):
        return Estimate(value, value - 1, value + 1, 0.97).__dict__

    keys = ("start_up", "wrappers", "sampling", "delays", "total", "effective")
    program = {
        "plain_seconds": measured(2.0),
        "start_up_ms": measured(50.0),
        "percent": {key: measured(10.0) for key in keys},
    }
    lines = overhead_programs.report({"one": program, "two": program}).splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["one", "two", "mean"]
    assert "10.0 [9.0, 11.0]" in lines[2]
    assert lines[4].split() == ["mean", *["10.0"] * 6]


def test_the_amount_of_work_allows_for_preparations():
    found = overhead_programs.enough_units(1.0, lambda units: 0.2 + units * 1e-5)
    assert 0.2 + found * 1e-5 == pytest.approx(1.0, abs=0.15)
    assert overhead_programs.enough_units(1.0, lambda units: units * 0.01) == 100
