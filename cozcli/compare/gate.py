"""`--gate`: conditions under which the command ends with status 1, for continuous integration."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from typing import NamedTuple, get_args

from cozcli.compare.result import Estimate, Verdict

STATUS_GATE = 1
_FORM = re.compile(r"\s*(not\s+)?([a-z]+)\s*(?:>\s*([0-9]{1,3}(?:\.[0-9]{1,3})?)\s*%)?\s*")


class Gate(NamedTuple):
    """`text` as given. Fails on `verdict`, or on any other if `negated`; with `beyond`, a fraction, where
    the whole interval lies beyond it, whatever the verdict."""

    text: str
    negated: bool
    verdict: Verdict
    beyond: float | None

    def fails(self, estimate: Estimate, more_is_better: bool = False) -> bool:
        """Does the comparison meet the condition? more_is_better: it is one of rates."""
        if self.beyond is not None:
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
            beyond = None if match[3] is None else float(match[3]) / 100
            return Gate(text.strip(), bool(match[1]), verdict, beyond)
    raise argparse.ArgumentTypeError(
        f"{text!r} is not a condition such as 'slower > 1%', 'not faster' or 'inconclusive' "
        f"(verdicts: {', '.join(verdicts)})"
    )


def gates(
    options: argparse.Namespace, found: Sequence[tuple[str, Estimate]], more_is_better: bool = False
) -> int:
    """The status of the command, and a line for each condition that holds. found: estimates, each with what
    was compared; empty where that is clear.
    """
    failed = [
        f"{each.text}: {name}" if name else each.text
        for each in options.gate
        for name, estimate in found
        if each.fails(estimate, more_is_better)
    ]
    for text in failed:
        print(f"coz: gate: {text}", file=sys.stderr)
    return STATUS_GATE if failed else 0
