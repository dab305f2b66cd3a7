"""Runs that hyperfine measured, from its JSON: compared as two samples, since they are no pairs.

Hyperfine runs one command after the other, all of A and then all of B, so what the machine did meanwhile
counts as a difference between them. Nothing here can repair that; the report says so.

The ratio is Hodges and Lehmann's for two samples, the median of all b / a; its interval inverts the
Mann–Whitney test (Hollander, Wolfe, Chicken, Nonparametric Statistical Methods, section 4.3).
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cozcli.compare import messages
from cozcli.compare.estimate import CONFIDENCE, DETECTABLE, EQUIVALENCE_CONFIDENCE, verdict_of
from cozcli.compare.result import MIN_PAIRS, Estimate
from cozcli.errors import CozError, reason_of


class Command(NamedTuple):
    """What hyperfine ran, and the wall times of its runs in seconds."""

    name: str
    times: Sequence[float]


def read_hyperfine(path: str) -> list[Command]:
    """The commands of a file of `hyperfine --export-json`.

    Raises:
        CozError: it cannot be read, is something else, has too few runs, or one of them failed.
    """
    try:
        document: Any = json.loads(Path(path).read_text(encoding="utf-8"))
        found = [
            Command(str(each["command"]), [float(time) for time in each["times"]])
            for each in document["results"]
        ]
        failed = [
            str(each["command"])
            for each in document["results"]
            if any(status != 0 for status in each.get("exit_codes") or ())
        ]
    except OSError as error:
        raise CozError(messages.no_input(path, reason_of(error))) from None
    except (ValueError, KeyError, TypeError, OverflowError):
        raise CozError(messages.no_hyperfine(path)) from None
    if failed:
        raise CozError(messages.hyperfine_failed(path, failed[0]))
    if len(found) < 2 or any(len(each.times) < MIN_PAIRS for each in found):
        raise CozError(messages.hyperfine_too_short(path, MIN_PAIRS))
    for each in found:
        if not all(0 < time < math.inf for time in each.times):
            raise CozError(messages.hyperfine_without_time(path, each.name))
    return found


def estimate_unpaired(a: Sequence[float], b: Sequence[float], margin: float) -> Estimate:
    """B against A; `pairs` is the number of runs of the shorter side."""
    from scipy.stats import mannwhitneyu

    d = np.sort(np.subtract.outer(np.log(b), np.log(a)).ravel())
    low, high = _interval(d, len(a), len(b), CONFIDENCE)
    return Estimate(
        ratio=math.exp(float(np.median(d))),
        low=math.exp(low),
        high=math.exp(high),
        verdict=verdict_of((low, high), _interval(d, len(a), len(b), EQUIVALENCE_CONFIDENCE), margin),
        pairs=min(len(a), len(b)),
        p=float(mannwhitneyu(b, a).pvalue),
        probability_faster=float(np.mean(d < 0) + np.mean(d == 0) / 2),
        minimum_detectable=math.expm1((high - low) / 2 / 1.960 * DETECTABLE),
    )


def _interval(d: np.ndarray, n: int, m: int, confidence: float) -> tuple[float, float]:
    from scipy.stats import norm

    deviation = math.sqrt(n * m * (n + m + 1) / 12)
    left_out = max(0, math.floor(n * m / 2 + float(norm.ppf((1 - confidence) / 2)) * deviation - 0.5))
    return float(d[left_out]), float(d[len(d) - 1 - left_out])


def median(command: Command) -> float:
    """Seconds."""
    return statistics.median(command.times)
