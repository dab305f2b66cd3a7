"""The machine's speed, taken out: against profiles whose machine was slow and whose truth is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from synthetic import Line, Model, to_bytes

from cozcli.analysis import messages
from cozcli.analysis.analyse import analyse
from cozcli.analysis.correct.machine_speed import estimate_response
from cozcli.analysis.input.series import make_series
from cozcli.analysis.input.slowness import HALF_WEIGHT, HALF_WEIGHT_STOLEN, NO_RESPONSE, Response
from cozcli.analysis.input.windows import usable_windows
from cozcli.analysis.result import Analysis
from cozcli.profile.profile import Profile, collect_runs
from cozcli.profile.reader import ReadProblems, read_records

LINES = [Line("/a.c:1", lambda s: 0.4 * s), Line("/a.c:2", lambda s: 0.05 * s)]
SPEEDUPS = (0.1, 0.25, 0.4, 0.5, 0.75, 1.0)


def profile_of(records: list[dict[str, Any]]) -> Profile:
    read = read_records(to_bytes(records).splitlines(keepends=True), ReadProblems())
    return Profile(collect_runs(read, "x"), ["x"])


def profile(disturbed: float, sensitivity: float = 1.0, seed: int = 1) -> list[dict[str, Any]]:
    model = Model(
        LINES, disturbed=disturbed, sensitivity=sensitivity, seed=seed, speedups=SPEEDUPS, per_block=6
    )
    return model.records(24)


def errors_of(analysis: Analysis) -> list[float]:
    truth = {line.location: line.effect for line in LINES}
    return [p.effect - truth[r.location](p.speedup) for r in analysis.results for p in r.curve[1:]]


def without_probes(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{k: v for k, v in record.items() if k != "probe_time"} for record in records]


def response_to(records: list[dict[str, Any]]) -> Response:
    windows = usable_windows(profile_of(records).runs).by_target
    return estimate_response(
        [series for line, of_line in windows.items() for series in make_series(line, of_line)]
    )


@pytest.mark.parametrize("sensitivity", [1.0, 0.4])
def test_disturbances_are_taken_out(sensitivity: float) -> None:
    corrected, plain = [], []
    for seed in range(8):
        records = profile(0.5, sensitivity, seed)
        corrected += errors_of(analyse(profile_of(records)))
        plain += errors_of(analyse(profile_of(without_probes(records))))
    assert np.mean(np.abs(corrected)) < 0.02
    assert np.mean(np.abs(corrected)) < 0.4 * np.mean(np.abs(plain))
    assert abs(np.mean(corrected)) < 0.005


@pytest.mark.parametrize("blocks", [6, 24])  # by variance and by bootstrap
@pytest.mark.parametrize("period", [2e6, 6e7])  # 200 visits a window, and 6
def test_intervals_keep_their_coverage(blocks: int, period: float) -> None:
    covered, widths = [], []
    for seed in range(30):
        model = Model(LINES, period=period, disturbed=0.4, seed=seed, speedups=SPEEDUPS, per_block=6)
        for result in analyse(profile_of(model.records(blocks))).results:
            truth = next(line.effect for line in LINES if line.location == result.location)
            covered += [p.low <= truth(p.speedup) <= p.high for p in result.curve[1:]]
            widths += [p.high - p.low for p in result.curve[1:]]
    assert 0.9 <= np.mean(covered) <= 0.99
    assert np.median(widths) < 0.15


@pytest.mark.parametrize("sensitivity", [0.0, 0.4, 1.0])
def test_the_exponent_is_found(sensitivity: float) -> None:
    assert response_to(profile(0.5, sensitivity)).slowness == pytest.approx(sensitivity, abs=0.1)


def half_widths(records: list[dict[str, Any]]) -> list[float]:
    return [(p.high - p.low) / 2 for r in analyse(profile_of(records)).results for p in r.curve[1:]]


def disturbed_model(**model: Any) -> list[dict[str, Any]]:
    return Model(LINES, drift=0.02, speedups=SPEEDUPS, per_block=6, **model).records(24)


def always_respond(monkeypatch: pytest.MonkeyPatch, response: Response) -> None:
    monkeypatch.setattr(
        "cozcli.analysis.correct.machine_speed.responses_of_points",
        lambda _: {("request", "throughput"): response},
    )


def test_slow_windows_are_as_good_as_others_where_they_scatter_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A machine that is never quiet: hardly a window is undisturbed, and those must not decide alone."""
    records = disturbed_model(disturbed=0.9)
    assert response_to(records).half_slowness >= 4 * HALF_WEIGHT
    found = np.median(half_widths(records))
    always_respond(monkeypatch, Response(slowness=1.0, half_slowness=HALF_WEIGHT))
    assert found < 0.8 * np.median(half_widths(records))


