"""Checks before the program starts: what is certain to fail is refused here."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import stat
from io import FileIO
from pathlib import Path

from cozcli.errors import STATUS_NOT_EXECUTABLE, STATUS_NOT_FOUND, CozError, reason_of
from cozcli.launch import messages
from cozcli.launch.elf import (
    NAMES_WITHIN,
    ElfFile,
    build_id,
    contains_any,
    has_section,
    read_elf,
    read_shebang,
)
from cozcli.messages import cannot_write
from cozcli.output_file import resolve
from cozcli.profile.fields import OWN_PROFILE

#: Names that programs with one look up.
SANITIZER_NAMES = (b"__asan_init\0", b"__tsan_init\0", b"__msan_init\0", b"__lsan_init\0")
#: Sections by which Go's own tools know what it has built; `strip` leaves them.
GO_SECTIONS = (b".go.buildinfo", b".note.go.buildid")
#: As much of an existing output as is looked at before appending to it.
HEAD = 1 << 16
#: Nothing that was put in the way since it was looked at is followed, or waited for.
APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


def find_program(name: str) -> Path:
    """The real path of the executable that a shell would run.

    Raises:
        CozError: not found (status 127), a directory or not executable (126).
    """
    if not name:
        raise CozError(messages.program.program_not_found(name), STATUS_NOT_FOUND)
    if "/" in name:
        candidates = [Path(name)]
    else:
        folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
        candidates = [Path(folder or ".") / name for folder in folders]
    # Not Path's own methods, which fail where a folder may not be searched.
    existing = [p for p in candidates if os.path.exists(p) and ("/" in name or os.path.isfile(p))]
    for path in existing:
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return Path(os.path.realpath(path))
    if not existing and os.path.isdir(name):
        raise CozError(messages.program.program_is_directory(name), STATUS_NOT_EXECUTABLE)
    if not existing:
        here = "/" not in name and os.path.isfile(name)
        raise CozError(messages.program.program_not_found(name, here), STATUS_NOT_FOUND)
    problem = (
        messages.program.program_is_directory(name)
        if os.path.isdir(existing[0])
        else messages.program.not_executable(name)
    )
    raise CozError(problem, STATUS_NOT_EXECUTABLE)


def is_of_another_build(profile: Path, program: Path) -> bool:
    """Is the first run of a profile one of the same program, but of another build?"""
    try:
        with profile.open("rb") as stream:
            first = json.loads(stream.readline(HEAD))
        before = first["build_id"] if first["program"] == str(program) else ""
    except (OSError, ValueError, KeyError, TypeError):
        return False
    now = build_id(program)
    return bool(before and now and before != now)


def check_program(path: Path) -> ElfFile:
    """Refuse what the runtime library could not be loaded into.

    Raises:
        CozError: a script, no ELF file, of another architecture, Go, static, for musl, or with privileges.
    """
    if any(character in str(path) for character in "\n\t"):
        raise CozError(messages.program.path_unusable(str(path)))
    try:
        elf = read_elf(path)
        script = None if elf else read_shebang(path)
        mode = path.stat().st_mode
    except OSError as error:
        raise CozError(
            messages.program.program_unreadable(str(path), reason_of(error)),
            STATUS_NOT_EXECUTABLE,
        ) from None
    if script is not None:
        raise CozError(messages.program.program_is_script(str(path), script))
    if elf is None:
        raise CozError(messages.program.not_elf(str(path)), STATUS_NOT_EXECUTABLE)
    here = os.uname().machine
    if elf.bits != 64 or elf.machine != here:
        raise CozError(messages.program.wrong_architecture(str(path), elf.machine, elf.bits, here))
    if has_section(path, GO_SECTIONS):  # before the others, whose remedies would not help
        raise CozError(messages.program.go_binary(str(path)))
    if not elf.interpreter:
        raise CozError(messages.program.static_binary(str(path)))
    if os.path.basename(elf.interpreter).startswith("ld-musl"):
        raise CozError(messages.program.musl_binary(str(path)))
    if mode & (stat.S_ISUID | stat.S_ISGID) or _has_capabilities(path):
        raise CozError(messages.program.privileged_binary(str(path)))
    return elf


def has_static_openmp(path: Path) -> bool:
    """Is libgomp part of it, so that its calls are not intercepted? By a text of its messages."""
    return contains_any(path, (b"\nlibgomp: ",), NAMES_WITHIN)


def refuse_sanitized(path: Path) -> None:
    """Refuse what a sanitizer's runtime is to be the first in: it ends the program, or sees the profiler's.

    Raises:
        CozError: built with a sanitizer for addresses, threads, memory or leaks.
    """
    if contains_any(path, SANITIZER_NAMES, NAMES_WITHIN):
        raise CozError(messages.program.sanitized_binary(str(path)))


class Output:
    """The profile to append to. Made by `open_output`; `discard_if_empty` undoes that.

    `stream`: keeps other runs away as long as it is open.
    """

    def __init__(self, path: Path, stream: FileIO, created: bool, size: int, ends_in_newline: bool) -> None:
        self.path = path
        self.appends = size > 0
        self._stream = stream
        self._created = created
        self._ends_in_newline = ends_in_newline

    def discard_if_empty(self) -> None:
        """Remove the file if it was made only for this run and nothing came of it."""
        with contextlib.suppress(OSError):
            if self._created and self.path.stat().st_size == 0:
                self.path.unlink()

    def begin(self) -> int:
        """Close a line that a killed program left open, and return where this run's records start."""
        with self.path.open("ab") as stream:
            if not self._ends_in_newline:
                stream.write(b"\n")
            return stream.tell()


