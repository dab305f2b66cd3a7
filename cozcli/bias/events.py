"""Which hardware events this machine can count: those that Linux names itself, those that it lists for the
processor, and the one that counts loads which a store 4096 bytes away holds up, where that is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from cozcli.compare.counters import HARDWARE, Event, check_events
from cozcli.errors import CozError

_CACHE, _RAW = 3, 4
CYCLES = Event("cycles", HARDWARE, 0)
#: In the order of enum perf_hw_id; cycles are not among them.
_GENERIC = (
    *("instructions", "cache-references", "cache-misses", "branches", "branch-misses", "bus-cycles"),
    *("stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles"),
)
#: In the order of enum perf_hw_cache_id and perf_hw_cache_op_id.
_CACHES = ("L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node")
_OPERATIONS = ("load", "store", "prefetch")
#: Of the processor: on hybrid ones that of the large cores.
_DEVICES = ("cpu", "cpu_core")
_SYSFS = Path("/sys/bus/event_source/devices")
#: Raw codes (umask, event): LD_BLOCKS_PARTIAL.ADDRESS_ALIAS of Intel up to Ice Lake, LD_BLOCKS.ADDRESS_ALIAS
#: from Golden Cove on; ls_bad_status2.stli_other of AMD, which counts other conflicts with stores as well.
_ALIAS_BEFORE, _ALIAS_SINCE, _ALIAS_AMD = 0x0107, 0x0403, 0x0224
_SINCE = re.compile(r"alderlake|sapphire|raptor|meteor|emerald|granite|arrow|lunar|panther", re.I)
RAW = re.compile(r"r[0-9a-f]{1,16}")


def countable(wanted: str, sysfs: Path = _SYSFS) -> list[Event]:
    """Events besides cycles that can be counted here. wanted: `all`, or names and raw codes with commas.

    Raises:
        CozError: cycles cannot be counted, with which all is correlated, or an event that is named cannot.
    """
    check_events([CYCLES])
    known = {event.name: event for event in _events(sysfs)}
    chosen = []
    for name in wanted.split(","):
        if name == "all":
            chosen += [event for event in known.values() if _can_count(event)]
        else:
            event = known.get(name) or Event(name, _device(sysfs)[1], int(name[1:], 16))
            check_events([event])
            chosen.append(event)
    return list(dict.fromkeys(chosen))


def names(sysfs: Path = _SYSFS) -> list[str]:
    """What `countable` knows beside raw codes, whether this machine has it or not."""
    return [event.name for event in _events(sysfs)]


def _can_count(event: Event) -> bool:
    try:
        check_events([event])
    except CozError:
        return False
    return True


def _events(sysfs: Path) -> Iterator[Event]:
    for number, name in enumerate(_GENERIC, 1):
        yield Event(name, HARDWARE, number)
    for cache, where in enumerate(_CACHES):
        for operation, how in enumerate(_OPERATIONS):
            plural = "es" if how.endswith("ch") else "s"
            yield Event(f"{where}-{how}{plural}", _CACHE, cache | operation << 8)
            yield Event(f"{where}-{how}-misses", _CACHE, cache | operation << 8 | 1 << 16)
    folder, kind = _device(sysfs)
    listed = {"cycles", "cpu-cycles", *_GENERIC}
    for path in sorted(folder.glob("events/*")):
        if path.name not in listed and not path.name.endswith((".scale", ".unit", ".snapshot")):
            try:
                yield Event(path.name, kind, *_configuration(folder, path.read_text()))
            except (OSError, ValueError):
                continue  # a field that only newer kernels have
    alias = _alias(folder)
    if alias is not None:
        yield Event("address-alias", kind, alias)


def _device(sysfs: Path) -> tuple[Path, int]:
    """The processor's folder, and the type of its raw events."""
    for name in _DEVICES:
        try:
            return sysfs / name, int((sysfs / name / "type").read_text())
        except (OSError, ValueError):
            continue
    return sysfs / _DEVICES[0], _RAW


def _alias(folder: Path) -> int | None:
    vendor = _read(Path("/proc/cpuinfo"))
    if "AuthenticAMD" in vendor:
        return _ALIAS_AMD
    if "GenuineIntel" not in vendor:
        return None
    return _ALIAS_SINCE if _SINCE.search(_read(folder / "caps/pmu_name")) else _ALIAS_BEFORE


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _configuration(folder: Path, text: str) -> tuple[int, int]:
    """config and config1 of `event=0xcd,umask=0x1,ldat=3`.

    Each field's bits are in a file of `format`, as `config:0-7,32-35`.

    Raises:
        OSError, ValueError: a field is unknown.
    """
    words = {"config": 0, "config1": 0}
    for field in text.strip().split(","):
        name, _, value = field.partition("=")
        word, _, bits = (folder / "format" / name).read_text().strip().partition(":")
        if word not in words:
            raise ValueError(word)
        left = int(value or "1", 0)
        for part in bits.split(","):
            first, _, last = part.partition("-")
            width = int(last or first) - int(first) + 1
            words[word] |= (left & ((1 << width) - 1)) << int(first)
            left >>= width
    return words["config"], words["config1"]
