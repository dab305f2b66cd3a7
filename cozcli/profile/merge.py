"""Several profiles as one file: the records of each as they are, put in place at once."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from cozcli.errors import CozError, Problem
from cozcli.messages import cannot_write
from cozcli.output_file import writing
from cozcli.profile import messages
from cozcli.profile.fields import OWN_PROFILE
from cozcli.profile.profile import Profile, load_profile
from cozcli.profile.reader import (
    ReadProblems,
    is_classic_line,
    is_damaged_start,
    looks_like_profile,
    read_records,
)
from cozcli.profile.records import RunRecord

#: As much of an existing output as is looked at before replacing it.
_HEAD = 1 << 16
#: Begins a run for records that stand before the first one of their file, so that they do not become the last
#: run's of the file before: in our form and in the classic tool's.
_OWN_START, _CLASSIC_START = b'{"type":"run","format":"coz-profile","version":1}\n', b"startup\ttime=0\n"


def merge(output: str, inputs: Sequence[str]) -> tuple[Profile, list[Problem]]:
    """Write the runs of all inputs to one file, which then exists as a whole or not at all.

    Returns:
        The profile written, and what was left out of the inputs.

    Raises:
        CozError: an input is no profile, a pipe, or the same as another or the output; runs appear twice;
            the output cannot be written, is another user's in a folder like /tmp, or no profile.
    """
    _check_apart(output, inputs)
    profile = load_profile(inputs)
    for first, second in profile.repeated:
        raise CozError(messages.run_twice(first, second))
    with (
        writing(output, lambda target: check_output(target, output)) as temporary,
        temporary.open("wb") as stream,
    ):
        for path in inputs:
            stream.writelines(_lines(path))
        stream.flush()
        os.fsync(stream.fileno())
    return profile, profile.warnings


def _lines(path: str) -> Iterator[bytes]:
    """The lines of a file that are whole, each with its end; a run of its own for those before the first."""
    problems = ReadProblems()
    with open(path, "rb") as stream:
        lines = stream.readlines()
    first = next(read_records(lines, problems), None)
    for _ in read_records(lines, problems := ReadProblems()):
        pass
    left_out = {*problems.garbage, problems.truncated}
    if not isinstance(first, RunRecord):
        yield _CLASSIC_START if any(map(is_classic_line, lines)) else _OWN_START
    for number, line in enumerate(lines, start=1):
        if number in left_out:
            if number in problems.garbage and is_damaged_start(line):
                yield _OWN_START
        elif line.strip(b"\r\n \0"):
            yield line if line.endswith(b"\n") else line + b"\n"


def _check_apart(output: str, inputs: Sequence[str]) -> None:
    seen: dict[tuple[int, int], str] = {}
    for path in inputs:
        with contextlib.suppress(OSError):
            status = os.stat(path)
            if stat.S_ISFIFO(status.st_mode):  # it is read twice
                raise CozError(messages.merge_of_pipe(path))
            identity = status.st_dev, status.st_ino
            if identity in seen:
                raise CozError(messages.merged_twice(seen[identity], path))
            seen[identity] = path
    with contextlib.suppress(OSError):
        status = os.stat(output)
        if (status.st_dev, status.st_ino) in seen:
            raise CozError(messages.merge_into_input(output))


def check_output(target: Path, name: str) -> None:
    """See that what is there, if anything, is a profile.

    Raises:
        CozError: something else.
        OSError: it cannot be read.
    """
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        raise CozError(cannot_write(name, "it is not an ordinary file"))
    with target.open("rb") as stream:
        head = stream.read(_HEAD)
    if head and not head.startswith(OWN_PROFILE) and not looks_like_profile(head):
        raise CozError(messages.merge_over_other_file(name))