def open_output(name: str) -> Output:
    """See that the profile can be written, without changing what it holds.

    Raises:
        CozError: a directory, unwritable, another user's in a folder like /tmp, not a profile, or a classic
            one; or another run is writing to it.
    """
    try:
        # A link of the user's own stays one; the runtime follows none.
        path = resolve(name)
        if path.is_dir():
            raise CozError(messages.run.output_is_directory(name))
        if path.exists() and not path.is_file():
            raise CozError(messages.run.output_not_a_file(name))
        created = not path.exists()
        stream = FileIO(os.open(path, APPEND, 0o666), "ab")
        if _is_locked(stream):
            raise CozError(messages.run.output_in_use(name))
        size = os.fstat(stream.fileno()).st_size
        if size == 0:
            return Output(path, stream, created, 0, True)
        with path.open("rb") as content:
            head = content.read(HEAD)
            content.seek(-1, os.SEEK_END)
            last = content.read(1)
    except (OSError, ValueError) as error:
        raise CozError(cannot_write(name, reason_of(error))) from None
    if not head.startswith(OWN_PROFILE):
        if is_classic(head):
            raise CozError(messages.run.output_is_classic(name))
        # Imported only here: reading profiles takes a good part of the time until the program starts.
        from cozcli.profile.reader import looks_like_profile

        if not looks_like_profile(head):
            raise CozError(messages.run.output_not_a_profile(name))
    return Output(path, stream, created, size, last == b"\n")


def _is_locked(stream: FileIO) -> bool:
    """Does another process hold the lock? This one does now, where the file system has locks."""
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False


def is_classic(head: bytes) -> bool:
    """Does a file that begins with `head` hold records of the classic tool?"""
    from cozcli.profile.reader import is_classic_line  # which most runs need not wait for

    return any(map(is_classic_line, head.splitlines()))


def _has_capabilities(path: Path) -> bool:
    """File capabilities make the dynamic linker ignore LD_PRELOAD, except for root."""
    if os.geteuid() == 0:
        return False
    try:
        return bool(os.getxattr(path, "security.capability"))
    except OSError:
        return False
