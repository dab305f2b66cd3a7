"""Labels for results that the data do not support, and the warnings that explain them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from cozcli.analysis import messages
from cozcli.analysis.cores import ENOUGH_SAMPLES, MUCH_WAITING, realised_speedup, waiting_share
from cozcli.analysis.grouping import LATENCY, THROUGHPUT, Window
from cozcli.analysis.load import load_labels
from cozcli.analysis.queue import unstable_queues
from cozcli.analysis.result import Note, Phase
from cozcli.analysis.transients import unsettled_results
from cozcli.errors import Problem
from cozcli.profile.profile import Run

#: A result: location, progress point, kind.
Key = tuple[str, str, str]


@dataclass
class Labels:
    """Notes by result, and warnings about the profile as a whole."""

    notes: dict[Key, set[Note]] = field(default_factory=lambda: defaultdict(set))
    warnings: list[Problem] = field(default_factory=list)


def find_labels(
    keys: Iterable[Key],
    by_line: Mapping[str, Sequence[Window]],
    runs: Sequence[Run],
    phases: Mapping[str, Phase],
) -> Labels:
    """Look for everything that makes results doubtful in ways that their intervals do not show.

    Args:
        keys: all results. by_line: usable windows. phases: by line.
    """
    labels = Labels()
    for location, point in unstable_queues(by_line):
        labels.notes[location, point, LATENCY].add(Note.UNSTABLE)
    for location, point in unsettled_results(by_line):
        labels.notes[location, point, THROUGHPUT].add(Note.NOT_SETTLED)
    for point, (note, locations) in load_labels(by_line, phases).items():
        labels.warnings.append(messages.limited_by_load(point, note is Note.LOAD))
        for location in locations:
            labels.notes[location, point, THROUGHPUT].add(note)
    _add_cores(labels, keys, by_line, runs)
    return labels


def _add_cores(
    labels: Labels, keys: Iterable[Key], by_line: Mapping[str, Sequence[Window]], runs: Sequence[Run]
) -> None:
    everything = [window for windows in by_line.values() for window in windows]
    waiting = {line for line, windows in by_line.items() if waiting_share(windows, runs) > MUCH_WAITING}
    share = waiting_share(everything, runs)
    if waiting or share > MUCH_WAITING:
        labels.warnings.append(messages.too_few_cores(share))
    for key in keys:
        if key[0] in waiting:
            labels.notes[key].add(Note.CORES)
    realised = realised_speedup(everything, runs)
    if realised < ENOUGH_SAMPLES:
        labels.warnings.append(messages.rare_samples(realised))
