"""Counters of the kernel as metrics. The events of the kernel itself exist on every machine."""

import errno
import json
import os
import struct

import pytest

from cozcli import cli
from cozcli.compare import counters
from cozcli.compare.counters import EVENTS, Counters, check_events, count
from cozcli.compare.trial import Side, run
from cozcli.errors import CozError


def can_count(event):
    """Does this machine count that?"""
    try:
        check_events([EVENTS[event]])
    except CozError:
        return False
    return True


needs_faults = pytest.mark.skipif(not can_count("page-faults"), reason="the kernel refuses perf_event_open")


def children(number):
    """A command that starts so many programs, one after another."""
    return ["/bin/sh", "-c", f"i=0; while [ $i -lt {number} ]; do /bin/true; i=$((i+1)); done"]


def faults_of(command):
    """Page faults of a run."""
    trial = run(Side("A", command), None, instruments=[Counters([EVENTS["page-faults"]])])
    return trial.figures["page-faults"]


@needs_faults
def test_faults_of_the_program_and_its_children_are_counted_and_not_ours():
    alone, few, many = faults_of(["/bin/true"]), faults_of(children(1)), faults_of(children(41))
    # Each program that is started touches some pages; this interpreter has touched thousands.
    assert 5 < alone < few < 2000
    assert many - few > 40 * 5


@needs_faults
def test_a_comparison_by_page_faults(capsys):
    a, b = children(1), children(10)
    words = ["-n", "6", "--layout", "none", "--metric", "page-faults", "--metric", "cpu"]
    assert cli.main(["compare", "--json", *words, *a, "---", "vs", *b]) == 0
    data = json.loads(capsys.readouterr().out)
    faults, _ = data["comparisons"]
    assert (faults["metric"], faults["verdict"]) == ("page-faults", "slower")
    assert data["blocks"][0][1]["page-faults"] > data["blocks"][0][0]["page-faults"]
    assert cli.main(["compare", *words, *a, "---", "vs", *b]) == 0
    assert "\nB's number of page faults is " in capsys.readouterr().out


def refusing(monkeypatch, *numbers):
    """Let perf_event_open fail so, one call after another; returns what flags it was called with."""
    left, seen = list(numbers), []

    def refuse(_, flags):
        seen.append(flags)
        number = left.pop(0)
        if number:
            raise OSError(number, os.strerror(number))
        return os.open(os.devnull, os.O_RDONLY)

    monkeypatch.setattr(counters, "_open", refuse)
    return seen


@pytest.mark.parametrize(
    ("event", "numbers", "reason"),
    [
        ("cycles", [errno.ENOENT], "no counter of cycles"),
        ("cache-misses", [errno.EOPNOTSUPP], "no counter of cache misses"),
        ("instructions", [errno.EACCES, errno.ENOENT], "no counter of instructions"),
        ("instructions", [errno.EPERM, errno.EPERM], "does not count instructions for this user"),
        ("context-switches", [errno.EACCES], "does not count context switches for this user"),
        (
            "page-faults",
            [errno.ENOSYS],
            "does not count page faults for this user (Function not implemented)",
        ),
    ],
)
def test_what_cannot_be_counted_is_refused_before_anything_runs(monkeypatch, capsys, event, numbers, reason):
    refusing(monkeypatch, *numbers)
    monkeypatch.setattr("cozcli.compare.collect.run", None)
    assert cli.main(["compare", "--layout", "none", "--metric", event, "true", "---", "vs", "true"]) == 2
    said = capsys.readouterr().err
    assert reason in said
    assert "another --metric" in said


def test_without_rights_the_kernel_is_left_out(monkeypatch):
    seen = refusing(monkeypatch, errno.EACCES, 0)
    check_events([EVENTS["instructions"]])
    assert seen[0] == 0
    assert seen[1] & counters._EXCLUDE_KERNEL


@pytest.fixture
def reading(tmp_path):
    """reading(VALUE, ENABLED, RUNNING): a descriptor from which an event would be read so."""
    opened = []

    def make(*numbers):
        path = tmp_path / "event"
        path.write_bytes(struct.pack("QQQ", *numbers))
        opened.append(os.open(path, os.O_RDONLY))
        return opened[-1]

    yield make
    for descriptor in opened:
        os.close(descriptor)


def test_counts_are_scaled_where_events_share_a_counter(reading):
    assert count("A", "cycles", reading(1000, 50, 50)) == 1000
    assert count("A", "cycles", reading(1000, 50, 25)) == 2000
    # A ratio needs something.
    assert count("A", "context-switches", reading(0, 50, 50)) == 0.5
    with pytest.raises(CozError, match="no counter was free for cycles"):
        count("A", "cycles", reading(0, 50, 0))


def test_all_events_are_metrics():
    for event in EVENTS:
        own, _ = cli.separate_program(["compare", "--metric", event, "true", "---", "vs", "true"])
        assert cli.parse(own).metric == [event]
