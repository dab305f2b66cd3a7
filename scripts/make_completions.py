"""Writes the completions for bash, zsh and fish into a folder, from the options as argparse knows them.

    make_completions.py FOLDER

What stands in packaging/completions was made by this, with the shtab that requirements-dev.txt names; so
nobody who installs coz needs shtab. docs/decisions/completion.md says why.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import shtab

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from cozcli.cli import build_parser
from cozcli.load import command as amp

#: Metavars of what is a file. FILE:LINE is not among them: no shell knows which lines a file has.
FILES = {"FILE", "PROFILE", "PROGRAM", "A", "B", "LIST"}
#: By shell, the names under which it looks for the completion of `coz`.
NAMES = {"bash": "coz", "zsh": "_coz", "fish": "coz.fish"}
#: These take a program with its arguments behind dashes.
WITH_PROGRAM = ("run", "amp", "doctor", "lines", "compare", "layout", "bias")

HEADING = """\
# Completion of coz's commands and options in {shell}.
# Written by `make completions`: change the options in cozcli/, not this.
"""

# Behind the dashes stands another command with arguments of its own, which completes as it does without coz.
BASH = """\

_coz() {
  local i
  for ((i = 2; i < COMP_CWORD; i++)); do
    if [[ ${COMP_WORDS[i]} == --- || ${COMP_WORDS[i]} == -- ]]; then
      if declare -F _command_offset >/dev/null; then
        _command_offset $((i + 1))
      elif ((COMP_CWORD == i + 1)); then
        compopt -o filenames 2>/dev/null
        local word=${COMP_WORDS[COMP_CWORD]}
        mapfile -t COMPREPLY < <(compgen -c -- "$word"; compgen -f -- "$word")
      else
        compopt -o default 2>/dev/null
        COMPREPLY=()
      fi
      return
    fi
  done
  _shtab_coz "$@"
}

complete -o bashdefault -F _coz coz
"""

ZSH = """
_coz() {
  local dashes=${words[(I)---]}
  if (( dashes == 0 )); then
    dashes=${words[(I)--]}
  fi
  if (( dashes > 2 && CURRENT > dashes )); then
    shift $dashes words
    (( CURRENT -= dashes ))
    _normal
  else
    _shtab_coz "$@"
  fi
}
"""

FISH = """
function _coz_behind_dashes
  set -l tokens (commandline -opc)
  test (count $tokens) -ge 3; and contains -- $tokens[2] {commands}; and begin
    contains -- --- $tokens[3..]; or contains -- -- $tokens[3..]
  end
end

function _coz_complete_program
  set -l tokens (commandline -opc)
  set -l at (contains -i -- --- $tokens; or contains -i -- -- $tokens)
  if test (count $tokens) -eq $at[1]
    __fish_complete_command
    __fish_complete_path (commandline -ct)
  else
    set -l rest (string escape -- $tokens[(math $at[1] + 1)..])
    complete -C "$rest "(commandline -ct)
  end
end

complete -c coz -n _coz_behind_dashes -a '(_coz_complete_program)'
"""


def completing_parser() -> argparse.ArgumentParser:
    """The parser of `coz`, with what shtab is to know about values."""
    parser = build_parser()
    (commands,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    _add_run_options(commands.choices["amp"], commands.choices["run"])
    summaries = {choice.dest: choice.help for choice in commands._choices_actions}
    for name, command in commands.choices.items():
        # The lists that shells show have a line for each command.
        command.description = summaries[name]
        _complete_files(command)
    return parser


def _complete_files(command: argparse.ArgumentParser) -> None:
    for action in command._actions:
        if isinstance(action, argparse._SubParsersAction):
            for part in action.choices.values():
                _complete_files(part)
        elif action.metavar in FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]


def _add_run_options(command: argparse.ArgumentParser, run: argparse.ArgumentParser) -> None:
    """`coz amp` takes the options of `coz run`, but for those that it sets itself."""
    known = {*amp.OWN, *command._option_string_actions}
    for action in run._actions:
        if action.option_strings and not known.intersection(action.option_strings):
            command._add_action(action)


def complete(shell: str) -> str:
    """The text of a completion."""
    text = shtab.complete(completing_parser(), shell)
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    # shtab's heading tells where to copy the file to, which `make install` does.
    heading = HEADING.format(shell=shell)
    if shell == "zsh":
        body = "\n".join(lines)
        function, found, call = body.rpartition("\ntypeset -A opt_args")
        assert found, "shtab has changed what it writes for zsh"
        return "#compdef coz\n" + heading + function + ZSH + found + call.replace("_shtab_coz", "_coz") + "\n"
    if shell == "fish":
        body = "\n".join(lines)
        assert "_shtab_coz_using " in body, "shtab has changed what it writes for fish"
        # Behind the dashes the words are the program's.
        body = body.replace(
            "function _shtab_coz_using\n", "function _shtab_coz_using\n  _coz_behind_dashes; and return 1\n"
        )
        return heading + body + "\n" + FISH.replace("{commands}", " ".join(WITH_PROGRAM))
    registered = [line for line in lines if line.startswith("complete ")]
    assert len(registered) == 1, "shtab has changed what it writes for bash"
    return heading + "\n".join(line for line in lines if line not in registered) + BASH


def main() -> None:
    """Write all three."""
    folder = Path(sys.argv[1])
    for shell, name in NAMES.items():
        (folder / shell).mkdir(parents=True, exist_ok=True)
        (folder / shell / name).write_text(complete(shell), encoding="utf-8")


if __name__ == "__main__":
    main()
