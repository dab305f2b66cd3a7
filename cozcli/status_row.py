"""One row at the bottom of the terminal that says how far things are, while a program uses the rest.

The row is outside the part that scrolls, as package managers do it, and the cursor goes back to where it
was: what the program prints is neither overwritten nor mixed with ours. Nothing is drawn where that could
do harm: while a program has the terminal for itself (full-screen programs, line editors and password
prompts switch off canonical mode or echo), while we are in the background, and on terminals without cursor
control. A process that is killed (SIGKILL) leaves the row behind; `reset` takes it away. A program that
resets the terminal loses the row until the next `show`.

Any thread may call; a lock orders the calls. Errors of the terminal end the display only.
"""

from __future__ import annotations

import contextlib
import os
import signal
import termios
import threading
from collections.abc import Callable, Iterator

_SAVE, _RESTORE = "\x1b7", "\x1b8"
#: Smaller terminals have no row to spare.
_MIN_LINES, _MIN_COLUMNS = 6, 30
_LFLAG = 3


class StatusRow:
    """The row of a terminal, by its descriptor: there from the first `show` that can be, to `release`."""

    def __init__(self, descriptor: int = 2) -> None:
        self._descriptor = descriptor
        # A handler of signals may come while its own thread draws.
        self._lock = threading.RLock()
        self._size: os.terminal_size | None = None

    @staticmethod
    def is_possible(descriptor: int = 2) -> bool:
        """Is it a terminal that knows a cursor?"""
        return os.isatty(descriptor) and os.environ.get("TERM", "") not in ("", "dumb")

    @classmethod
    @contextlib.contextmanager
    def progress(cls, who: str, on_ctrl_z: bool = False) -> Iterator[Callable[[str], None]]:
        """What shows a text until the block ends; without a terminal it does nothing.

        who: stands before each text. on_ctrl_z: see `release_on_ctrl_z`.
        """
        if not cls.is_possible():
            yield lambda text: None
            return
        row = cls()
        if on_ctrl_z:
            row.release_on_ctrl_z()
        try:
            yield lambda text: row.show(f"{who}: {text}")
        finally:
            row.release()

    def columns(self) -> int:
        """How long a text may be."""
        try:
            return os.get_terminal_size(self._descriptor).columns - 1
        except OSError:
            return 79

    def show(self, text: str) -> None:
        """Draw the row, or take it away where it could do harm. `text`: printable, of one line."""
        with self._lock:
            try:
                size = os.get_terminal_size(self._descriptor)
                free = size.lines >= _MIN_LINES and size.columns >= _MIN_COLUMNS and self._is_ours()
                if not free:
                    self._release()
                    return
                self._write(self._reserve(size) + _row(size, text[: size.columns - 1]))
            except (OSError, termios.error):
                self._size = None

    def release(self) -> None:
        """Give the row back."""
        with self._lock:
            self._release()

    def stop_process(self) -> None:
        """Stop this process, as Ctrl-Z does, with the terminal as the shell expects it."""
        with self._lock:
            self._release()
            os.kill(os.getpid(), signal.SIGSTOP)

    def release_on_ctrl_z(self) -> None:
        """Do so from a handler, in processes that do not wait for signals themselves. For the main thread."""
        if signal.getsignal(signal.SIGTSTP) == signal.SIG_DFL:
            signal.signal(signal.SIGTSTP, lambda _number, _frame: self.stop_process())

    def _is_ours(self) -> bool:
        if os.tcgetpgrp(self._descriptor) != os.getpgrp():
            return False
        flags: int = termios.tcgetattr(self._descriptor)[_LFLAG]
        return bool(flags & termios.ICANON) and bool(flags & termios.ECHO)

    def _reserve(self, size: os.terminal_size) -> str:
        # Each time anew, since the program may have reset the terminal. At first, one row is won below the
        # cursor, which stays in its column and its line.
        room = "" if self._size else "\x1bD\x1b[1A"
        self._size = size
        return f"{room}{_SAVE}\x1b[1;{size.lines - 1}r{_RESTORE}"

    def _release(self) -> None:
        size, self._size = self._size, None
        if size is None:
            return
        try:
            size = os.get_terminal_size(self._descriptor)
            self._write(f"{_SAVE}\x1b[r\x1b[{size.lines};1H\x1b[2K{_RESTORE}")
        except OSError:
            pass  # the terminal is gone

    def _write(self, text: str) -> None:
        os.write(self._descriptor, text.encode(errors="replace"))


def _row(size: os.terminal_size, text: str) -> str:
    # Neither the program's colours nor its line feed at the margin: both are part of what is saved.
    return f"{_SAVE}\x1b[{size.lines};1H\x1b[0m\x1b[2K{text}{_RESTORE}"
