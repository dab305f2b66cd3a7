"""`coz bias --counters`: which events there are, and which go with cycles, by recorded counts."""

import json

import numpy as np
import pytest

from cozcli import cli
from cozcli.bias import counters, events, study
from cozcli.bias.factors import SIZES, Movers, Place
from cozcli.bias.measure import Runner
from cozcli.bias.report import Report, render_json, render_text
from cozcli.bias.result import Aliasing, Bias, Change, Correlation, Sweep
from cozcli.compare.counters import EVENTS, Event
from cozcli.compare.trial import Trial
from cozcli.errors import CozError, Problem

ONE = Change(1.3, 1.28, 1.32, 0.0005)
ALIAS = Aliasing("environment", 3184, ONE, 0.001, [], "With the stack on", ONE)
#: Of Mytkowicz's kernel on Haswell (Melhus and Jensen, Table II): median, and at both slow sizes.
RECORDED = {
    "cycles": (692686, 825311, 823872),
    "ld_blocks_partial.address_alias": (137, 327871, 327848),
    "uops_executed_port.port_1": (249016, 100913, 101250),
    "uops_executed_port.port_3": (358848, 356919, 357723),
    "resource_stalls.any": (274373, 406364, 406256),
}


class Recorded(Runner):
    """A program whose runs count what was recorded, give or take half a per cent."""

    def __init__(self, fails_after=None):
        super().__init__(["prog"], Movers(None, True))
        self._generator = np.random.default_rng(3)
        self._fails_after = fails_after

    def trial(self, place, instruments=()):
        self.runs += 1
        if self.runs == self._fails_after:
            raise KeyboardInterrupt
        at = {3184: 1, 7280: 2}.get(place.environment, 0)
        (instrument,) = instruments
        scatter = 1 + 0.005 * self._generator.standard_normal(len(instrument.events))
        return Trial(
            0.03,
            0.03,
            0,
            0.0,
            figures={
                event.name: RECORDED[event.name][at] * factor
                for event, factor in zip(instrument.events, scatter, strict=True)
            },
        )


def recorded_events():
    return [Event(name, 4, number) for number, name in enumerate(RECORDED) if name != "cycles"]


def found(**options):
    runner = Recorded(**options)
    places, slow = counters.places_of([ALIAS], SIZES, 1)
    counts = counters.count(runner, places, recorded_events(), 1, lambda: None)
    return runner, counters.correlations(counts, slow)


def test_the_event_of_aliasing_comes_first_and_what_does_not_vary_with_places_is_not_shown():
    runner, table = found()
    assert runner.runs == counters.runs(32, 4) == 32 * 3 * 2
    by_name = {each.event: each for each in table}
    alias = by_name["ld_blocks_partial.address_alias"]
    assert alias.r > 0.95
    assert alias.p < 1e-6
    assert alias.median == pytest.approx(137, rel=0.05)
    assert alias.slow == [pytest.approx(value, rel=0.05) for value in (327871, 327848)]
    assert by_name["uops_executed_port.port_1"].r < -0.95
    assert by_name["resource_stalls.any"].r > 0.95
    text = render_text(report(table))
    assert "At 3184" in text
    assert "At 7280" in text
    assert "address_alias" in text
    assert "port_3" not in text


def test_ctrl_c_keeps_the_events_that_are_counted():
    runner, table = found(fails_after=150)
    assert runner.interrupted
    assert len(table) == 2


def test_without_a_slow_place_places_are_random_and_of_blocks_the_default_is_the_slow_one():
    places, slow = counters.places_of([], SIZES, 1)
    assert (len(set(places)), slow) == (32, 0)
    heap = Aliasing("heap", 0, ONE, 0.001, [], "", None)
    places, slow = counters.places_of([heap], SIZES, 1)
    assert slow == 1
    assert places[0] == Place()
    assert len({place.heap for place in places}) == 32


def report(table):
    bias = Bias([], Sweep({0: 1.0}, 2), 0.5, [1.0], 0.5, [ALIAS], "needed", ["environment"], 9, 1.0, table)
    return Report(["./prog"], bias, 0.01, 7, True)


def test_json_has_all_events_and_none_where_nothing_was_counted():
    table = [Correlation("instructions", 0.1, 0.6, 1e6, [1e6, 1e6])]
    (event,) = json.loads(render_json(report(table)))["counters"]
    assert event == {"event": "instructions", "r": 0.1, "p": 0.6, "median": 1e6, "slow": [1e6, 1e6]}
    assert "Of 1 hardware event none goes with cycles" in render_text(report(table))
    assert json.loads(render_json(report(None)))["counters"] is None


@pytest.fixture
def sysfs(tmp_path):
    """What Linux says of a processor of Intel, in part."""
    files = {
        "cpu/type": "4\n",
        "cpu/caps/pmu_name": "haswell\n",
        "cpu/format/event": "config:0-7\n",
        "cpu/format/umask": "config:8-15\n",
        "cpu/format/ldat": "config1:0-15\n",
        "cpu/format/wide": "config:0-7,32-35\n",
        "cpu/format/other": "config7:0-3\n",
        "cpu/events/mem-loads": "event=0xcd,umask=0x1,ldat=3\n",
        "cpu/events/mem-loads.scale": "2\n",
        "cpu/events/split": "wide=0x3f1\n",
        "cpu/events/newer": "event=0x1,other=1\n",
        "cpu/events/cpu-cycles": "event=0x3c\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_events_are_those_of_linux_and_of_the_processor(sysfs, monkeypatch):
    monkeypatch.setattr(events, "check_events", lambda _: None)
    known = {event.name: event for event in events.countable("all", sysfs)}
    assert known["instructions"] == EVENTS["instructions"]
    assert known["L1-dcache-load-misses"] == Event("L1-dcache-load-misses", 3, 0x10000)
    assert known["dTLB-stores"] == Event("dTLB-stores", 3, 0x103)
    assert known["mem-loads"] == Event("mem-loads", 4, 0x1CD, 3)
    assert known["split"] == Event("split", 4, 0x3000000F1)
    assert not {"newer", "cpu-cycles", "cycles", "mem-loads.scale"} & set(known)
    assert events.countable("r0107,branches", sysfs) == [Event("r0107", 4, 0x107), known["branches"]]


@pytest.mark.parametrize(
    ("vendor", "name", "config"),
    [
        ("GenuineIntel", "haswell", 0x0107),
        ("GenuineIntel", "alderlake_hybrid", 0x0403),
        ("AuthenticAMD", "", 0x0224),
        ("HygonGenuine", "", None),
    ],
)
def test_the_event_of_aliasing_by_processor(sysfs, monkeypatch, vendor, name, config):
    (sysfs / "cpu/caps/pmu_name").write_text(name)
    read = events._read
    monkeypatch.setattr(events, "_read", lambda path: vendor if path.name == "cpuinfo" else read(path))
    known = {event.name: event.config for event in events._events(sysfs)}
    assert known.get("address-alias") == config


def test_without_counters_the_study_goes_by_time_and_says_so(monkeypatch):
    def refuse(_):
        raise CozError(Problem("this machine has no counter of cycles."))

    monkeypatch.setattr(events, "check_events", refuse)
    chosen, doubt = study._events("all")
    assert chosen == []
    assert "no counter of cycles. Slow places are found without them" in doubt.text
    assert study._events(None) == ([], None)


def test_unknown_events_are_refused(capsys):
    with pytest.raises(SystemExit):
        cli.main(["bias", "--counters", "cycels", "true"])
    assert "'cycels' is no event that is known here" in capsys.readouterr().err
