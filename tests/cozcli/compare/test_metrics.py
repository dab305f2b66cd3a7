"""Metrics of `coz compare` that instruments measure: rates and latencies of progress points."""

import json
import os

import pytest

from cozcli import cli
from cozcli.compare import report as reports
from cozcli.compare.collect import Collected, Plan
from cozcli.compare.estimate import estimate
from cozcli.compare.gate import gate
from cozcli.compare.metrics import metric_named
from cozcli.compare.points import LATENCY, PROGRESS, figure, matches, parse
from cozcli.compare.trial import Side, Trial
from cozcli.errors import CozError

WRITTEN = """\
process\t5000000000
throughput\t100\t0\t0\tdone
begin\t3\t3\t6000000000\tstep
end\t2\t2\t5000000000\tstep
process\t7000000000
throughput\t50\t0\t0\tdone
throughput\t7\t0\t0\t/src/a.c:12
begin\t1\t1\t6000000000\tstep
end\t1\t1\t6500000000\tstep
throughput\t9
"""


def test_visits_of_all_processes_are_summed():
    totals = parse(WRITTEN)
    assert (totals.processes, totals.end, len(totals.points)) == (2, 7_000_000_000, 7)
    assert figure("A", totals, PROGRESS, "done") == 150
    assert figure("A", totals, PROGRESS, "a.c:%") == 7
    assert figure("A", totals, PROGRESS, "%") == 157


def test_latency_is_the_time_in_progress_for_each_operation_that_ended():
    # Four operations began, three ended; the fourth was in progress until 7 s.
    assert figure("A", parse(WRITTEN), LATENCY, "step") == pytest.approx((11.5 + 7 - 12) / 3)


def test_a_visit_that_is_not_timed_yet_does_not_count():
    text = "process\t90\nbegin\t3\t2\t30\tx\nend\t3\t2\t70\tx\n"
    assert figure("A", parse(text), LATENCY, "x") == pytest.approx(20e-9)


def test_sums_of_times_may_have_gone_round():
    text = f"process\t90\nbegin\t1\t1\t{2**64 - 20}\tx\nend\t1\t1\t30\tx\n"
    assert figure("A", parse(text), LATENCY, "x") == pytest.approx(50e-9)


@pytest.mark.parametrize(
    ("kind", "pattern", "text", "reason"),
    [
        (PROGRESS, "dne", WRITTEN, "visited no progress point dne; it visited /src/a.c:12, done"),
        (PROGRESS, "step", WRITTEN, "visited no progress point step"),
        (LATENCY, "done", WRITTEN, "visited no begin and end points done; it visited step"),
        (PROGRESS, "x", "process\t1\nthroughput\t0\t0\t0\tx\n", "and no other"),
        (LATENCY, "x", "process\t1\nbegin\t99\t0\t0\tx\nend\t99\t0\t0\tx\n", "classic coz.h"),
        (LATENCY, "x", "process\t1\nbegin\t200\t200\t9\tx\nend\t200\t99\t9\tx\n", "classic coz.h"),
        (LATENCY, "x", "process\t1\nbegin\t2\t2\t5\tx\nend\t3\t3\t9\tx\n", "3 operations ended, but 2 began"),
    ],
)
def test_points_that_say_nothing_are_refused(kind, pattern, text, reason):
    with pytest.raises(CozError) as error:
        figure("A", parse(text), kind, pattern)
    assert reason in error.value.problem.text


def test_names_of_points():
    assert matches("step", "step")
    assert not matches("step", "last step")
    assert matches("a.c:12", "/src/a.c:12")
    assert not matches("a.c:12", "/src/aa.c:12")
    assert matches("a.c:%", "a.c:7")
    assert matches("s%p", "step")


