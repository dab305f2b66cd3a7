"""The reader takes any bytes, says what it left out, and keeps the rest."""

from __future__ import annotations

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cozcli.profile.profile import collect_runs
from cozcli.profile.reader import ReadProblems, looks_like_profile, read_records
from cozcli.profile.records import (
    Companion,
    ExperimentRecord,
    LatencyPoint,
    RunRecord,
    SamplesRecord,
    TargetRecord,
    ThroughputPoint,
)

RUN = {"type": "run", "format": "coz-profile", "version": 1, "program": "/p"}
EXPERIMENT = {
    "type": "experiment",
    "block": 1,
    "location": "/a.c:1",
    "speedup": 0.25,
    "effective_duration": 1000,
    "points": [{"name": "p", "kind": "throughput", "visits": 3, "elapsed": 900}],
}


def read(*lines: object) -> tuple[list[object], ReadProblems]:
    raw = b"".join(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines)
    problems = ReadProblems()
    return list(read_records(raw.splitlines(keepends=True), problems)), problems


def test_records_in_order() -> None:
    records, problems = read(RUN, EXPERIMENT)
    assert isinstance(records[0], RunRecord)
    assert isinstance(records[1], ExperimentRecord)
    assert records[1].points[0].name == "p"
    assert not problems.garbage
    assert problems.recognized == 2


def test_a_run_may_have_a_speedup_of_its_own() -> None:
    run = {"type": "run", "format": "coz-profile", "version": 1}
    records, _ = read(run, {**run, "fixed_speedup": 0}, {**run, "fixed_speedup": 0.4})
    assert [record.fixed_speedup for record in records if isinstance(record, RunRecord)] == [None, 0.0, 0.4]
    (record,), _ = read({**run, "fixed": ["/a.c:1", "region part"], "speedups": [0.25, 1]})
    assert isinstance(record, RunRecord)
    assert (record.fixed, record.speedups) == (("/a.c:1", "region part"), (0.25, 1.0))
    _, problems = read({**run, "speedups": [2]})
    assert problems.rejected
    _, problems = read({**run, "fixed_speedup": 1.5})
    assert len(problems.rejected) == 1


def test_companions_are_named_by_the_targets_of_their_run() -> None:
    target = {"type": "target", "number": 0, "kind": "function", "location": "/a.c:f", "function": "f"}
    window = {**EXPERIMENT, "companions": [[0, 0.25, 7], [3, 1, 0]]}
    other = {**target, "number": 3, "location": "/a.c:g"}
    lost = {**EXPERIMENT, "companions": [[4, 0.25, 7]]}
    records, problems = read({**RUN, "companion_dose": 0.05}, target, other, window, lost, RUN, EXPERIMENT)
    assert not problems.rejected
    combined, plain = collect_runs(records, "x")  # type: ignore[arg-type]
    assert (combined.record.companion_dose, plain.record.companion_dose) == (0.05, 0.0)
    assert combined.targets[0] == TargetRecord(0, "function", "/a.c:f", "f")
    assert (len(combined.experiments), combined.unknown, plain.unknown) == (1, 1, 0)
    assert combined.experiments[0].companions == (Companion(0, 0.25, 7), Companion(3, 1.0, 0))
    assert not plain.targets
    assert not plain.experiments[0].companions


def test_a_window_with_companions_that_cannot_be_true_is_rejected() -> None:
    for companions in (7, [7], [[0, 0.5]], [[0, 1.5, 1]], [[-1, 0.5, 1]], [[0, 0.5, 0.5]]):
        _, problems = read(RUN, {**EXPERIMENT, "companions": companions})
        assert len(problems.rejected) == 1


def test_unknown_types_and_fields_are_passed_over_in_silence() -> None:
    records, problems = read(RUN, {"type": "weather", "rain": True}, {**EXPERIMENT, "colour": "blue"})
    assert len(records) == 2
    assert vars(problems) == {**vars(ReadProblems()), "recognized": 2}