def test_slow_windows_count_little_where_they_scatter_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quiet machine with bad moments."""
    records = disturbed_model(disturbed=0.3, noise=0.005, rough=0.5)
    assert response_to(records).half_slowness <= HALF_WEIGHT
    found = np.median(half_widths(records))
    always_respond(monkeypatch, Response(slowness=1.0, half_slowness=8 * HALF_WEIGHT))
    assert found < 0.5 * np.median(half_widths(records))


@pytest.mark.parametrize("blocks", [6, 24])
@pytest.mark.parametrize("rough", [0.1, 0.5])
def test_intervals_keep_their_coverage_where_slow_windows_scatter_more(blocks: int, rough: float) -> None:
    covered = []
    for seed in range(30):
        model = Model(LINES, disturbed=0.6, rough=rough, seed=seed, speedups=SPEEDUPS, per_block=6)
        for result in analyse(profile_of(model.records(blocks))).results:
            truth = next(line.effect for line in LINES if line.location == result.location)
            covered += [p.low <= truth(p.speedup) <= p.high for p in result.curve[1:]]
    assert 0.9 <= np.mean(covered) <= 0.995


def test_stolen_time_counts_as_the_data_say() -> None:
    """Counted in ticks, it is never exact; but half of it and none of it are told apart."""
    records = robbed_profile()
    assert response_to(records).half_stolen > HALF_WEIGHT_STOLEN
    indifferent = [
        r | {"machine_stolen": 0} if r["type"] == "experiment" and r["machine_stolen"] else r for r in records
    ]
    assert response_to(indifferent).half_stolen == HALF_WEIGHT_STOLEN


def test_a_program_that_is_slow_by_itself_is_not_corrected() -> None:
    """Rare slow windows whose probe is as fast as ever are the program's: they count in full."""
    records = profile(0.0)
    for index, record in enumerate(r for r in records if r["type"] == "experiment"):
        record["probe_time"] = 300.0
        if index % 7 == 0:
            record["points"][0]["elapsed"] *= 2
    assert analyse(profile_of(records)).results == analyse(profile_of(without_probes(records))).results


def test_a_profile_without_probes_is_left_as_it_is() -> None:
    windows = usable_windows(profile_of(profile(0.0)).runs).by_target
    series = make_series("/a.c:1", windows["/a.c:1"])[0]
    assert not series.slowness.any()
    assert estimate_response([series]) == NO_RESPONSE
    assert (NO_RESPONSE.weights(series.slowness, series.stolen) == 1).all()


def test_few_windows_correct_nothing() -> None:
    model = Model(LINES[:1], disturbed=0.5, speedups=(0.5,), per_block=1)
    windows = usable_windows(profile_of(model.records(3)).runs).by_target
    assert estimate_response(make_series("/a.c:1", windows["/a.c:1"])) == NO_RESPONSE


def test_a_slow_machine_is_mentioned() -> None:
    slow = messages.slow_machine(1, 2).text.partition(" of ")[2]
    assert any("over 10 % slower" in warning.text for warning in analyse(profile_of(profile(0.5))).warnings)
    assert slow
    assert not any("slower" in warning.text for warning in analyse(profile_of(profile(0.05))).warnings)