def test_a_lower_rate_is_slower_though_the_ratio_is_below_one():
    lower = [(100.0, 90.0 + i / 10) for i in range(10)]
    found = estimate(lower, 0.01, more_is_better=True)
    assert 0.9 < found.low < found.ratio < found.high < 0.92
    assert (found.verdict, found.probability_faster) == ("slower", 0.0)
    assert estimate(lower, 0.01).verdict == "faster"
    assert estimate([(b, a) for a, b in lower], 0.01, more_is_better=True).verdict == "faster"
    assert estimate([(1.0, 1.0)] * 8, 0.01, more_is_better=True).verdict == "equivalent"


def test_gates_know_rates():
    slower = estimate([(100.0, 90.0 + i / 10) for i in range(10)], 0.01, more_is_better=True)
    assert gate("slower > 5%").fails(slower, more_is_better=True)
    assert not gate("slower > 15%").fails(slower, more_is_better=True)
    assert not gate("faster > 1%").fails(slower, more_is_better=True)


def report_of(*names, change=0.8):
    """A report of simulated runs: B visits `change` as many points in the same time."""
    metrics = [metric_named(name) for name in names]

    def trial(visits):
        figures = {"progress:done": visits, "latency:step": 1 / visits}
        return Trial(1.0, 2.0, 1 << 20, 0.0, figures=figures)

    blocks = [(trial(1000.0 + i), trial(change * (1000 + i) + 0.1 * i)) for i in range(8)]
    plan = Plan(8, None, metrics[0], 1, layouts=False, warm_ups=0, stdin=os.devnull, check_output=False)
    collected = Collected(blocks, 0, False)
    comparisons = reports.compare(collected, metrics, 0.01)
    sides = [Side("A", ["/bin/a"]), Side("B", ["/bin/b"])]
    return reports.Report(sides, plan, 0.01, collected, comparisons, [], {})


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ((12.3, 11.0, 14.2), ["12", "11", "14"]),
        ((3.04, 3.02, 3.05), ["3.04", "3.02", "3.05"]),
        ((3.04, 2.94, 3.14), ["3.0", "2.9", "3.1"]),
        ((20.0, 20.0, 20.0), ["20", "20", "20"]),
        ((-0.001, -0.002, 0.003), ["-0.001", "-0.002", "0.003"]),
        ((-0.001, -0.3, 0.3), ["0.00", "-0.30", "0.30"]),
    ],
)
def test_the_ends_of_narrow_intervals_can_be_told_apart(given, shown):
    assert reports.figures(*given) == shown


def test_sentences_about_rates_and_latencies():
    assert "B is slower: its rate of done is 20.0 % lower [19.9, 20.0] (8 pairs)." in reports.render(
        report_of("progress:done"), None
    )
    assert "B is slower: its mean latency of step is 24.9 % higher [24.9, 25.0]" in reports.render(
        report_of("latency:step"), None
    )
    same = reports.render(report_of("progress:done", change=1), None)
    assert "B is equivalent to A within 1 %: its rate of done is 0." in same


def test_each_metric_has_an_entry_and_each_run_its_values():
    data = json.loads(reports.render(report_of("progress:done", "latency:step", "cpu"), "json"))
    found = {each["metric"]: each for each in data["comparisons"]}
    assert list(found) == ["progress:done", "latency:step", "cpu"]
    assert found["progress:done"]["ratio"] == pytest.approx(0.8, abs=0.01)
    assert found["progress:done"]["more_is_better"]
    assert found["progress:done"]["verdict"] == found["latency:step"]["verdict"] == "slower"
    assert found["cpu"]["verdict"] == "equivalent"
    assert data["blocks"][0][0]["progress:done"] == 500
    text = reports.render(report_of("progress:done", "latency:step"), None)
    assert "rate of done" in text
    assert "mean latency of step" in text


@pytest.mark.parametrize("name", ["progress", "progress:", "latency:", "speed", "cpu:x"])
def test_metrics_that_do_not_exist(name, capsys):
    with pytest.raises(SystemExit):
        cli.main(["compare", "--metric", name, "true", "---", "vs", "true"])
    assert "--metric" in capsys.readouterr().err
