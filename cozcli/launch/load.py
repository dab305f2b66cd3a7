"""Load amplification on the command line: options to values, what cannot be, and what came of it."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cozcli.errors import CozError, Problem
from cozcli.launch import load_messages
from cozcli.messages import load_limited

#: What times on the command line may be given in; without a unit they are nanoseconds.
NANOSECONDS = {"": 1, "ns": 1, "us": 1_000, "µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
#: Seconds in what a rate may be of.
_SPANS = {"": 1.0, "s": 1.0, "ms": 1e-3, "min": 60.0}
#: An hour: no program is made to wait longer between two requests.
LONGEST = 3_600_000_000_000
#: The part of the amplification that may be lost without being mentioned; beyond, load was another.
MUCH_LOST = 0.05
#: By how much more than threads wait may be taken off without being mentioned.
MOST_SHORT = 0.02


class Load(NamedTuple):
    """As docs/launch_contract.md has it: one of the two is set where load is to be amplified."""

    speedup: str = ""
    rate: str = ""

    @property
    def is_on(self) -> bool:
        """Is load amplified, or are arrivals at least counted?"""
        return bool(self.speedup or self.rate)

    @property
    def is_measured(self) -> bool:
        """Does the run have to find out first how often requests arrive?"""
        return bool(self.rate) or self.speedup.endswith("%")


def add_options(parser: argparse.ArgumentParser) -> None:
    """--arrival-speedup, --arrival-rate and --arrival."""
    group = parser.add_argument_group(
        "load amplification",
        "The program runs as if requests came faster. They arrive where COZ_ARRIVAL or COZ_BEGIN "
        "stands, or at "
        "--arrival. With --fixed-speedup 0 nothing but load is varied.",
    )
    amounts = group.add_mutually_exclusive_group()
    amounts.add_argument(
        "--arrival-speedup",
        metavar="TIME",
        type=arrival_speedup,
        help="make each request arrive this much earlier: 750us, 1ms, a bare number of nanoseconds, "
        "or 25%% of "
        "the time between two of them in a thread, which is measured first",
    )
    amounts.add_argument(
        "--arrival-rate",
        metavar="N/s",
        type=arrival_rate,
        help="have N requests a second arrive, as in 4000/s; how many do is measured first",
    )
    group.add_argument(
        "--arrival",
        metavar="PLACE",
        action="append",
        default=[],
        type=_place,
        help="requests arrive here: FILE:LINE or a function, as for --progress; repeatable",
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
    if time is None or float(time[1]) * NANOSECONDS[time[2]] > LONGEST:
        raise argparse.ArgumentTypeError(
            f"{text!r} is neither a time, as in 750us (a bare number is in nanoseconds), nor per "
            "cent, as in 25%"
        )
    return str(round(float(time[1]) * NANOSECONDS[time[2]]))


def arrival_rate(text: str) -> str:
    """An argument of --arrival-rate, per second."""
    match = re.fullmatch(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)\s*(?:/\s*(s|ms|min))?", text)
    rate = float(match[1]) / _SPANS[match[2] or ""] if match else 0.0
    if rate <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a rate, as in 4000/s")
    return f"{rate:.9g}" if rate < 1e9 else str(round(rate))


def check(load: Load, *, end_to_end: bool, sampling: str) -> None:
    """Refuse what cannot be.

    Raises:
        CozError: with the remedy.
    """
    if not load.is_on:
        return
    if sampling == "off":
        raise CozError(load_messages.amplified_without_samples())
    if end_to_end and load.is_measured:
        raise CozError(load_messages.end_to_end_unmeasured("--arrival-rate" if load.rate else load.speedup))


def describe_load(profile: Path, beginning: int, load: Load, placed: Sequence[str]) -> list[str | Problem]:
    """What amplification came to in a run: one line, or what went wrong. `placed`: names of --arrival points.

    Raises:
        OSError: the profile cannot be read.
    """
    if not load.is_on:
        return []
    last, measured = _last_samples(profile, beginning)
    if last is None:
        return []
    arrivals = last.get("arrivals") or {}
    counted = {name: int(arrivals.get(name, 0)) for name in ("count", "charged", "intervals", "between")}
    visits = _visits(last)
    found: list[str | Problem] = [
        load_messages.arrival_never_ran(name) for name in placed if not visits.get(name, 0)
    ]
    if counted["count"] == 0:
        if len(found) < max(1, len(placed)):
            uncharged = [name for name, number in visits.items() if number]
            found.append(load_messages.no_arrivals(uncharged))
        return found
    if load.is_measured and not measured:
        return [*found, load_messages.too_few_arrivals(counted["count"])]
    speedup = int(last.get("arrival_speedup", 0))
    interval = counted["between"] / counted["intervals"] if counted["intervals"] else 0.0
    # Until the speedup was known, arrivals were counted without it.
    asked = counted["count"] * speedup
    lost = 1 - counted["charged"] / asked if asked and not load.is_measured else 0.0
    if lost > MUCH_LOST:
        return [*found, load_messages.much_clipped(speedup, lost)]
    if interval > speedup and not load.is_measured:
        found.append(load_messages.load_reached(counted["count"], interval, speedup))
    limit = _limit(arrivals)
    return [*found, load_limited(limit)] if limit is not None else found


def _limit(arrivals: dict[str, Any]) -> float | None:
    """The part of the time between two arrivals in which their threads wait, if more than that was taken off.

    As `analysis.scalability.find_limit`, whose module takes longer to import than a user should wait here.
    """
    try:
        charged, count, intervals, between, computed = (
            int(arrivals[name]) for name in ("charged", "count", "intervals", "between", "computed")
        )
        waiting = max(0.0, 1 - computed / between)
        return waiting if charged / count * intervals / between > waiting + MOST_SHORT else None
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        return None  # an older runtime, or nothing arrived twice


def _last_samples(profile: Path, beginning: int) -> tuple[dict[str, Any] | None, bool]:
    """The last `samples` record of the run, and whether there is a `load` record."""
    last, measured = None, False
    with profile.open("rb") as stream:
        stream.seek(beginning)
        for line in stream:
            if line.startswith(b'{"type":"load"'):
                measured = True
            if not line.startswith(b'{"type":"samples"'):
                continue
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                continue  # broken off
            if isinstance(record, dict):
                last = record
    return last, measured


def _visits(samples: dict[str, Any]) -> dict[str, int]:
    """Visits of arrival points, and arrivals at latency points."""
    try:
        return {
            str(point["name"]): int(point.get("visits", 0)) + int(point.get("arrivals", 0))
            for point in samples["points"]
            if point["kind"] != "throughput"
        }
    except (KeyError, TypeError, ValueError):
        return {}


def _place(text: str) -> str:
    if not text.strip() or "\n" in text:
        raise argparse.ArgumentTypeError("a name must be one line of text")
    return text.strip()
