"""What lies at a slow place: the two objects whose accesses agree in the low twelve bits of their addresses.

The helper runs the program there once more, by single steps for some thousand instructions at several times,
and lists loads that closely follow a store to another address with the same low bits. That is a model of how
processors tell loads from stores, not a measurement: it says which objects can be at fault where the time has
shown that something is.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cozcli.bias import messages
from cozcli.bias.factors import Movers, Place, layout
from cozcli.bias.result import PAGE
from cozcli.compare.personality import randomisation
from cozcli.compare.trial import environment_of
from cozcli.errors import Problem

#: Pairs that a finding names, and the share of the most frequent one's count that another needs.
_MOST, _SHARE = 3, 0.1
#: In so many loads of a thousand, at least, a pair must have met.
_OFTEN = 2.0
#: At a slow place a pair meets that many times as often as elsewhere.
_MORE = 5.0
_SECONDS = 120


class Thing(NamedTuple):
    """One side of a pair, as the helper says it; begin, size: 0 if unknown."""

    kind: str
    name: str
    begin: int
    size: int
    address: int
    line: str


class Pair(NamedTuple):
    """often: how many of a thousand loads waited for the store, in the model."""

    load: Thing
    store: Thing
    often: float

    @property
    def key(self) -> tuple[str, str]:
        """What is the same at other places."""
        return _key(self.load), _key(self.store)

    def text(self) -> str:
        """For people."""
        apart = self.store.address - self.load.address
        # Loads and stores of several bytes may overlap by a part.
        rest = (apart + PAGE // 2) % PAGE - PAGE // 2
        beside = f" {'+' if rest > 0 else '-'} {abs(rest)}" if rest else ""
        # How many pages the kernel has left between the stack and others is nobody's concern.
        pages = abs(apart - rest) // PAGE if self.load.kind == self.store.kind else "n"
        line = f", loaded in {self.load.line}" if self.load.line else ""
        return f"{_described(self.store)} and {_described(self.load)}: {PAGE}·{pages}{beside} apart{line}"


class Names(NamedTuple):
    """pairs: for people. residue: distance of the first pair's objects modulo PAGE; None without one."""

    pairs: Sequence[str]
    residue: int | None = None


class Objects:
    """Finds names for one program.

    seconds: that one run takes. helper: None for no names. doubts: is told why there are none.
    """

    def __init__(
        self,
        command: Sequence[str],
        movers: Movers,
        stdin: str,
        seconds: float,
        helper: Path | None,
        doubts: list[Problem],
    ) -> None:
        self._command, self._movers, self._stdin = command, movers, stdin
        self._seconds, self._helper = seconds, helper
        self._doubts = doubts

    def at(self, slow: Place, other: Place) -> Names:
        """Pairs that meet at a slow place, and much less at another."""
        return _named(self._only(slow, other))

    def of_heap(self, slow: Place, other: Place) -> Names:
        """Those of them with a block of the heap."""
        found = self._only(slow, other)
        return _named([pair for pair in found if "block" in (pair.load.kind, pair.store.kind)])

    def _only(self, slow: Place, other: Place) -> list[Pair]:
        here = self._pairs(slow)
        there = self._pairs(other) if here else None
        if not here or there is None:
            return []
        # Several pairs may have one key; the most frequent comes first.
        elsewhere = {pair.key: pair.often for pair in reversed(there)}
        return [pair for pair in here if pair.often > _MORE * elsewhere.get(pair.key, 0.0)]

    def _pairs(self, place: Place) -> list[Pair] | None:
        """None: it cannot be found out."""
        if self._helper is None:
            return None
        side = self._movers.side(self._command, place)
        words = [str(self._helper), "accesses", str(int(1e6 * self._seconds) + 1), *side.command]
        try:
            with randomisation(place.randomised), open(self._stdin, "rb") as source:
                ended = subprocess.run(
                    words,
                    stdin=source,
                    capture_output=True,
                    env=environment_of(side, layout(place)),
                    timeout=_SECONDS,
                )
            answer: dict[str, Any] = json.loads(ended.stdout)
            if "pairs" not in answer:
                raise ValueError(answer.get("message", "no message"))
            return parse(answer)
        except (OSError, ValueError, KeyError, TypeError, subprocess.TimeoutExpired) as error:
            doubt = messages.unnamed(str(error))
            if doubt not in self._doubts:
                self._doubts.append(doubt)
            return None


def parse(answer: Mapping[str, Any]) -> list[Pair]:
    """The helper's answer (docs/launch_contract.md), the most frequent pair first."""
    loads = max(1, answer["loads"])
    found = [
        Pair(_thing(pair["load"]), _thing(pair["store"]), 1000 * pair["count"] / loads)
        for pair in answer["pairs"]
    ]
    return sorted(found, key=lambda pair: -pair.often)


def _thing(answer: Mapping[str, Any]) -> Thing:
    return Thing(*(answer[field] for field in Thing._fields))


def _named(pairs: Sequence[Pair]) -> Names:
    if not pairs or pairs[0].often < _OFTEN:
        return Names([])
    kept = [pair for pair in pairs if pair.often > _SHARE * pairs[0].often][:_MOST]
    load, store = kept[0].load, kept[0].store
    apart = store.begin - load.begin if load.begin and store.begin else store.address - load.address
    return Names([pair.text() for pair in kept], apart % PAGE)


def _key(thing: Thing) -> str:
    # Where blocks are moved they are larger.
    return thing.name.partition(" from ")[2] or thing.name if thing.kind == "block" else thing.name


def _described(thing: Thing) -> str:
    where = "" if thing.kind in ("block", "other") else f" ({thing.kind})"
    return f"{thing.name}{where}"
