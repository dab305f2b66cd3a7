"""Files that commands write: nothing that another user put in the way is followed, none is half written."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from cozcli import messages
from cozcli.errors import CozError, reason_of

#: As many links as the kernel follows.
_MAX_LINKS = 40


def resolve(name: str | Path) -> Path:
    """The real path of an output; it need not exist.

    Links are followed but for those that another user may have put into a folder that everybody may write
    to, as /tmp. That is the kernel's rule (fs.protected_symlinks, fs.protected_regular), which not every
    system has switched on.

    Raises:
        CozError: a link on the way, or the file itself, is in such a folder, and belongs neither to us nor
            to the folder's owner.
        OSError: links that lead in a circle.
        ValueError: no path at all.
    """
    todo = list(reversed(Path(name).absolute().parts))
    path = Path(todo.pop())
    links = 0
    while todo:
        part = todo.pop()
        if part == "..":
            path = path.parent
            continue
        entry = path / part
        try:
            mode = entry.lstat().st_mode
        except OSError:
            path = entry  # not there, or not for us to see: whoever opens it is told
            continue
        if (stat.S_ISLNK(mode) or not todo) and _may_be_planted(entry):
            raise CozError(messages.output_of_another_user(str(entry)))
        if not stat.S_ISLNK(mode):
            path = entry
            continue
        links += 1
        if links > _MAX_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        target = Path(os.readlink(entry))
        todo += reversed(target.parts[1:] if target.is_absolute() else target.parts)
        path = Path("/") if target.is_absolute() else path
    return path


@contextlib.contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """A new empty file beside `target`, with its suffix, which takes its place when the block ends well.

    Whoever looks sees the old file or the new one. `target`: as `resolve` returns it.

    Raises:
        OSError: the system refused, or what is there is no regular file.
    """
    import tempfile  # which `coz run` need not wait for

    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISREG(target.lstat().st_mode):
            # A device or a folder cannot be replaced.
            raise OSError(0, "it is not a regular file")
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".coz-", suffix=f".tmp{target.suffix[:30]}")
    try:
        os.fchmod(handle, 0o666 & ~_umask())
        os.close(handle)
        yield Path(name)
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise


@contextlib.contextmanager
def writing(name: str | Path, check: Callable[[Path], None] = lambda target: None) -> Iterator[Path]:
    """As `replacing`, for a file that a user named; before, `check` is called with its real path.

    Raises:
        CozError: it cannot be written, or another user's file or link is there; so does an OSError or a
            ValueError of `check` or the block end the command.
    """
    try:
        target = resolve(name)
        check(target)
        with replacing(target) as temporary:
            yield temporary
    except (OSError, ValueError) as error:
        raise CozError(messages.cannot_write(str(name), reason_of(error))) from None


def _may_be_planted(entry: Path) -> bool:
    try:
        folder, owner = entry.parent.stat(), entry.lstat().st_uid
    except OSError:
        return False  # gone: nothing is planted
    shared = folder.st_mode & stat.S_ISVTX and folder.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return bool(shared) and owner not in (os.geteuid(), folder.st_uid)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
