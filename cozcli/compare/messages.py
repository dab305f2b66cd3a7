"""Texts of `coz compare`: what it refuses, and what it doubts."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

from cozcli.errors import Problem
from cozcli.messages import count, listed, printable, signal_name


def no_programs() -> Problem:
    """Not two commands on the command line."""
    return Problem(
        "two commands are needed: A, the reference, and B.",
        "write them as: coz compare ./a arguments --- vs ./b arguments",
    )


def not_found(program: str) -> Problem:
    """No such program, or none that may be executed."""
    return Problem(
        f"{printable(program)} is not an executable file, here or in PATH.",
        "nothing was measured; correct the name.",
    )


def too_few_builds(pattern: str, number: int, least: int) -> Problem:
    """{seed} in a program's path matches too few files."""
    return Problem(
        f"{count(number, 'executable file')} match{'es' if number == 1 else ''} {printable(pattern)}; "
        f"at least {least} are needed.",
        "link the program again and again, as with -Wl,--shuffle-sections='*=1', 2, … (lld) or "
        "-Wl,--shuffle-sections=1, 2, … (mold), compiled with -ffunction-sections.",
    )


def no_prediction(profile: str, line: str) -> Problem:
    """--line matches nothing that the profile measured."""
    return Problem(
        f"{printable(profile)} has no effect of {printable(line)} on a throughput point.",
        "coz report lists the lines that it has.",
    )


def cannot_start(program: str, reason: str) -> Problem:
    """The kernel refused to execute it."""
    return Problem(f"{printable(program)} cannot be started ({reason}).", "nothing was compared.")


def failed(name: str, command: Sequence[str], status: int, errors: str, again: str | None) -> Problem:
    """A run that did not end with status 0. again: options of `coz layout replay`, if it applies."""
    end = f"was killed by {signal_name(-status)}" if status < 0 else f"ended with status {status}"
    said = f"; its last words: {printable(errors.splitlines()[-1])}" if errors else ""
    return Problem(
        f"{name} ({printable(shlex.join(command))}) {end}{said}.",
        "only runs that end with status 0 are compared; run the command by itself to see what is wrong"
        + (f", or in the same layout: coz layout replay {again} COMMAND." if again else "."),
    )


def moving_outlasts(name: str) -> Problem:
    """Processes report more time for moving functions than the run took."""
    return Problem(
        f"{name} took less time than moving the functions of its processes: some of them outlive it, and "
        "what they use is not measured.",
        "wait for them before the program ends; or compare with --layout none.",
    )


def no_input(path: str, reason: str) -> Problem:
    """--input cannot be read."""
    return Problem(f"{printable(path)} cannot be read ({reason}).", "name another file with --input.")


def input_read_once(path: str) -> Problem:
    """--input is a pipe or a socket."""
    return Problem(
        f"{printable(path)} is a pipe or a socket: the first run would read it all, and others nothing.",
        "write it to a file, and name that instead.",
    )


def addresses_vary(consequence: str) -> Problem:
    """The kernel does not switch address space randomisation off."""
    return Problem(
        f"address space randomisation cannot be switched off, so {consequence}.",
        "in a container, allow personality(): docker run --security-opt seccomp=unconfined.",
    )


def no_hyperfine(path: str) -> Problem:
    """--import-hyperfine FILE is something else."""
    return Problem(
        f"{printable(path)} is not what hyperfine --export-json writes.", "name such a file to import."
    )


def ended_early(failure: Problem, pairs: int) -> Problem:
    """A run failed, but there are results."""
    return failure._replace(text=f"{failure.text} The results are those of the {pairs} pairs before.")


def hyperfine_too_short(path: str, least: int) -> Problem:
    """Too few commands or runs."""
    return Problem(
        f"{printable(path)} does not have two commands with {least} runs each.",
        "let hyperfine run both, more often (--runs).",
    )


def hyperfine_without_time(path: str, command: str) -> Problem:
    """hyperfine has subtracted the start of a shell, and nothing is left."""
    return Problem(
        f"{printable(path)} has runs of {printable(command)} that took no time, or none that is a number.",
        "measure a command that takes longer, or without a shell (hyperfine -N).",
    )


def hyperfine_failed(path: str, command: str) -> Problem:
    """Runs that ended with another status than 0."""
    return Problem(
        f"{printable(path)} has runs of {printable(command)} that failed: their times tell nothing.",
        "run hyperfine without --ignore-failure, and see why the command fails.",
    )


def unpaired(path: str) -> Problem:
    """What hyperfine's runs cannot tell."""
    return Problem(
        f"in {printable(path)} each command's runs were made in a row, not in random order: changes of the "
        "machine's speed look like differences, and only one layout of memory was tried.",
        "coz compare A --- vs B runs both in turn.",
    )


