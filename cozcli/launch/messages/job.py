"""Texts about ranks of a parallel job, and names of files that tell them apart."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from cozcli.errors import Problem
from cozcli.messages import listed, printable

_LETTERS = "%r is the rank, %j the job, %h the host, %p the process id, %e{NAME} a variable, %% a %."


def one_file(name: str, size: int | None) -> Problem:
    """Several ranks, and one name."""
    who = f"{size} ranks" if size else "several ranks"
    stem, dot, suffix = name.rpartition(".")
    better = f"{stem}.%r.{suffix}" if dot and "/" not in suffix and stem else f"{name}.%r"
    return Problem(
        f"{who} of this job would write the one profile {name}, so nothing was started.",
        f"give each its own, by its rank: -o {better}; coz merge pools them. Or profile one rank: --ranks 0.",
    )


def no_program_of_launcher(name: str, command: Sequence[str]) -> Problem:
    """-l NAME, and no such word."""
    return Problem(
        f"no word of the command is {printable(name)}, so nothing was started: "
        f"{printable(shlex.join(command))}.",
        "name the program as it stands there: coz run -l app --- mpirun -n 4 ./app.",
    )


def _without_rank(variables: Sequence[str], no_number: str) -> str:
    if no_number:
        return f"the value of the variable that should tell the rank is no number: {no_number}."
    return f"no variable tells the rank ({listed(variables, len(variables))})."


def no_rank(name: str, variables: Sequence[str], no_number: str = "") -> Problem:
    """%r outside a job. `no_number`: a variable of a rank, with its value."""
    return Problem(
        f"the name {name} has %r, and {_without_rank(variables, no_number)}",
        "start coz run by the launcher (mpirun -n 4 coz run ...), or use %p or %e{NAME} instead of %r.",
    )


def no_job(name: str, variables: Sequence[str]) -> Problem:
    """%j outside a job."""
    return Problem(
        f"the name {name} has %j, and no variable names the job ({listed(variables, len(variables))}).",
        "leave %j out, or use %e{NAME} with a variable that your system sets.",
    )


def variable_not_set(name: str, variable: str) -> Problem:
    """%e{X} without X."""
    return Problem(
        f"the name {name} has %e{{{variable}}}, and there is no such variable.", f"export {variable}=..."
    )


def unknown_placeholder(name: str, letter: str) -> Problem:
    """%x, or % at the end."""
    return Problem(f"the name {name} has %{letter}, which stands for nothing.", _LETTERS)


def ranks_without_job(variables: Sequence[str], no_number: str = "") -> Problem:
    """--ranks outside a job. `no_number`: a variable of a rank, with its value."""
    return Problem(
        f"--ranks was given, and {_without_rank(variables, no_number)}",
        "start coz run by the launcher: mpirun -n 4 coz run --ranks 0-1 ...; or leave --ranks out.",
    )


def joint_without_job() -> Problem:
    """--joint outside a job."""
    return Problem(
        "--joint was given, and no variable tells the rank.",
        "start coz run by the launcher: mpirun -n 4 coz run --joint ...; or leave --joint out.",
    )


def joint_on_several_machines(local: int, size: int) -> Problem:
    """The ranks cannot share memory."""
    return Problem(
        f"--joint was given, and only {local} of the job's {size} ranks run on this machine; ranks of "
        "several machines cannot make experiments together.",
        "start the job on one machine, or leave --joint out: each rank then makes experiments by itself.",
    )


def joint_with(option: str) -> Problem:
    """Another option that ranks cannot share."""
    return Problem(f"--joint and {option} exclude each other.", f"leave {option} out, or --joint.")


def joint_failed(path: str, reason: str) -> Problem:
    """The system refuses the file that ranks share."""
    return Problem(f"the ranks cannot share {path} ({reason}).", "see to /dev/shm, or leave --joint out.")


def joint_alone(rank: int, seconds: int) -> Problem:
    """The leading rank did not come."""
    return Problem(
        f"rank {rank}, which makes the experiments of --joint, was not seen on this machine in {seconds} s.",
        f"start all ranks by coz run --joint, on one machine; or leave --joint out. If rank {rank} was "
        "started, it has said why it ended.",
    )
