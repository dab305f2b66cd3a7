"""Load amplification in `coz run`: its options, what cannot be, and what came of it."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from cozcli.commands.values import NANOSECONDS, one_name
from cozcli.errors import CozError, Problem

if TYPE_CHECKING:
    from cozcli.launch.points import LocationPoint
    from cozcli.profile.tail import ProfileTail

#: Seconds in what a rate may be of.
_SPANS = {"": 1.0, "s": 1.0, "ms": 1e-3, "min": 60.0}
#: An hour: no program is made to wait longer between two requests.
MAX_SPEEDUP = 3_600_000_000_000
#: The part of the amplification that may be lost without being mentioned; beyond, load was another.
MAX_LOST = 0.05


class Load(NamedTuple):
    """As docs/launch_contract.md has it: `speedup` or `rate` is set where load is to be amplified.

    `arrivals`: the locations of --arrival. `busy_pauses`: threads that pause keep their processor.
    """

    speedup: str = ""
    rate: str = ""
    arrivals: Sequence[str] = ()
    busy_pauses: bool = False

    @property
    def charges_arrivals(self) -> bool:
        """Is load amplified, or are arrivals at least counted?"""
        return bool(self.speedup or self.rate)

    @property
    def is_measured(self) -> bool:
        """Does the run have to find out first how often requests arrive?"""
        return bool(self.rate) or self.speedup.endswith("%")

    @property
    def variables(self) -> Mapping[str, str]:
        """What the runtime is told."""
        values = {
            "COZ_ARRIVAL_SPEEDUP": self.speedup,
            "COZ_ARRIVAL_RATE": self.rate,
            "COZ_BUSY_PAUSES": "1" if self.busy_pauses else "",
        }
        return {name: value for name, value in values.items() if value}

    def check(self, *, end_to_end: bool, sampling: str, varies_lines: bool = True) -> None:
        """Refuse what cannot be.

        Raises:
            CozError: with the remedy.
        """
        if not self.charges_arrivals and not self.busy_pauses:
            return
        from cozcli.load import messages  # which most runs need not wait for

        if self.busy_pauses:
            if varies_lines or not self.charges_arrivals:
                raise CozError(messages.busy_pauses_beside_lines())
            from cozcli.doctor.machine import Machine

            machine = Machine()
            if (quota := machine.quota) is not None and quota < machine.processors:
                raise CozError(messages.busy_pauses_under_quota(quota))
        if sampling == "off":
            raise CozError(messages.amplified_without_samples())
        if end_to_end and self.is_measured:
            raise CozError(messages.end_to_end_unmeasured("--arrival-rate" if self.rate else self.speedup))

    def describe(self, tail: ProfileTail, points: Sequence[LocationPoint]) -> list[str | Problem]:
        """What amplification came to in a run: one line, or what went wrong."""
        samples = tail.samples if self.charges_arrivals else None
        if samples is None or samples.arrivals is None:
            return []
        from cozcli.load import messages  # which most runs need not wait for
        from cozcli.load.arrivals import is_limited, waiting_share

        counts = samples.arrivals
        visits = {point.name: point.visits for point in samples.points if point.kind != "throughput"}
        asked_for = [point.name for point in points if point.kind == "arrival"]
        found: list[str | Problem] = [
            messages.arrival_never_ran(name) for name in asked_for if not visits.get(name, 0)
        ]
        if counts.count == 0:
            if len(found) < max(1, len(asked_for)):
                found.append(messages.no_arrivals([name for name, number in visits.items() if number]))
            return found
        if self.is_measured and tail.load is None:
            return [*found, messages.too_few_arrivals(counts.count)]
        interval = counts.between / counts.intervals if counts.intervals else 0.0
        # Until the speedup was known, arrivals were counted without it.
        asked = counts.count * counts.speedup
        lost = 1 - counts.charged / asked if asked and not self.is_measured else 0.0
        if lost > MAX_LOST:
            return [*found, messages.much_clipped(counts.speedup, lost)]
        if interval > counts.speedup and not self.is_measured:
            found.append(messages.load_reached(counts.count, interval, counts.speedup))
        return [*found, messages.load_limited(waiting_share([counts]))] if is_limited([counts]) else found


def read(options: argparse.Namespace) -> Load:
    """The values of the options.

    Raises:
        CozError: they cannot go with others.
    """
    load = Load(
        options.arrival_speedup or "", options.arrival_rate or "", options.arrival, options.busy_pauses
    )
    load.check(
        end_to_end=options.end_to_end,
        sampling=options.sampling,
        varies_lines=options.fixed_speedup != 0 or has_fixed_targets(options),
    )
    return load


def has_fixed_targets(options: argparse.Namespace) -> bool:
    """Does the command line name what is to be sped up?"""
    names = ("line", "lines", "function", "region", "wait", "lock")
    return any(getattr(options, f"fixed_{name}") for name in names)


def add_options(parser: argparse.ArgumentParser) -> None:
    """--arrival-speedup, --arrival-rate and --arrival."""
    group = parser.add_argument_group(
        "load amplification",
        "The program runs as if requests came faster. They arrive where COZ_ARRIVAL or COZ_BEGIN stands, "
        "or at --arrival. With --fixed-speedup 0 nothing but load is varied.",
    )
    amounts = group.add_mutually_exclusive_group()
    amounts.add_argument(
        "--arrival-speedup",
        metavar="TIME",
        type=arrival_speedup,
        help="make each request arrive this much earlier: 750us, 1ms, a bare number of nanoseconds, "
        "or 25%% of the time between two of them in a thread, which is measured first",
    )
    amounts.add_argument(
        "--arrival-rate",
        metavar="N/s",
        type=arrival_rate,
        help="have N requests a second arrive, as in 4000/s; how many do is measured first",
    )
    group.add_argument(
        "--arrival",
        metavar="LOCATION",
        action="append",
        default=[],
        type=one_name,
        help="requests arrive here: FILE:LINE or a function, as for --progress; repeatable",
    )
    group.add_argument(
        "--busy-pauses",
        action="store_true",
        help="paused threads keep their processor busy until another thread runs there, so that caches stay "
        "warm; for load alone, and not for programs that measure or limit their own processor time",
    )


def arrival_speedup(text: str) -> str:
    """An argument of --arrival-speedup as the runtime reads it: nanoseconds, or per cent."""
    share = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]{1,6})?)\s*%", text)
    if share:
        if float(share[1]) >= 100:
            raise argparse.ArgumentTypeError(
                f"{text!r} is not below 100 %: the next request cannot come before the last"
            )
        return f"{share[1]}%"
    time = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)\s*(ns|us|µs|ms|s|)", text)
    if time is None or float(time[1]) * NANOSECONDS[time[2]] > MAX_SPEEDUP:
        raise argparse.ArgumentTypeError(
            f"{text!r} is neither a time, as in 750us (a bare number is in nanoseconds), nor per cent, as "
            "in 25%"
        )
    return str(round(float(time[1]) * NANOSECONDS[time[2]]))


def arrival_rate(text: str) -> str:
    """An argument of --arrival-rate, per second."""
    match = re.fullmatch(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)\s*(?:/\s*(s|ms|min))?", text)
    rate = float(match[1]) / _SPANS[match[2] or ""] if match else 0.0
    if rate <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a rate, as in 4000/s")
    return f"{rate:.9g}" if rate < 1e9 else str(round(rate))
