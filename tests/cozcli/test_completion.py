"""Completion in shells: that it is up to date, and what bash, zsh and fish make of it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMPLETIONS = ROOT / "packaging" / "completions"

#: What has been typed, and what must then be offered; the last word is the one to be completed.
OFFERED = [
    (["re"], {"report"}),
    (["report", "--fail"], {"--fail-if"}),
    (["run", "--granularity", ""], {"line", "function", "callpath"}),
    (["amp", "--progress-s"], {"--progress-sampled"}),
    (["plot", "profile.c"], {"profile.coz"}),
    (["report", "first.coz", "profile.c"], {"profile.coz"}),
    # Behind the dashes stands another command: its files are completed, and coz's options are not.
    (["run", "---", "./prog", "profile.c"], {"profile.coz"}),
    (["run", "--seed", "1", "---", "./pr"], {"./prog", "./profile.coz"}),
    (["run", "---", "./prog", "--granu"], set()),
    (["report", "--no-such"], set()),
]
IDS = [" ".join(words) for words, _ in OFFERED]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where something is completed: with a profile and a program."""
    (tmp_path / "profile.coz").touch()
    program = tmp_path / "prog"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return tmp_path


def test_the_completions_are_those_of_the_options(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "scripts" / "make_completions.py", tmp_path], check=True)
    for made in (path for path in tmp_path.rglob("*") if path.is_file()):
        committed = COMPLETIONS / made.relative_to(tmp_path)
        assert committed.read_text() == made.read_text(), f"{committed} is out of date: make completions"


# `default` is what bash does by itself, with files, where the function offers nothing.
BASH = """
source "$1"; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
word=${COMP_WORDS[COMP_CWORD]}
_coz coz "$word"
((${#COMPREPLY[@]})) || [[ " ${COMP_WORDS[*]} " != *" --- "* ]] || COMPREPLY=($(compgen -f -- "$word"))
((${#COMPREPLY[@]} == 0)) || printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.parametrize(("words", "expected"), OFFERED, ids=IDS)
def test_bash_completes(folder: Path, words: list[str], expected: set[str]) -> None:
    command = ["bash", "--norc", "-c", BASH, "bash", str(COMPLETIONS / "bash" / "coz"), "coz", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    assert (set(done.stdout.split()), done.stderr) == (expected, "")


@pytest.mark.skipif(shutil.which("fish") is None, reason="needs fish")
@pytest.mark.parametrize(("words", "expected"), OFFERED, ids=IDS)
def test_fish_completes(folder: Path, words: list[str], expected: set[str]) -> None:
    script = f"source {COMPLETIONS}/fish/coz.fish; complete -C 'coz {' '.join(words)}'"
    done = subprocess.run(
        ["fish", "--no-config", "-c", script],
        cwd=folder,
        env={"HOME": str(folder), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ({line.split("\t")[0] for line in done.stdout.splitlines()}, done.stderr) == (expected, "")


# zsh completes only what is typed at a terminal: one is made, and what the line has become is printed.
ZSH = """
zmodload zsh/zpty
zpty -b shell zsh -f -i
send() { zpty -w shell "$1" }
wait_for() { local got; zpty -r shell got "*$1*" }
send "PROMPT= RPROMPT=; stty -echo; unsetopt zle_bracketed_paste; fpath=($1 \\$fpath)"
send 'autoload -U compinit && compinit -u -D'
send 'print-line() { BUFFER="print -r -- ${(q)BUFFER}LINE-END"; zle accept-line }; zle -N print-line'
send 'bindkey "^X" print-line; print BEGIN'-'NING'
wait_for BEGIN-NING
zpty -n -w shell "$2"$'\\t\\C-X'
local got; zpty -r shell got $'*\\n*LINE-END[[:space:]]*'
print -r -- $got
"""


@pytest.mark.skipif(shutil.which("zsh") is None, reason="needs zsh")
@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("coz re", "coz report"),
        ("coz report --fail", "coz report --fail-if"),
        ("coz plot profile.c", "coz plot profile.coz"),
        ("coz run --- ./prog profile.c", "coz run --- ./prog profile.coz"),
    ],
)
def test_zsh_completes(folder: Path, typed: str, completed: str) -> None:
    done = subprocess.run(
        ["zsh", "-f", "-c", ZSH, "zsh", str(COMPLETIONS / "zsh"), typed],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert f"{completed} LINE-END" in done.stdout.replace("\\", "")
