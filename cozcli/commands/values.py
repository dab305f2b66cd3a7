"""Values of the options of `coz run`: each function reads one, or says what it should be."""

from __future__ import annotations

import argparse
import re

from cozcli.launch.fixed_targets import is_line
from cozcli.launch.points import split_pair

#: What times on the command line may be given in; without a unit they are nanoseconds.
NANOSECONDS = {"": 1, "ns": 1, "us": 1_000, "µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
#: Sampling periods: below, sampling would be all that the program does; above, it sees nothing.
MIN_PERIOD, MAX_PERIOD = 100_000, 100_000_000
#: Per cent: beyond, nothing would be measured near the program's working point.
MAX_DOSE = 50
#: The longest time that an option takes, in seconds: a day.
MAX_TIME = 86_400


def file_line(text: str) -> str:
    """FILE:LINE."""
    if not is_line(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not FILE:LINE, as in queue.cpp:10")
    return text


def one_name(text: str) -> str:
    """A name, or a location."""
    if not text.strip() or "\n" in text:
        raise argparse.ArgumentTypeError("a name must be one line of text")
    return text.strip()


def location_pair(text: str) -> tuple[str, str]:
    """BEGIN,END."""
    pair = split_pair(text)
    if pair is None or "\n" in text:
        raise argparse.ArgumentTypeError(f"{text!r} is not BEGIN,END, as in receive,queue.cpp:80")
    return pair


def percent(text: str) -> int:
    """A speedup in per cent."""
    digits = text.removesuffix("%").strip()
    if not re.fullmatch(r"[0-9]{1,3}", digits) or int(digits) > 100:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of per cent from 0 to 100")
    return int(digits)


def speedups(text: str) -> tuple[int, ...]:
    """Several speedups above 0; 0 among them is allowed, and left out."""
    chosen = [percent(part) for part in text.split(",")]
    twice = sorted({speedup for speedup in chosen if chosen.count(speedup) > 1})
    if twice:
        raise argparse.ArgumentTypeError(f"{text!r} has {twice[0]} more than once")
    if not any(chosen):
        raise argparse.ArgumentTypeError(
            f"{text!r} has no speedup above 0; for baselines alone, use --fixed-speedup 0"
        )
    return tuple(sorted(speedup for speedup in chosen if speedup > 0))


def ranks(text: str) -> frozenset[int]:
    """Ranks of a job."""
    return numbers(text, 7, "ranks, as in 0-3,8")


def numbers(text: str, digits: int, of_what: str) -> frozenset[int]:
    """Numbers and ranges of numbers, with commas."""
    chosen: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(rf"([0-9]{{1,{digits}}})(?:-([0-9]{{1,{digits}}}))?", part)
        if not match or int(match[2] or match[1]) < int(match[1]):
            raise argparse.ArgumentTypeError(f"{text!r} is not a list of {of_what}")
        chosen.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    return frozenset(chosen)


def dose(text: str) -> float:
    """A limit of the companions' dose, in per cent."""
    match = re.fullmatch(r"([0-9]{1,2}(?:\.[0-9]{1,2})?)\s*%?", text)
    if not match or float(match[1]) > MAX_DOSE:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of per cent from 0 to {MAX_DOSE}")
    return float(match[1])


def period(text: str) -> int:
    """A sampling period, in nanoseconds."""
    match = re.fullmatch(r"([0-9]{1,12})\s*(ns|us|µs|ms|s|)", text)
    period = int(match[1]) * NANOSECONDS[match[2]] if match else 0
    if not MIN_PERIOD <= period <= MAX_PERIOD:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a time from 100us to 100ms (a bare number is in nanoseconds)"
        )
    return period


def time(text: str) -> float:
    """A time, in seconds."""
    match = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)\s*(ms|s|m|min|h|)", text)
    units = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
    seconds = float(match[1]) * units[match[2]] if match else 0.0
    if not 0 < seconds <= MAX_TIME:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time up to a day, as in 90s, 5m or 1h")
    return seconds


def interval(text: str) -> int:
    """A time of 1 ms or more, in whole milliseconds."""
    milliseconds = round(1000 * time(text))
    if milliseconds < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time from 1ms up, as in 500ms")
    return milliseconds


def precision(text: str) -> float:
    """Half of an interval of an effect, in percentage points; returned as a fraction."""
    match = re.fullmatch(r"([0-9]{1,2}(?:\.[0-9]{1,2})?)\s*%?", text)
    if not match or not 0.1 <= float(match[1]) <= 50:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of points from 0.1 to 50, as in 2%")
    return float(match[1]) / 100


def seed(text: str) -> int:
    """A seed, of 64 bits."""
    if not re.fullmatch(r"[0-9]{1,20}", text) or int(text) >= 2**64:
        raise argparse.ArgumentTypeError(f"must be a whole number from 0 to 2^64 − 1 (got {text!r})")
    return int(text)
