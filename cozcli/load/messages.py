"""Texts of load amplification: of `coz run`, `coz amp` and reports."""

from __future__ import annotations

from collections.abc import Sequence

from cozcli.errors import Problem
from cozcli.messages import count, duration, listed, printable


def amplified_without_samples() -> Problem:
    """--arrival-speedup with --sampling off."""
    return Problem(
        "load is amplified by delays, which threads serve when they are sampled, and with --sampling off "
        "there are neither samples nor windows.",
        "leave out --sampling off.",
    )


def busy_pauses_beside_lines() -> Problem:
    """--busy-pauses where lines are sped up, or load is not amplified."""
    return Problem(
        "--busy-pauses is for measurements of load alone; experiments on lines would mistake a processor "
        "that a paused thread keeps busy for one that the program needs.",
        "use coz amp without --lines, or --arrival-speedup with --fixed-speedup 0 and no targets; or leave "
        "--busy-pauses out (coz.toml may name it, too).",
    )


def busy_pauses_under_quota(allowed: float) -> Problem:
    """--busy-pauses where a control group limits processor time."""
    return Problem(
        f"a control group allows {allowed:.3g} processors: busy pauses would use that up, and the program "
        "would be stopped for it.",
        "lift the limit (docker run without --cpus; CPUQuota= of a unit), or leave --busy-pauses out.",
    )


def both_pauses(levels: int) -> Problem:
    """Runs with and without --busy-pauses at one load."""
    return Problem(
        f"{count(levels, 'load')} {'was' if levels == 1 else 'were'} measured with and without "
        "--busy-pauses: only what was measured with it counts there, as caches cool while threads sleep.",
        "begin a new profile (-o) for runs of one kind.",
    )


def end_to_end_unmeasured(what: str) -> Problem:
    """--end-to-end where the time between two arrivals would have to be measured first."""
    return Problem(
        "with --end-to-end the whole run is one experiment, so that no part of it is left in which the "
        f"rate of arrivals could be measured, as {what} needs.",
        "measure it in a run with --arrival-speedup 0 --fixed-speedup 0, whose report shows the time "
        "between arrivals; then name a time: --arrival-speedup 750us. Or let coz amp do both.",
    )


def arrival_never_ran(name: str) -> Problem:
    """--arrival LOCATION, and no visit."""
    return Problem(
        f"no request arrived at {name}: the program never came there, so load was not amplified there.",
        "choose a location that each request passes, or give the program input that leads there.",
    )


def no_arrivals(uncharged: Sequence[str]) -> Problem:
    """Not one arrival was counted."""
    if uncharged:
        return Problem(
            f"load was not amplified: {listed(uncharged)} only counts arrivals (a macro of the classic "
            "header, or a point without a macro), and they have to be sped up where they happen.",
            "compile the program with this coz.h, or name the location with --arrival.",
        )
    return Problem(
        "load was not amplified: the program has no arrival point, or never came to one. What was "
        "measured is the program at the load it had.",
        "write COZ_ARRIVAL (or COZ_BEGIN) where a request arrives, or name the location: --arrival FILE:LINE",
    )


def too_few_arrivals(arrivals: int) -> Problem:
    """--arrival-speedup 25% or --arrival-rate, and the rate could not be told."""
    return Problem(
        f"{count(arrivals, 'request')} came in all, too few (or too late) to tell how often they do, so "
        "that load was never amplified and nothing measured.",
        "run longer, or name a time instead: --arrival-speedup 750us.",
    )


def much_clipped(speedup: int, lost: float) -> Problem:
    """d_a is not below what there is between two arrivals."""
    return Problem(
        f"each request was to arrive {duration(speedup)} earlier, but in a thread they follow each other "
        f"too closely: {lost:.0%} of it could not be done. The load reached is another than was asked for, "
        "and these windows make no curve.",
        "use an --arrival-speedup well below the time between two requests, which a run with "
        "--arrival-speedup 0 tells. If they come in bursts, or each in a thread of its own, see "
        "docs/commands/amp.md.",
    )


