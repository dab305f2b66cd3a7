"""`--gate`: conditions under which the command ends with status 1, for continuous integration."""

from __future__ import annotations

import argparse
import re
from typing import NamedTuple, get_args

from cozcli.compare.result import Estimate, Verdict

STATUS_GATE = 1
_FORM = re.compile(r"\s*(not\s+)?([a-z]+)\s*(?:>\s*([0-9]{1,3}(?:\.[0-9]{1,3})?)\s*%)?\s*")


class Gate(NamedTuple):
    """`text` as given. Fails on `verdict`, or on any other if `negated`; with `beyond`, a fraction, only
    where the whole interval lies beyond it."""

    text: str
    negated: bool
    verdict: Verdict
    beyond: float

    def fails(self, estimate: Estimate, more_is_better: bool = False) -> bool:
        """Does the comparison meet the condition? more_is_better: it is one of rates."""
        if self.beyond > 0:
            is_about_more = (self.verdict == "slower") != more_is_better
            change = estimate.low - 1 if is_about_more else 1 - estimate.high
            return change > self.beyond
        return (estimate.verdict == self.verdict) != self.negated


def gate(text: str) -> Gate:
    """Read `slower`, `slower > 1%`, `not faster` and the like."""
    match = _FORM.fullmatch(text)
    verdicts = get_args(Verdict)
    for verdict in verdicts:
        if match is None or match[2] != verdict:
            continue
        if match[3] is None or (verdict in ("faster", "slower") and not match[1]):
            return Gate(text.strip(), bool(match[1]), verdict, float(match[3] or 0) / 100)
    raise argparse.ArgumentTypeError(
        f"{text!r} is not a condition such as 'slower > 1%', 'not faster' or 'inconclusive' "
        f"(verdicts: {', '.join(verdicts)})"
    )
