"""JSON objects that something else has written: decoding a line, and checked access to its fields."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

#: 292 years of nanoseconds: no honest time or count is larger (an unsigned underflow is).
MAX_NUMBER = 2**63 - 1
#: How the runtime begins a profile, whose first record may be long.
OWN_PROFILE = b'{"type":"run","format":"coz-profile",'


class RecordError(ValueError):
    """A record of a known type whose contents cannot be true."""


def decode_object(text: str | bytes) -> dict[str, object] | None:
    """The JSON object of one line; None if it is anything else, or nested too deeply."""
    try:
        values = json.loads(text, parse_constant=_keep_name)
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


def _keep_name(name: str) -> object:
    """NaN and Infinity are not JSON; kept as text, each field's own check refuses them."""
    return name


class Fields:
    """Checked access to the fields of one JSON object. Every method raises `RecordError`."""

    def __init__(self, values: Mapping[str, object]) -> None:
        self._values = values

    def has(self, key: str) -> bool:
        """Is the field there at all?"""
        return key in self._values

    def natural(self, key: str, default: int | None = None) -> int:
        """An integer from 0 to `MAX_NUMBER`; floats without a fraction are taken as integers."""
        value = self._get(key, default)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise RecordError(f"{key!r} is not a whole number")
        if not 0 <= value <= MAX_NUMBER:
            raise RecordError(f"{key!r} is out of range")
        return value

    def positive(self, key: str) -> int:
        """An integer from 1 to `MAX_NUMBER`."""
        value = self.natural(key)
        if value == 0:
            raise RecordError(f"{key!r} is zero")
        return value

    def real(self, key: str, largest: float) -> float:
        """A finite number from 0 to `largest`."""
        value = self._get(key, None)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise RecordError(f"{key!r} is not a number")
        if not 0 <= value <= largest or not math.isfinite(value):
            raise RecordError(f"{key!r} is out of range")
        return float(value)

    def text(self, key: str, default: str | None = None) -> str:
        """A string; must not be empty if it has no default."""
        value = self._get(key, default)
        if not isinstance(value, str):
            raise RecordError(f"{key!r} is not a string")
        if default is None and not value:
            raise RecordError(f"{key!r} is empty")
        return value

    def flag(self, key: str) -> bool:
        """True or false; false if absent."""
        return self._get(key, False) is True

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings; empty if absent."""
        return tuple(item for item in self._list(key) if isinstance(item, str))

    def reals(self, key: str, largest: float) -> list[float]:
        """A list of finite numbers from 0 to `largest`; empty if absent."""
        return [Fields({key: item}).real(key, largest) for item in self._list(key)]

    def record(self, key: str) -> Fields:
        """An object."""
        value = self._get(key, None)
        if not isinstance(value, dict):
            raise RecordError(f"{key!r} is not an object")
        return Fields(value)

    def objects(self, key: str) -> list[Fields]:
        """A list of objects; empty if absent."""
        found = []
        for item in self._list(key):
            if not isinstance(item, dict):
                raise RecordError(f"{key!r} holds something that is not an object")
            found.append(Fields(item))
        return found

    def rows(self, key: str, length: int) -> list[list[object]]:
        """A list of lists of `length` values each, which are not checked; empty if absent."""
        found = []
        for row in self._list(key):
            if not isinstance(row, list) or len(row) != length:
                raise RecordError(f"{key!r} holds something that is not {length} numbers")
            found.append(row)
        return found

    def numbers(self, key: str, length: int) -> list[list[int]]:
        """A list of lists of `length` integers each; empty if absent."""
        return [[Fields({key: item}).natural(key) for item in row] for row in self.rows(key, length)]

    def counts(self, key: str) -> dict[str, int]:
        """An object of non-negative integers; empty if absent."""
        value = self._get(key, {})
        if not isinstance(value, dict):
            raise RecordError(f"{key!r} is not an object")
        return {name: Fields(value).natural(name) for name in value}

    def _list(self, key: str) -> list[object]:
        value = self._get(key, [])
        if not isinstance(value, list):
            raise RecordError(f"{key!r} is not a list")
        return value

    def _get(self, key: str, default: object) -> object:
        value = self._values.get(key, default)
        if value is None:
            if default is None:
                raise RecordError(f"{key!r} is missing")
            return default
        return value
