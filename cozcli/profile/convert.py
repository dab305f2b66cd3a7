"""Profiles into files of the classic form."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from cozcli.errors import CozError, Problem
from cozcli.output_file import writing
from cozcli.profile import messages
from cozcli.profile.classic_writer import ClassicWriter, has_companions
from cozcli.profile.merge import check_output
from cozcli.profile.profile import Profile, load_profile

#: The forms by the names that options give them: JSON Lines, or tabs?
IS_JSON = {"classic": False, "classic-json": True}


def convert(output: str, inputs: Sequence[str], form: str) -> tuple[Profile, list[Problem]]:
    """Write the runs of all inputs to one file of the classic form, which is there as a whole or not at all.

    Returns:
        The profile read, and what the result does not tell.

    Raises:
        CozError: an input is no profile; the output cannot be written, or is something else than a profile.
    """
    profile = load_profile(inputs)

    def check(target: Path) -> None:
        for path in inputs:
            if target.exists() and os.path.samefile(target, path):
                raise CozError(messages.merge_into_input(output))
        check_output(target, output)

    with (
        writing(output, check) as temporary,
        temporary.open("w", encoding="utf-8", newline="\n") as stream,
    ):
        stream.writelines(ClassicWriter(IS_JSON[form]).lines(profile.runs))
        stream.flush()
        os.fsync(stream.fileno())
    warnings = [*profile.warnings]
    if has_companions(profile.runs):
        warnings.append(messages.converted_companions())
    if len({run.arrival_speedup for run in profile.runs}) > 1:
        warnings.append(messages.converted_loads())
    return profile, warnings


def append_classic(measured: Path, descriptor: int, form: str) -> None:
    """Add what was measured to the file open as `descriptor`, then remove the former.

    Raises:
        OSError: it could not be written, and is as it was; `measured` is still there.
        CozError: `measured` cannot be read.
    """
    text = "".join(ClassicWriter(IS_JSON[form]).lines(load_profile([str(measured)]).runs))
    size = os.fstat(descriptor).st_size
    try:
        with os.fdopen(os.dup(descriptor), "ab", buffering=0) as stream:
            rest = memoryview(text.encode())
            while rest:
                rest = rest[stream.write(rest) :]
            os.fsync(stream.fileno())
    except BaseException:
        os.ftruncate(descriptor, size)  # `measured` will be converted again
        raise
    measured.unlink()
