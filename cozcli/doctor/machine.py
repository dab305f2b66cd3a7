"""Findings about the machine: sampling, processors, containers, virtual machines, preloaded libraries.

`Machine` has what the kernel says, read below a root folder that tests may choose.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from cozcli.doctor import messages
from cozcli.doctor.finding import OK, PROBLEM, WARNING, Finding, of_problem

#: The runtime's first choice needs it (common/perf_event.cpp).
TRAP_SINCE, KERNEL_SINCE = (5, 19), (6, 15)
#: Of processor time: what hosts take away, and others use, without being mentioned.
STOLEN, BUSY = 0.01, 0.25
#: Libraries that take over what the runtime does, or that it would take from them.
SANITIZERS = re.compile(r"lib(asan|tsan|msan|ubsan|lsan|clang_rt\.(a|t|m|ub|l)san[^/]*|vgpreload[^/]*)\b")


class Machine:
    """What the kernel says of this process and machine; nothing where a file is missing."""

    def __init__(self, root: Path = Path("/"), environment: Mapping[str, str] | None = None) -> None:
        self._root = root
        self.environment = os.environ if environment is None else environment
        self.processors = len(os.sched_getaffinity(0))
        self.all_processors = os.cpu_count() or self.processors

    def read(self, path: str) -> str:
        """A small file of the kernel's; empty if it cannot be read."""
        with contextlib.suppress(OSError, UnicodeDecodeError):
            return (self._root / path).read_text().strip()
        return ""

    @property
    def release(self) -> str:
        """As `uname -r`."""
        return self.read("proc/sys/kernel/osrelease") or os.uname().release

    @property
    def paranoid(self) -> int | None:
        """kernel.perf_event_paranoid; None without perf events."""
        text = self.read("proc/sys/kernel/perf_event_paranoid")
        return int(text) if re.fullmatch(r"-?[0-9]+", text) else None

    @property
    def has_seccomp(self) -> bool:
        """Is there a filter on this process's system calls, as in a container?"""
        return re.search(r"^Seccomp:\s*2$", self.read("proc/self/status"), re.MULTILINE) is not None

    @property
    def quota(self) -> float | None:
        """Processors that control groups let this process use; None for all."""
        found = [quota for quota in map(self._quota_of, self._groups()) if quota is not None]
        return min(found, default=None)

    @property
    def stolen(self) -> float:
        """Since the start, the part of processor time that the host gave to others."""
        fields = self.read("proc/stat").partition("\n")[0].split()[1:9]
        times: list[int] = [int(field) for field in fields if field.isdigit()]
        total = sum(times)
        return times[7] / total if len(times) == 8 and total else 0.0

    @property
    def load(self) -> float:
        """Threads that ran or wanted to, on average over the last minute."""
        text = self.read("proc/loadavg").partition(" ")[0]
        return float(text) if re.fullmatch(r"[0-9]+\.[0-9]+", text) else 0.0

    def _groups(self) -> list[str]:
        """Folders of this process's control groups and those above, of version 2 and 1."""
        folders = []
        for line in self.read("proc/self/cgroup").splitlines():
            _, controllers, path = (*line.split(":", 2), "", "")[:3]
            if controllers and "cpu" not in controllers.split(","):
                continue
            base = "sys/fs/cgroup/cpu" if controllers else "sys/fs/cgroup"
            parts = [part for part in path.split("/") if part not in ("", "..")]
            folders += ["/".join([base, *parts[:depth]]) for depth in range(len(parts) + 1)]
        return folders

    def _quota_of(self, folder: str) -> float | None:
        words = self.read(f"{folder}/cpu.max").split()
        if not words:
            words = [self.read(f"{folder}/cpu.cfs_quota_us"), self.read(f"{folder}/cpu.cfs_period_us")]
        if len(words) != 2 or not all(word.isdigit() for word in words) or words[1] == "0":
            return None  # "max", or -1
        return int(words[0]) / int(words[1])


class Refused(NamedTuple):
    """What the kernel said to each way of sampling by perf; empty if it allows it.

    kernel: perf-trap, time in the kernel included.
    """

    trap: str = ""
    kernel: str = ""
    signal: str = ""


def examine_machine(machine: Machine, refused: Refused) -> list[Finding]:
    """All findings."""
    return [
        _sampling(machine, refused),
        _processors(machine),
        *_quota(machine),
        _others(machine),
        *_stolen(machine),
        _preload(machine),
    ]


def _sampling(machine: Machine, refused: Refused) -> Finding:
    subject, release = "sampling", machine.release
    if not refused.trap and not refused.kernel:
        return of_problem(OK, subject, messages.best_sampling(release))
    if not refused.trap:
        is_old = _version(release) < KERNEL_SINCE
        return of_problem(OK, subject, messages.user_mode_sampling(release, is_old=is_old))
    if not refused.signal:
        is_old = _version(release) < TRAP_SINCE
        found = messages.old_kernel(release) if is_old else messages.second_best_sampling(refused.trap)
    elif machine.paranoid is not None and machine.paranoid > 2:
        found = messages.perf_refused_by_setting(refused.signal, machine.paranoid)
    elif machine.has_seccomp:
        found = messages.perf_refused_by_filter(refused.signal)
    else:
        found = messages.perf_refused(refused.signal)
    return of_problem(WARNING, subject, found)


def _processors(machine: Machine) -> Finding:
    if machine.processors == 1:
        return of_problem(WARNING, "processors", messages.one_processor(machine.all_processors))
    return of_problem(OK, "processors", messages.processors(machine.processors, machine.all_processors))


def _quota(machine: Machine) -> list[Finding]:
    quota = machine.quota
    if quota is None or quota >= machine.processors:
        return []
    return [of_problem(WARNING, "quota", messages.quota(quota, machine.processors))]


def _others(machine: Machine) -> Finding:
    if machine.load <= BUSY * machine.processors:
        return of_problem(OK, "load", messages.quiet(machine.load))
    return of_problem(WARNING, "load", messages.busy(machine.load, machine.processors))


def _stolen(machine: Machine) -> list[Finding]:
    if machine.stolen <= STOLEN:
        return []
    return [of_problem(WARNING, "host", messages.stolen(machine.stolen))]


def _preload(machine: Machine) -> Finding:
    libraries = [name for name in re.split(r"[: ]+", machine.environment.get("LD_PRELOAD", "")) if name]
    for name in libraries:
        if SANITIZERS.search(name):
            return of_problem(PROBLEM, "preload", messages.sanitizer_preloaded(name))
        if Path(name).name == "libcoz.so":
            return of_problem(PROBLEM, "preload", messages.coz_preloaded(name))
    if libraries:
        return of_problem(WARNING, "preload", messages.others_preloaded(libraries))
    return of_problem(OK, "preload", messages.nothing_preloaded())


def _version(release: str) -> tuple[int, int]:
    match = re.match(r"(\d+)\.(\d+)", release)
    return (int(match[1]), int(match[2])) if match else (0, 0)
