"""The last row of the terminal says how far a run is, and is given back whatever happens."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COZ = ROOT / "build/bin/coz"
LINES, COLUMNS = 24, 100
DRAWN = re.compile(r"\x1b7\x1b\[24;1H\x1b\[0m\x1b\[2K([^\x1b]*)\x1b8")
REGION, GIVEN_BACK = f"\x1b[1;{LINES - 1}r", f"\x1b[r\x1b[{LINES};1H\x1b[2K"
PATIENCE = 60.0


class Terminal:
    """A command in a terminal of its own, and all that the terminal was sent."""

    def __init__(self, command: list[object], folder: Path, **variables: str) -> None:
        self.text = ""
        self.process, self.screen = pty.fork()
        if self.process == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("4H", LINES, COLUMNS, 0, 0))
            os.chdir(folder)
            own = {"TERM": "xterm", "PS1": "$ ", "XDG_CACHE_HOME": str(folder / "cache"), **variables}
            words = [str(word) for word in command]
            os.execvpe(words[0], words, os.environ | own)

    def type(self, text: str) -> None:
        os.write(self.screen, text.encode())

    def wait_for(self, pattern: str, after: int = 0, patience: float = PATIENCE) -> int:
        """Until the pattern is there; where it ends."""
        end = time.monotonic() + patience
        while not (found := re.compile(pattern).search(self.text, after)):
            assert time.monotonic() < end, f"no {pattern!r} after {after} in {self.text!r}"
            assert self._read(), f"ended without {pattern!r}: {self.text!r}"
        return found.end()

    def finish(self) -> int:
        """To its end: its wait status."""
        end = time.monotonic() + PATIENCE
        while self._read():
            assert time.monotonic() < end, self.text
        os.close(self.screen)
        return os.waitpid(self.process, 0)[1]

    def kill(self) -> None:
        """For tests that do not come to their end."""
        try:
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
        except (ProcessLookupError, ChildProcessError):
            return

    def _read(self) -> bool:
        if not select.select([self.screen], [], [], 1)[0]:
            return True
        try:
            new = os.read(self.screen, 1 << 16)
        except OSError:
            return False
        self.text += new.decode(errors="replace")
        return bool(new)


@pytest.fixture
def terminal(tmp_path):
    made = []

    def start(*command, **variables):
        made.append(Terminal(list(command), tmp_path, **variables))
        return made[-1]

    yield start
    for each in made:
        each.kill()


def coz_run(program, *arguments, options=()):
    return [COZ, "run", "-o", "p.coz", *options, "---", program, *arguments]


def is_given_back(text):
    """Nothing was drawn after the row was given back."""
    return text.rindex(GIVEN_BACK) > text.rindex(REGION)


def test_the_row_appears_changes_and_goes(terminal, build):
    shown = terminal(*coz_run(build("loop.c"), 6))
    shown.wait_for(DRAWN.pattern)
    assert os.waitstatus_to_exitcode(shown.finish()) == 0
    rows = DRAWN.findall(shown.text)
    assert len(set(rows)) > 1
    assert all(re.fullmatch(r"coz: \d+:\d\d, [\d,]+ experiments?( on \d+ lines?)?.*", row) for row in rows)
    assert max(map(len, rows)) < COLUMNS
    assert is_given_back(shown.text)
    # What the program says is there, and what coz says afterwards is not in the row.
    assert "out: " in shown.text[: shown.text.index(REGION)]
    assert "experiment" in shown.text[shown.text.rindex(GIVEN_BACK) :]


def test_a_killed_program_leaves_no_row(terminal, build):
    shown = terminal(*coz_run(build("loop.c"), 3.5, "raise", 9))
    assert os.WTERMSIG(shown.finish()) == signal.SIGKILL
    assert DRAWN.search(shown.text)
    assert is_given_back(shown.text)


@pytest.mark.parametrize("options", [["--live", "off"], ["-q"]])
def test_who_wants_no_row_has_none(terminal, build, options):
    shown = terminal(*coz_run(build("loop.c"), 3.5, options=options))
    assert os.waitstatus_to_exitcode(shown.finish()) == 0
    assert "\x1b" not in shown.text


def test_a_simple_terminal_has_none(terminal, build):
    shown = terminal(*coz_run(build("loop.c"), 3.5), TERM="dumb")
    assert os.waitstatus_to_exitcode(shown.finish()) == 0
    assert "\x1b" not in shown.text


def test_without_a_terminal_nothing_is_drawn(coz, build):
    run = coz.run([build("loop.c"), 3.5])
    assert run.status == 0
    assert "\x1b" not in run.err + run.out
    assert [line for line in run.err.splitlines() if line.startswith("coz: ")][:-1] == []


def coz_amp(program, *arguments):
    return [COZ, "amp", "-o", "p.coz", "--levels", "0,50", "---", program, *arguments]


@pytest.mark.parametrize("command", ["run", "amp"])
def test_ctrl_z_gives_the_terminal_back_until_it_goes_on(terminal, build, command):
    """`coz amp` has the row for all of its runs, and draws with each of them."""
    words = {
        "run": lambda: coz_run(build("loop.c"), 100),
        "amp": lambda: coz_amp(build("examples/producer_consumer/producer_consumer.cpp"), "seconds=6"),
    }[command]()
    shell = terminal("bash", "--norc", "--noprofile", "-i")
    shell.wait_for(r"\$ ")
    shell.type(" ".join(map(str, words)) + "\n")
    drawn = shell.wait_for(DRAWN.pattern)
    shell.type("\x1a")
    stopped = shell.wait_for("Stopped", drawn)
    assert is_given_back(shell.text[:stopped])
    settled = shell.wait_for(r"\$ ", stopped)
    shell.type("echo alone\n")
    settled = shell.wait_for("alone\r\n", settled)
    shell.type("fg\n")
    drawn = shell.wait_for(DRAWN.pattern, settled)
    assert not DRAWN.search(shell.text, stopped, settled)
    shell.type("\x03")
    shell.wait_for(r"\$ ", drawn)
    assert is_given_back(shell.text)
    shell.type("exit\n")
    shell.finish()


@pytest.mark.measured
def test_the_leading_lines_are_shown(terminal, build):
    """From the tenth second on: as `coz report` has them, with intervals."""
    shown = terminal(*coz_run(build("examples/serial/serial.cpp"), 120, options=["--live", "on"]))
    leader = r"; if faster by \d+ %: serial\.cpp:\d+ [+-]\d+\.\d ±\d+\.\d %"
    end = shown.wait_for(r"on \d+ lines?" + leader, patience=2 * PATIENCE)
    (row,) = re.findall(r"coz: [^\x1b]*$", shown.text[:end])
    assert re.fullmatch(r"coz: \d+:\d\d, [\d,]+ experiments on \d+ lines?" + leader, row)


ROW_OF_A_PROGRAM = """
import os, sys, termios
sys.path.insert(0, sys.argv[1])
from cozcli.status_row import StatusRow

row, flag = StatusRow(), getattr(termios, sys.argv[2])
before = termios.tcgetattr(0)

def show(text, on):
    now = list(before)
    now[3] = before[3] if on else before[3] & ~flag
    termios.tcsetattr(0, termios.TCSANOW, now)
    row.show(text)
    print("<" + text + ">", flush=True)

show("hidden", False)
show("shown", True)
show("hidden again", False)
show("shown again", True)
row.release()
"""


@pytest.mark.parametrize("flag", ["ECHO", "ICANON"])
def test_nothing_is_drawn_while_a_program_has_the_terminal_for_itself(terminal, flag):
    shown = terminal(sys.executable, "-P", "-c", ROW_OF_A_PROGRAM, ROOT, flag)
    assert os.waitstatus_to_exitcode(shown.finish()) == 0
    assert DRAWN.findall(shown.text) == ["shown", "shown again"]
    begin, end = shown.text.index("<shown>"), shown.text.index("<hidden again>")
    assert is_given_back(shown.text[:end])
    assert GIVEN_BACK not in shown.text[:begin]
