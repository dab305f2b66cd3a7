"""Ranks of a job as one program (`--joint`): they share delays, and one of them makes the experiments.

The launchers of a machine's ranks find each other by a link in /dev/shm, named after the user and the job.
That of the leading rank makes it, and removes it at the end; the others wait for it. It points to the file
that the runtimes share (libcoz/kernel/shared_file.h), and names the process that made it, so that one that a
killed job left is told apart.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NamedTuple

from cozcli.errors import CozError, reason_of
from cozcli.launch import messages
from cozcli.launch.job import Job

FOLDER = Path("/dev/shm")
#: How long the others wait for the leading rank, in seconds, and how often they look.
PATIENCE, STEP = 60.0, 0.02
#: By the variable that says how many ranks run on this machine.
LOCAL_SIZES = ("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE")
#: Several steps of one job may run at a time, and several launchers in a step.
STEPS = ("SLURM_STEP_ID", "PMIX_NAMESPACE", "PMI_JOBID")
#: Where the epoch of the selection stands in the file (libcoz/thread/shared_state.h), and that of none.
EPOCH, NO_EPOCH = 16, b"\0\0\0\0"
PREFIX = "coz-joint"


#: A file's name ends with the process that made it, and when that started; a profile's with a rank, besides.
_OWNER = re.compile(r"\.(\d+)-(\d+)(?:\.\d+|\.link)?$")


class Joint(NamedTuple):
    """The file that the runtimes share, and the link to it. follows: does another rank experiment?

    profile: where a rank that follows writes, which nobody needs; None for the leading one.
    """

    file: Path
    link: Path
    follows: bool
    profile: Path | None = None

    @property
    def variables(self) -> dict[str, str]:
        """What the runtime is told."""
        return {"COZ_JOINT": str(self.file), **({"COZ_JOINT_FOLLOWS": "1"} if self.follows else {})}

    def end(self) -> None:
        """Remove what is this rank's own; ranks that have joined keep what they have mapped.

        The leading rank may have been killed in an experiment, whose selection the others must not obey.
        """
        with contextlib.suppress(OSError):
            if self.profile is not None:
                self.profile.unlink()
        if self.follows:
            return
        with contextlib.suppress(OSError), self.file.open("r+b") as stream:
            if stream.seek(0, os.SEEK_END) > EPOCH:
                stream.seek(EPOCH)
                stream.write(NO_EPOCH)
        with contextlib.suppress(OSError):
            if os.readlink(self.link) == self.file.name:
                self.link.unlink()
        with contextlib.suppress(OSError):
            self.file.unlink()


def join(
    options: argparse.Namespace,
    job: Job,
    environment: Mapping[str, str],
    *,
    amplifies: bool = False,
    patience: float = PATIENCE,
) -> Joint:
    """Make the file, or wait for it.

    Args:
        amplifies: is load amplified, which each rank would do by itself?

    Raises:
        CozError: other options forbid it, this is no job on one machine, or the leading rank does not come.
    """
    _refuse_others(options, amplifies)
    if job.rank is None:
        raise CozError(messages.job.joint_without_job())
    local = next((environment[name] for name in LOCAL_SIZES if environment.get(name)), "")
    expected = job.size if options.ranks is None else None
    if expected is not None and local.isdigit() and int(local) < expected:
        raise CozError(messages.job.joint_on_several_machines(int(local), expected))
    leading = leading_rank(options.ranks)
    link = FOLDER / f"{PREFIX}.{os.getuid()}.{_name(job, environment)}"
    try:
        return _lead(link) if job.rank == leading else _follow(link, leading, job.rank, patience)
    except OSError as error:
        raise CozError(messages.job.joint_failed(str(link), reason_of(error))) from error


def leading_rank(ranks: Collection[int] | None) -> int:
    """The one that makes the experiments."""
    return min(ranks) if ranks else 0


def _refuse_others(options: argparse.Namespace, amplifies: bool) -> None:
    forbidden = {
        "load amplification": amplifies,
        "--tree": options.tree,
        "--forked": options.forked,
        "--end-to-end": options.end_to_end,
        "--granularity callpath": options.granularity == "callpath",
        "--waits": options.waits or options.fixed_wait or options.fixed_lock,
        "--fixed-region": options.fixed_region,
        "--repeat": options.repeat,
        "--duration": options.duration,
        "--until": options.until,
    }
    if found := [name for name, value in forbidden.items() if value]:
        raise CozError(messages.job.joint_with(found[0]))


def _name(job: Job, environment: Mapping[str, str]) -> str:
    """What no other job on this machine is called: where launchers give no name, that of the launcher."""
    names = [job.name, *(environment[name] for name in STEPS if environment.get(name))]
    parts = list(dict.fromkeys(name for name in names if name)) or [
        f"{os.getppid()}-{_start_of(os.getppid())}"
    ]
    return ".".join(parts).replace("/", "_")


def _lead(link: Path) -> Joint:
    _remove_leftovers()
    own = f"{os.getpid()}-{_start_of(os.getpid())}"
    file = link.with_name(f"{link.name}.{own}")
    os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
    new = link.with_name(f"{file.name}.link")
    new.symlink_to(file.name)
    new.rename(link)
    return Joint(file, link, follows=False)


def _remove_leftovers() -> None:
    """Remove files of this user's whose process was killed, and runs no longer."""
    for path in FOLDER.glob(f"{PREFIX}.{os.getuid()}.*"):
        with contextlib.suppress(OSError):
            named = os.readlink(path) if path.is_symlink() else path.name
            if (owner := _OWNER.search(named)) and not _runs(owner[1], owner[2]):
                path.unlink()


def _runs(process: str, start: str) -> bool:
    try:
        return _start_of(int(process)) == start
    except OSError:
        return False


def _follow(link: Path, leading: int, rank: int, patience: float) -> Joint:
    end = time.monotonic() + patience
    while True:
        with contextlib.suppress(OSError):
            file = link.with_name(os.readlink(link))
            owner = _OWNER.search(file.name)
            # A link of ours only, and of a process that still runs.
            if owner and link.lstat().st_uid == os.getuid() and _runs(owner[1], owner[2]):
                profile = file.with_name(f"{file.name}.{rank}")
                profile.unlink(missing_ok=True)
                os.close(os.open(profile, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
                return Joint(file, link, follows=True, profile=profile)
        if time.monotonic() >= end:
            raise CozError(messages.job.joint_alone(leading, round(patience)))
        time.sleep(STEP)


def _start_of(process: int) -> str:
    """When it started, in ticks since the machine did, which no two processes of one number share."""
    text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    return text.rpartition(")")[2].split()[19]
