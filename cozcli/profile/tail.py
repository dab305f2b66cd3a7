"""The end of a profile that `coz run` writes: cheap to read, and to read again as it grows.

Only lines that are complete are taken; what is still being written is taken next time. Experiments are
counted; of the other records the last one is kept, and parsed when it is asked for. A line that is no record
is passed over: another process may have written into the file, and `coz report` will say so.

Not for several threads at a time.
"""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from cozcli.profile.fields import RecordError, decode_object

if TYPE_CHECKING:
    from cozcli.profile.records import LoadRecord, Record, RunRecord, SamplesRecord

#: How each record begins.
_TYPE = re.compile(rb'\{ ?"type": ?"(\w+)"')
#: A record of more bytes than this is read in several parts.
_CHUNK = 1 << 20
#: The types of records of which the last one is kept.
_KEPT = (b"run", b"samples", b"load")


class ProfileTail:
    """What stands in a profile from a position on.

    `locations`: how many experiments each (main) target had. `companions`: targets of combined windows.
    """

    def __init__(self, profile: Path, beginning: int) -> None:
        self._profile = profile
        self._beginning = self._position = beginning
        self._incomplete = b""
        self._last: dict[bytes, bytes] = {}
        self.experiments = 0
        self.locations: dict[str, int] = {}
        self.companions: set[str] = set()

    def read(self) -> None:
        """Take in what was added since the last time.

        Raises:
            OSError: the profile cannot be read.
        """
        with self._profile.open("rb") as stream:
            stream.seek(self._position)
            while new := stream.read(_CHUNK):
                self._position += len(new)
                *lines, self._incomplete = (self._incomplete + new).split(b"\n")
                for line in lines:
                    self._take(line)

    @property
    def targets(self) -> int:
        """How many targets the experiments sped up."""
        return len(self.locations.keys() | self.companions)

    @property
    def run(self) -> RunRecord | None:
        """How the last run began."""
        return _parsed(self._last.get(b"run"))  # type: ignore[return-value]

    @property
    def samples(self) -> SamplesRecord | None:
        """The last counts of the last run."""
        return _parsed(self._last.get(b"samples"))  # type: ignore[return-value]

    @property
    def load(self) -> LoadRecord | None:
        """The rate of arrivals, where the last run measured it."""
        return _parsed(self._last.get(b"load"))  # type: ignore[return-value]

    def samples_of_runs(self) -> list[SamplesRecord]:
        """The last counts of each run that has any.

        Raises:
            OSError: the profile cannot be read.
        """
        found = []
        latest = b""
        with self._profile.open("rb") as stream:
            stream.seek(self._beginning)
            for line in chain(stream, [b'{"type":"run"}\n']):
                kind = _TYPE.match(line) if line.endswith(b"\n") else None
                if kind and kind[1] == b"samples":
                    latest = line
                elif kind and kind[1] == b"run":
                    found.append(_parsed(latest))
                    latest = b""
        return [samples for samples in found if samples is not None]  # type: ignore[misc]

    def _take(self, line: bytes) -> None:
        found = _TYPE.match(line)
        kind = found[1] if found else b""
        if kind == b"experiment":
            self._count(line)
            return
        if kind == b"target":
            location = (decode_object(line) or {}).get("location")
            if isinstance(location, str):
                self.companions.add(location)
        if kind == b"run":
            self._last.clear()
        if kind in _KEPT:
            self._last[kind] = line

    def _count(self, line: bytes) -> None:
        # Checking all of an experiment's fields takes longer than a user should wait for thousands of them.
        values = decode_object(line)
        location = None if values is None else values.get("location")
        if values is None or not isinstance(location, str):
            return
        self.experiments += 1
        if values.get("kind") != "none":  # load alone
            self.locations[location] = self.locations.get(location, 0) + 1


def _parsed(line: bytes | None) -> Record | None:
    values = decode_object(line) if line else None
    if values is None:
        return None
    from cozcli.profile.parsing import parse_record  # which most runs need not wait for

    try:
        return parse_record(values)
    except RecordError:
        return None


def read_tail(profile: Path, beginning: int = 0) -> ProfileTail:
    """All that there is from a position on.

    Raises:
        OSError: the profile cannot be read.
    """
    tail = ProfileTail(profile, beginning)
    tail.read()
    return tail