def robbed_profile(to_theft: float = 1.0, seed: int = 1, **model: Any) -> list[dict[str, Any]]:
    return Model(
        LINES,
        robbed=0.5,
        sensitivity_to_theft=to_theft,
        seed=seed,
        speedups=SPEEDUPS,
        per_block=6,
        **model,
    ).records(24)


def without_theft(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{k: v for k, v in r.items() if not k.startswith("machine_")} for r in records]


@pytest.mark.parametrize("sensitivity", [1.0, 0.4])
@pytest.mark.parametrize("disturbed", [0.0, 0.3])
def test_time_that_the_hypervisor_stole_is_taken_out(sensitivity: float, disturbed: float) -> None:
    corrected, plain = [], []
    for seed in range(8):
        records = robbed_profile(sensitivity, seed, disturbed=disturbed)
        corrected += errors_of(analyse(profile_of(records)))
        plain += errors_of(analyse(profile_of(without_theft(records))))
    assert np.mean(np.abs(corrected)) < 0.02
    assert np.mean(np.abs(corrected)) < 0.6 * np.mean(np.abs(plain))
    assert abs(np.mean(corrected)) < 0.005


def test_intervals_keep_their_coverage_where_time_is_stolen() -> None:
    covered = []
    for seed in range(30):
        for result in analyse(profile_of(robbed_profile(seed=seed))).results:
            truth = next(line.effect for line in LINES if line.location == result.location)
            covered += [p.low <= truth(p.speedup) <= p.high for p in result.curve[1:]]
    assert 0.9 <= np.mean(covered) <= 0.99


@pytest.mark.parametrize("theft", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("slowness", [0.0, 1.0])
def test_both_exponents_are_found(slowness: float, theft: float) -> None:
    records = robbed_profile(theft, disturbed=0.5, sensitivity=slowness)
    found = response_to(records)
    assert found.slowness == pytest.approx(slowness, abs=0.1)
    assert found.stolen == pytest.approx(theft, abs=0.1)


def test_references_from_which_time_was_stolen_are_no_overhead() -> None:
    records = robbed_profile(references=True, slowdown=1.1)
    (cost,) = analyse(profile_of(records)).overheads.values()
    assert cost.slowdown == pytest.approx(1.1, abs=0.03)


def test_a_hypervisor_is_blamed_only_if_it_took_time() -> None:
    (warning,) = [w for w in analyse(profile_of(robbed_profile())).warnings if "slower" in w.text]
    assert "hypervisor" in warning.hint
    (warning,) = [w for w in analyse(profile_of(profile(0.5))).warnings if "slower" in w.text]
    assert "hypervisor" not in warning.hint


@pytest.mark.parametrize("time", [0, -1, 10**30, "x", None])
@pytest.mark.parametrize("key", ["machine_busy", "machine_stolen"])
def test_odd_machine_times_do_no_harm(key: str, time: object) -> None:
    records = robbed_profile()
    next(r for r in records if r["type"] == "experiment")[key] = time
    assert np.mean(np.abs(errors_of(analyse(profile_of(records))))) < 0.05


@pytest.mark.parametrize("probe", [0, 5e-324, 1e-300, 1e9, -1, 1e300, "x"])
def test_odd_probe_times_do_no_harm(probe: object) -> None:
    records = profile(0.3)
    next(r for r in records if r["type"] == "experiment")["probe_time"] = probe
    assert np.mean(np.abs(errors_of(analyse(profile_of(records))))) < 0.05


def test_the_tiniest_probe_beside_the_longest() -> None:
    records = profile(0.0)
    windows = [record for record in records if record["type"] == "experiment"]
    for record in windows:
        record["probe_time"] = 1e9
    windows[3]["probe_time"] = 5e-324
    assert np.isfinite(errors_of(analyse(profile_of(records)))).all()


def test_windows_without_scatter_are_no_trouble() -> None:
    records = Model(LINES[:1], drift=0, noise=0, speedups=(0.5,), per_block=1).records(3)
    for record in records:
        if record["type"] == "experiment":
            record["points"][0] |= {"visits": 10, "elapsed": 1_000_000}
    assert analyse(profile_of(records)).results[0].slope == pytest.approx(0)