def test_unknown_kinds_of_points_are_passed_over() -> None:
    point = {"name": "q", "kind": "quantum"}
    records, _ = read({**EXPERIMENT, "points": [point, *EXPERIMENT["points"]]})
    assert len(records[0].points) == 1


def test_garbage_is_counted_with_its_line() -> None:
    records, problems = read(RUN, b"rubbish\n", b"{not json}\n", b"[1,2]\n", EXPERIMENT)
    assert len(records) == 2
    assert problems.garbage == [2, 3, 4]


def test_a_truncated_last_line_is_not_garbage() -> None:
    records, problems = read(RUN, EXPERIMENT, json.dumps(EXPERIMENT).encode()[:-9])
    assert len(records) == 2
    assert problems.truncated == 3
    assert not problems.garbage


def test_impossible_values_reject_only_their_record() -> None:
    bad = [
        b'{"type":"experiment","location":"/a:1","speedup":NaN,"effective_duration":5}\n',
        b'{"type":"experiment","location":"/a:1","speedup":0.5,"effective_duration":Infinity}\n',
        {**EXPERIMENT, "speedup": 1.5},
        {**EXPERIMENT, "speedup": True},
        {**EXPERIMENT, "effective_duration": -1},
        {**EXPERIMENT, "effective_duration": 0},
        {**EXPERIMENT, "hits": 2**64 - 3},
        {**EXPERIMENT, "location": ""},
        {**EXPERIMENT, "points": [{"name": "p", "kind": "throughput", "visits": -3, "elapsed": 9}]},
        {**EXPERIMENT, "points": "many"},
        {k: v for k, v in EXPERIMENT.items() if k != "speedup"},
    ]
    records, problems = read(RUN, *bad, EXPERIMENT)
    assert len(records) == 2
    assert [number for number, _ in problems.rejected] == list(range(2, 2 + len(bad)))


def test_huge_numbers_and_deep_nesting_do_not_break_it() -> None:
    huge = b'{"type":"samples","run_time":' + b"9" * 6000 + b"}\n"
    deep = b'{"type":' + b"[" * 100_000 + b"\n"
    records, problems = read(RUN, huge, deep, EXPERIMENT)
    assert len(records) == 2
    assert len(problems.garbage) == 2


def test_latency_underflow_of_the_classic_tool_is_rejected() -> None:
    raw = (
        b"startup\ttime=1\nexperiment\tselected=/a:1\tspeedup=0.00\tduration=5\tselected-samples=1\n"
        b"latency-point\tname=t\tarrivals=1\tdepartures=2\tdifference=17364172535296355316\n"
    )
    records, problems = read(raw)
    assert records[1].points == ()
    assert problems.rejected[0][0] == 3


def test_several_runs_and_formats_in_one_file() -> None:
    classic = b"startup\ttime=1\nexperiment\tselected=/a:1\tspeedup=0.10\tduration=5\tselected-samples=1\n"
    records, problems = read(RUN, EXPERIMENT, classic, RUN, EXPERIMENT)
    runs = collect_runs(iter(records), "x")
    assert [len(run.experiments) for run in runs] == [1, 1, 1]
    assert [run.record.classic for run in runs] == [False, True, False]
    assert not problems.garbage