def outputs_differ(names: Sequence[str]) -> Problem:
    """--check-output found a difference."""
    if len(names) == 1:
        text = f"{names[0]} printed something else in one run than in another."
        hint = "a program whose output depends on time or chance cannot be checked; leave --check-output out."
    else:
        text = f"{' and '.join(names)} did not print the same."
        hint = (
            "their times are not comparable if they do different work; leave --check-output out if what they "
            "print depends on time or chance."
        )
    return Problem(text, hint)


def changed(name: str, program: str) -> Problem:
    """Somebody built a program again while runs went on."""
    return Problem(
        f"{name} ({printable(program)}) was written anew while it was compared: its runs are not all of one "
        "program.",
        "compare again once it is built; copy programs that others build meanwhile.",
    )


def points_not_counted(name: str) -> Problem:
    """libcoz.so was not loaded, or the file was not written."""
    return Problem(
        f"visits of progress points cannot be counted in {name}: libcoz.so was not loaded into it, or it was "
        "killed before its end.",
        "only programs that are linked dynamically and have no other user's rights (set-uid) count visits; "
        "leave --metric progress: and latency: out for others.",
    )


def no_such_point(name: str, kind: str, pattern: str, known: Sequence[str]) -> Problem:
    """Nothing of the kind was visited in a run."""
    what = "progress point" if kind == "progress" else "begin and end points"
    return Problem(
        f"{name} visited no {what} {printable(pattern)}"
        + (f"; it visited {listed(list(map(printable, known)))}." if known else ", and no other."),
        "name one that it visits, with % for any text; macros of coz.h in the source make such points.",
    )


def no_latency(name: str, pattern: str, reason: str) -> Problem:
    """Begin and end points from which no latency follows."""
    return Problem(
        f"the latency of {printable(pattern)} in {name} is unknown: {reason}.",
        "correct the points (COZ_BEGIN, COZ_END of coz.h), or compare its rate: --metric progress:NAME.",
    )


def no_hardware_counter(event: str) -> Problem:
    """The processor, or the hypervisor, offers none."""
    return Problem(
        f"this machine has no counter of {event.replace('-', ' ')}; virtual machines often have none.",
        "nothing was measured; take another --metric, such as cpu, or a machine that has the counter.",
    )


def event_refused(event: str, reason: str) -> Problem:
    """perf_event_open failed."""
    return Problem(
        f"the kernel does not count {event.replace('-', ' ')} for this user ({reason}).",
        "nothing was measured; set /proc/sys/kernel/perf_event_paranoid to 1 or less, in a container allow "
        "perf_event_open, or take another --metric.",
    )


def never_counted(name: str, event: str) -> Problem:
    """The event waited for a counter during a whole run."""
    return Problem(
        f"in a run of {name} no counter was free for {event.replace('-', ' ')}.",
        "ask for fewer hardware counters at a time, and let no other profiler run.",
    )


def one_processor() -> Problem:
    """Nothing but one processor for the program and us."""
    number = min(os.sched_getaffinity(0))
    return Problem(
        "there is one processor only, and the program would share it with this command and all else.",
        f"use a machine with two or more, or say --cpus {number} to measure all the same.",
    )


def no_heap_library(path: str) -> Problem:
    """--heap or --stack without libcoz-heap.so."""
    return Problem(
        f"{printable(path)} is missing, which moves heap and stacks.",
        "build it by make, or install coz again.",
    )


def not_movable(name: str, program: str, reason: str) -> Problem:
    """--heap or --stack would do nothing in a program."""
    return Problem(
        f"heap and stacks of {name} ({printable(program)}) cannot be moved: {reason}.",
        "leave --heap and --stack out, or build the program with libc's malloc, linked dynamically.",
    )


def no_such_processors(wanted: Sequence[int], allowed: Sequence[int]) -> Problem:
    """--cpus names processors that this process may not use."""
    missing = sorted(set(wanted) - set(allowed))
    return Problem(
        f"this process may not run on processor {listed(missing)}.",
        f"choose among {listed(allowed, 64)} with --cpus.",
    )


def too_few_pairs(pairs: int, least: int) -> Problem:
    """Ctrl-C before anything could be said."""
    return Problem(
        f"stopped after {count(pairs, 'pair')}; an interval needs {least}.",
        "let it run longer, or choose shorter runs.",
    )


def interrupted(pairs: int, wanted: int) -> Problem:
    """Ctrl-C, but enough pairs."""
    return Problem(f"stopped after {pairs} of {wanted} pairs; the results are those of the pairs there are.")