def load_reached(arrivals: int, interval: float, speedup: int) -> str:
    """What --arrival-speedup came to."""
    came = f"{count(arrivals, 'request')} arrived, every {duration(interval)} in a thread"
    if speedup == 0:
        return f"{came}; --arrival-speedup can be anything well below that"
    return (
        f"{came}, and each {duration(speedup)} earlier: as if {interval / (interval - speedup):.2f} times "
        f"as many came (load +{speedup / interval:.0%})"
    )


def sweep_cannot_start(status: int) -> Problem:
    """The first run of `coz amp` added nothing to the profile."""
    return Problem(
        f"the first run ended with status {status} and measured nothing, so that no other was begun.",
        "run the program by itself, or by coz run, to see what is wrong.",
    )


def sweep_adapted(excess: float) -> Problem:
    """The load is higher than planned."""
    return Problem(
        f"the first load came out {excess:.1f} times as high as planned. That happens where several threads "
        "receive requests that a client sends at fixed times: the pauses for one thread's requests bring "
        "those of the others forward, too. The remaining runs use shorter times, and all loads are shown as "
        "arrivals tell.",
    )


def run_of_sweep_failed(level: int, status: int) -> Problem:
    """The first run at a level that ended with another status than 0."""
    return Problem(
        f"a run at a load of {level} % ended with status {status}; what it measured counts nevertheless.",
        "see what it says by coz run with --arrival-speedup; more runs may fail.",
    )


def level_keeps_failing(level: int, runs: int, status: int) -> Problem:
    """No more runs are begun at this level."""
    return Problem(
        f"{runs} runs at a load of {level} % failed in succession, with status {status}: no more follow.",
        "the program may not stand it; distrust what is shown at that load.",
    )


def sweep_keeps_failing(what: str, runs: int, status: int, profile: str) -> Problem:
    """Run after run of `coz amp` ended with another status than 0."""
    return Problem(
        f"{runs} {what} failed, one after another, the last one with status {status}; no other was begun.",
        "run the program by itself to see what is wrong. What was measured is kept: coz report "
        f"{printable(profile)}",
    )


def sweep_without_arrivals(has_windows: bool) -> Problem:
    """The run at base load did not tell the time between two arrivals."""
    if not has_windows:
        return Problem(
            "the run at base load left no window, so that the time between two requests is not known.",
            "let the program run for some seconds, and see that it comes to a progress point: coz run "
            "tells more.",
        )
    return Problem(
        "no requests arrived in the run at base load (or one alone in each thread), so that there is no "
        "load to be amplified.",
        "write COZ_ARRIVAL (or COZ_BEGIN) where a request arrives, in the thread that receives it, or "
        "name the location: --arrival FILE:LINE",
    )


def false_load(arrival_speedup: int, lost: float) -> Problem:
    """A load level that was asked for, but not reached."""
    if lost >= 1:
        return Problem(
            f"results with --arrival-speedup {arrival_speedup}ns left out: no request arrived, so that "
            "load was not amplified.",
            "write COZ_ARRIVAL (or COZ_BEGIN) where a request arrives, or name the location: --arrival "
            "FILE:LINE",
        )
    return Problem(
        f"results with --arrival-speedup {arrival_speedup}ns left out: {lost:.0%} of it could not be done, "
        "because requests follow each other in a thread too closely; the load was another.",
        "use an --arrival-speedup well below the time between two requests; see docs/commands/amp.md.",
    )


def load_limited(limit: float) -> Problem:
    """More was taken off than the threads that requests arrive in wait."""
    busy = "waits for no more than" if limit > 0 else "hardly waits at all:"
    return Problem(
        f"the thread that requests arrive in {busy} {limit:.0%} of the time between two of them. At higher "
        "loads, some of its computing was taken off as well: if it serves the requests, the program can "
        "take no more than this load, and what is shown beyond is false; if it makes them, as a load "
        "generator in the program does, it holds.",
        "keep to lower loads, or mark arrivals in a thread that only receives or makes requests: "
        "docs/commands/amp.md.",
    )


def no_load_reached() -> Problem:
    """Load was to be amplified, and never was."""
    return Problem(
        "no load that was asked for was reached, and nothing else was measured; there is nothing to show.",
        "coz run says, as it ends, how often requests arrive, and why load was not amplified.",
    )
