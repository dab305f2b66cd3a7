"""Texts of `coz doctor` about the machine and a program."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cozcli.errors import Problem
from cozcli.messages import count


def best_sampling(release: str) -> Problem:
    """The runtime's first choice."""
    return Problem(
        f"perf events are allowed, in the best way (perf-trap with time in the kernel, Linux {release})"
    )


def user_mode_sampling(release: str, *, is_old: bool) -> Problem:
    """The runtime's first choice, without the kernel."""
    return Problem(
        f"perf events are allowed (perf-trap, Linux {release}), but not in the kernel: time in page "
        "faults, and in system calls that Coz does not intercept, counts for no line.",
        "Linux 6.15 or newer, if that matters."
        if is_old
        else "if that matters, as root: sysctl kernel.perf_event_paranoid=1   (or coz run --sampling timer)",
    )


def second_best_sampling(reason: str) -> Problem:
    """Perf events, but not with the signal that waits for the thread. `reason`: empty for an old kernel."""
    return Problem(
        f"perf events are allowed, but not in the best way ({reason}): each thread needs a descriptor "
        "of its own, and what profiling costs is not taken out of effects."
    )


def old_kernel(release: str) -> Problem:
    """The kernel is why."""
    return Problem(
        second_best_sampling(f"Linux {release} is older than 5.19").text,
        "a newer kernel, if there are many short threads.",
    )


def perf_refused(reason: str) -> Problem:
    """The kernel does not say why."""
    return Problem(_refused(reason), "ask who runs this machine: a security module may forbid them.")


def perf_refused_by_setting(reason: str, paranoid: int) -> Problem:
    """kernel.perf_event_paranoid."""
    return Problem(
        f"{_refused(reason)} kernel.perf_event_paranoid is {paranoid}.",
        "as root: sysctl kernel.perf_event_paranoid=2   (to keep it: a file in /etc/sysctl.d). In a "
        "container, on its host.",
    )


def perf_refused_by_filter(reason: str) -> Problem:
    """A container's filter on system calls."""
    return Problem(
        f"{_refused(reason)} A filter on system calls (seccomp), as of a container, forbids them.",
        "give the container perf_event_open: docker run --cap-add PERFMON, or --security-opt "
        "seccomp=FILE with a profile that allows it.",
    )


def _refused(reason: str) -> str:
    return f"perf events are refused ({reason}): a timer takes the samples instead, less exactly."


def one_processor(of_machine: int) -> Problem:
    """Threads take turns."""
    return Problem(
        f"{_processors(1, of_machine)}: threads take turns, so that effects are less exact where more than "
        "one computes.",
        "a machine with more, or no limits (taskset, cpusets), if the program has several busy threads.",
    )


def processors(number: int, of_machine: int) -> Problem:
    """Enough of them."""
    return Problem(
        f"{_processors(number, of_machine)}: effects are most exact with no more than {number} busy threads"
    )


def _processors(number: int, of_machine: int) -> str:
    several = f"{number} processor{'s' if number > 1 else ''}"
    return several if number == of_machine else f"{several}, of {of_machine}, by the affinity mask"


def quota(allowed: float, number: int) -> Problem:
    """A control group stops threads."""
    return Problem(
        f"a control group allows {allowed:.3g} of {number} processors: threads are stopped when they have "
        f"used that up. {max(math.ceil(allowed), 1)} of them count; with more busy threads, effects come "
        "from shares of processor time.",
        "lift the limit for the profile (docker run without --cpus; CPUQuota= of a unit), or use "
        f"{max(int(allowed), 1)} busy thread(s) at most.",
    )


def quiet(load: float) -> Problem:
    """No other program computes."""
    return Problem(f"the machine is quiet (load {load:.2g})")


def busy(load: float, number: int) -> Problem:
    """Somebody else does."""
    return Problem(
        f"other programs are busy: load {load:.2g} on {number} processors in the last "
        "minute. Intervals become wider, and effects too small where threads have to wait for a processor.",
        "profile when the machine is quiet, or for longer.",
    )


def stolen(share: float) -> Problem:
    """A virtual machine's processors are used by others."""
    return Problem(
        f"a virtual machine whose host has given {share:.0%} of its time to others since it "
        "started. Slow spells are measured and taken out of effects, but widen intervals.",
        "profile for longer, or where processors are not shared.",
    )


def sanitizer_preloaded(library: str) -> Problem:
    """Or valgrind."""
    return Problem(
        f"LD_PRELOAD has {library}, which replaces what Coz has to see.",
        "unset LD_PRELOAD, and profile a build without sanitizers.",
    )


def coz_preloaded(library: str) -> Problem:
    """Twice is once too often."""
    return Problem(
        f"LD_PRELOAD has {library} already, which is Coz, or the classic one.",
        "unset LD_PRELOAD; coz run sets it.",
    )


def others_preloaded(libraries: Sequence[str]) -> Problem:
    """They answer some calls before we see them."""
    return Problem(
        f"LD_PRELOAD has {', '.join(libraries)}. They come before Coz, which does not see calls that "
        "they answer themselves (locks, threads, signals).",
        "unset it, unless the program needs it; an allocator does no harm.",
    )


def nothing_preloaded() -> Problem:
    """As it should be."""
    return Problem("no other library is preloaded")


def program_fits(program: str) -> Problem:
    """It can be profiled."""
    return Problem(f"{program} is dynamically linked, for this machine, without privileges")


def scope(what: str, size: int, files: int) -> Problem:
    """What can be selected."""
    where = f" of {count(files, 'file')}" if files else ""
    return Problem(f"{count(size, what)}{where} can be selected; frame pointers are not needed")


def has_macros() -> Problem:
    """Progress points are compiled in."""
    return Problem("the program has progress macros (COZ_PROGRESS, COZ_BEGIN or the like)")


def no_macros(has_regions: bool) -> Problem:
    """None are."""
    regions = " It has regions, but they are no progress." if has_regions else ""
    return Problem(
        "no progress macros were compiled into the program, so that coz would not know what progress is."
        f"{regions}",
        "name a line or function that is reached once for each unit of work, as the body of the main loop: "
        "coz run --progress FILE:LINE (coz lines PROGRAM lists what there is); or include coz.h and write "
        "COZ_PROGRESS; there.",
    )


def sanitized() -> Problem:
    """Built with a sanitizer."""
    return Problem(
        "built with a sanitizer, which replaces what Coz has to see, and changes what is slow.",
        "profile a build without -fsanitize.",
    )