def short_runs(seconds: float, noun: str) -> Problem:
    """Start-up is most of what is measured."""
    return Problem(
        f"a run takes {1000 * seconds:.0f} ms of {noun}: much of it is the start of a process, which both "
        "have in common, so that differences look smaller than they are.",
        "give the programs more to do.",
    )


def disturbed(left_out: int, kept: int, limit: float) -> Problem:
    """Blocks in which the machine took processors away."""
    what = f"lost more than {100 * limit:.0f} % of its time to other programs or to other guests of the host"
    parts = []
    if left_out:
        were = "was replaced by another" if left_out == 1 else "were replaced by others"
        parts.append(f"{count(left_out, 'pair')} in which a run {what} {were}")
    if kept:
        parts.append(f"{count(kept, 'pair')} of the result had such a run")
    text = "; ".join(parts) if left_out else f"in {count(kept, 'pair')} a run {what}"
    return Problem(text + ".", "let the machine be idle otherwise, or leave processors free with --cpus.")


def fixed_left_out(reason: Problem) -> Problem:
    """A run in the one layout of the files failed, after all others."""
    return Problem(
        f"what the linker's layout alone would have said is not known: {reason.text}",
        "the comparison itself is complete. --fixed-pairs 0 leaves these runs out.",
    )


def imprecise(half_width: float, precision: float, pairs: int) -> Problem:
    """--precision was not reached within -n pairs."""
    return Problem(
        f"the interval is ±{100 * half_width:.2g} %, not ±{100 * precision:.2g} %, after {pairs} pairs.",
        "allow more pairs with -n, or longer runs.",
    )


def no_builds(name: str) -> Problem:
    """--layout link without {seed}."""
    return Problem(
        f"--layout link wants builds of {name} that were linked in several orders.",
        "write {seed} in its program's path where they differ, or take --layout runtime.",
    )


def one_build(name: str) -> Problem:
    """--layout auto, and another side has {seed}."""
    return Problem(
        f"functions of {name} stay where the linker put them: it is one build, the other side has several.",
        "write {seed} in its program's path, too. Differences of 1 or 2 % may come from the layout.",
    )


def rerandomize_moves(mode: str) -> Problem:
    """--rerandomize with --layout none or link."""
    return Problem(
        f"--rerandomize moves functions while a program runs, but --layout {mode} leaves them in place.",
        "leave out one of them.",
    )


def builds_are_layouts(name: str) -> Problem:
    """--layout runtime with {seed}."""
    return Problem(
        f"the builds of {name} are layouts already; --layout runtime moves the functions of one file.",
        "name one of them, or take --layout link.",
    )


def not_our_page(path: str) -> Problem:
    """--html, and something else is there."""
    return Problem(
        f"{printable(path)} is there already, and is not a page of coz; it was left as it is.",
        "choose another name for --html.",
    )


def functions_stay(name: str, reason: Problem) -> Problem:
    """--layout auto falls back."""
    return Problem(
        f"functions stay where the linker put them; of {name}, {reason.text}",
        f"{reason.hint} Differences of 1 or 2 % may come from the layout.".strip(),
    )


def little_movable(program: str, share: float) -> Problem:
    """Most of the code is pinned."""
    return Problem(
        f"only {100 * share:.0f} % of the code of {printable(program)} can be moved.",
        f"coz layout check {printable(program)} says why.",
    )


def functions_not_movable(program: str, reason: str) -> Problem:
    """libcoz-layout.so gave up when the program started."""
    return Problem(f"the functions of {printable(program)} cannot be moved: {printable(reason)}.")


def moving_changes(program: str, seed: int, what: str, interval: int) -> Problem:
    """The self-test failed. interval: as in LayoutPlan."""
    again = f" --rerandomize {interval}ms" if interval else ""
    return Problem(
        f"{printable(program)} does something else when its functions are moved (seed {seed}): "
        f"{printable(what)}.",
        f"coz layout check{again} tries more seeds, coz layout replay{again} repeats one; please report it.",
    )


def others_stay(name: str, others: int) -> Problem:
    """Processes of the program that execute other ones."""
    return Problem(
        f"{name} starts {others} {'process' if others == 1 else 'processes'} of other programs, whose "
        "functions stay where the linker put them.",
        "if most of the time is theirs, measure these programs themselves.",
    )


def not_loaded(program: str) -> Problem:
    """The library said nothing, or that it found itself in another program."""
    return Problem(
        f"libcoz-layout.so was not loaded into {printable(program)}, or this executes another program in "
        "its place.",
        "run the program itself, not a launcher that clears LD_PRELOAD or executes another file.",
    )
