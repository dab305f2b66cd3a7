"""Where in a parallel job this process is, and names of files that tell its ranks apart.

Launchers tell each process its rank by variables. Those of MPI libraries come first: a resource manager's
rank is that of a daemon where mpirun starts the processes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

from cozcli.errors import CozError
from cozcli.launch import messages

#: By the variable of the rank, that of the number of ranks; "" where the launcher tells none.
RANKS = {
    "OMPI_COMM_WORLD_RANK": "OMPI_COMM_WORLD_SIZE",
    "MV2_COMM_WORLD_RANK": "MV2_COMM_WORLD_SIZE",
    "PMIX_RANK": "SLURM_STEP_NUM_TASKS",  # where srun tells it
    "PMI_RANK": "PMI_SIZE",
    "PALS_RANKID": "",
    "FLUX_TASK_RANK": "FLUX_JOB_SIZE",
    "JSM_NAMESPACE_RANK": "JSM_NAMESPACE_SIZE",
    # SLURM_NTASKS is set in a batch script, too, which is one process.
    "SLURM_PROCID": "SLURM_STEP_NUM_TASKS",
}
#: A job is what was submitted; where nothing was, what mpirun calls it.
JOBS = (
    "SLURM_JOB_ID",
    "PBS_JOBID",
    "LSB_JOBID",
    "FLUX_JOB_ID",
    "JOB_ID",
    "PALS_APID",
    "PMIX_NAMESPACE",
    "PMI_JOBID",
)

#: By the variable of the job: that of an element of an array, and what that is where there is no array.
ELEMENTS = {"LSB_JOBID": ("LSB_JOBINDEX", "0"), "JOB_ID": ("SGE_TASK_ID", "undefined")}

_PLACEHOLDER = re.compile(r"%(?:e\{([^}]*)\}|(.?))", re.DOTALL)


class Job(NamedTuple):
    """`rank` and `size` are None, and `name` is empty, where no launcher tells.

    `no_number`: what should have told the rank, as NAME=VALUE, and does not.
    """

    rank: int | None
    size: int | None
    name: str
    host: str
    no_number: str = ""

    @property
    def has_several_ranks(self) -> bool:
        """Do others run beside this one? A rank above 0 is not the only one."""
        return (self.size or 0) > 1 or (self.rank or 0) > 0


def find_job(environment: Mapping[str, str]) -> Job:
    """What the launcher tells this process."""
    name = _job_name(environment)
    host = os.uname().nodename
    for variable, size in RANKS.items():
        rank = _natural(environment.get(variable, ""))
        if rank is not None:
            return Job(rank, _natural(environment.get(size, "")), name, host)
    unfit = [f"{variable}={environment[variable]}" for variable in RANKS if environment.get(variable)]
    return Job(None, None, name, host, unfit[0] if unfit else "")


def _job_name(environment: Mapping[str, str]) -> str:
    variable = next((variable for variable in JOBS if environment.get(variable)), "")
    if not variable:
        return ""
    index, of_none = ELEMENTS.get(variable, ("", ""))
    element = environment.get(index, "")
    return environment[variable] + (f".{element}" if element not in ("", of_none) else "")


def is_chosen(job: Job, ranks: Collection[int] | None) -> bool:
    """Is this rank to be profiled? `ranks`: of --ranks; None: all.

    Raises:
        CozError: only some are, and which one this is nobody knows.
    """
    if ranks is None:
        return True
    if job.rank is None:
        raise CozError(messages.job.ranks_without_job(tuple(RANKS), job.no_number))
    return job.rank in ranks


def expand(pattern: str, job: Job, environment: Mapping[str, str]) -> str:
    """A file's name with what `%r`, `%j`, `%h`, `%p` and `%e{VARIABLE}` stand for; `%%` is one `%`.

    Raises:
        CozError: something that is not known here, or another letter.
    """

    def replace(match: re.Match[str]) -> str:
        variable, letter = match.groups()
        if variable is not None:
            if variable not in environment:
                raise CozError(messages.job.variable_not_set(pattern, variable))
            return environment[variable]
        match letter:
            case "%":
                return "%"
            case "p":
                return str(os.getpid())
            case "h":
                return job.host
            case "r" if job.rank is not None:
                return str(job.rank)
            case "r":
                raise CozError(messages.job.no_rank(pattern, tuple(RANKS), job.no_number))
            case "j" if job.name:
                return job.name.replace("/", "_")
            case "j":
                raise CozError(messages.job.no_job(pattern, JOBS))
            case _:
                raise CozError(messages.job.unknown_placeholder(pattern, letter))

    return _PLACEHOLDER.sub(replace, pattern)


def refuse_shared(pattern: str, job: Job, ranks: Collection[int] | None) -> None:
    """See that no other rank writes to the same file. `ranks`: those that are profiled; None: all.

    Raises:
        CozError: the name has nothing in it by which ranks differ.
    """
    if not job.has_several_ranks or (ranks is not None and len(ranks) == 1):
        return
    for variable, letter in _PLACEHOLDER.findall(pattern):
        if letter in ("r", "p") or variable in RANKS:
            return
    raise CozError(messages.job.one_file(pattern, job.size))


def _natural(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