def test_classic_formats_agree() -> None:
    tab = (
        b"startup\ttime=7\nexperiment\tselected=/a:1\tspeedup=0.35\tduration=500\tselected-samples=9\n"
        b"throughput-point\tname=r\tdelta=4\nlatency-point\tname=t\tarrivals=5\tdepartures=4\tdifference=2\n"
        b"runtime\ttime=1000\nsamples\tlocation=/a:1\tcount=12\n"
    )
    lines = [
        {"type": "startup", "time": 7},
        {"type": "experiment", "selected": "/a:1", "speedup": 0.35, "duration": 500, "selected_samples": 9},
        {"type": "throughput-point", "name": "r", "delta": 4},
        {"type": "latency-point", "name": "t", "arrivals": 5, "departures": 4, "difference": 2},
        {"type": "runtime", "time": 1000},
        {"type": "samples", "location": "/a:1", "count": 12},
    ]
    from_tab, _ = read(tab)
    from_json, _ = read(*lines)
    underscores = [{**line, "type": line["type"].replace("-", "_")} for line in lines]
    assert from_tab == from_json == read(*underscores)[0] == read(tab.replace(b"t-point", b"t_point"))[0]
    assert LatencyPoint("t", 5, 4, 500, 2.0) in from_tab[1].points
    assert isinstance(from_tab[2], SamplesRecord)
    assert from_tab[2].lines[0].count == 12


def test_the_first_classic_profiles_are_read() -> None:
    """As in the profiles of 2014 that Debian's coz-profiler brings along."""
    records, problems = read(
        b"startup\ttime=7\nexperiment\tselected=/a:1\tspeedup=0.05\tduration=500\tselected-samples=9\n"
        b"progress-point\tname=/a:9\ttype=source\tdelta=4\n"
        b"runtime\ttime=1000\nsamples\tlocation=/a:1\tcount=12\nshutdown\ttime=9\tsamples=12\n"
    )
    assert (problems.rejected, problems.garbage) == ([], [])
    assert [type(record).__name__ for record in records] == ["RunRecord", "ExperimentRecord", "SamplesRecord"]
    assert records[1].points == (ThroughputPoint("/a:9", 4, 500),)


def test_what_looks_like_a_profile() -> None:
    assert looks_like_profile(json.dumps(RUN).encode() + b"\n")
    assert looks_like_profile(b"startup\ttime=7\n")
    assert not looks_like_profile(b"int main() {}\n")
    assert not looks_like_profile(b'{"type": "letter"}\n')
    assert not looks_like_profile(b"")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
known_keys = st.sampled_from(
    [
        "points",
        "hits",
        "flags",
        "run_time",
        "lines",
        "total",
        "selected",
        "duration",
        "time",
        "discarded",
        "count",
        "delta",
        "name",
        "difference",
        "status",
        "signal",
        "arguments",
        "version",
        "block",
        "location",
        "speedup",
        "effective_duration",
    ]
)
known_types = st.sampled_from(
    [
        "run",
        "target",
        "experiment",
        "samples",
        "exit",
        "startup",
        "throughput-point",
        "latency-point",
        "runtime",
    ]
)


@given(st.binary(max_size=400))
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_bytes_break_it(raw: bytes) -> None:
    problems = ReadProblems()
    list(read_records(raw.splitlines(keepends=True), problems))
    looks_like_profile(raw)


@given(st.lists(st.tuples(known_types, st.dictionaries(known_keys, json_values, max_size=6)), max_size=6))
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_json_of_known_types_breaks_it(objects: list[tuple[str, dict[str, object]]]) -> None:
    raw = b"".join(json.dumps({**values, "type": kind}).encode() + b"\n" for kind, values in objects)
    problems = ReadProblems()
    runs = collect_runs(read_records(raw.splitlines(keepends=True), problems), "x")
    assert all(run.effective_time >= 0 for run in runs)


@given(st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_damage_to_one_byte_costs_little(data: st.DataObject) -> None:
    good = b"".join(json.dumps(r).encode() + b"\n" for r in (RUN, EXPERIMENT, EXPERIMENT, EXPERIMENT))
    position = data.draw(st.integers(0, len(good) - 1))
    byte = data.draw(st.integers(0, 255))
    raw = good[:position] + bytes([byte]) + good[position + 1 :]
    problems = ReadProblems()
    records = list(read_records(raw.splitlines(keepends=True), problems))
    # A damaged newline joins two lines, so two records at most are lost.
    assert len(records) >= 2
