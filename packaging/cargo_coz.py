#!/usr/bin/env python3
"""cargo coz: build a Rust program for release with line tables, and profile it.

    cargo coz run [OPTIONS] [--- ARGUMENTS]

OPTIONS are those of cargo build that choose what is built (--bin, --example, --bench, --test, --package,
--features, --all-features, --no-default-features, --profile, --release, --target, --target-dir, --manifest-path,
--jobs, --offline, --locked, --frozen) and those of coz run. ARGUMENTS are the program's. In place of run, also amp, doctor and lines.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

#: Commands of coz that take one program.
ACTIONS = ("run", "amp", "doctor", "lines")
#: Options of cargo build, by whether a value follows.
WITH_VALUE = (
    *("--bin", "--example", "--bench", "--test", "--package", "--features"),
    *("--profile", "--target", "--target-dir", "--manifest-path", "--jobs"),
)
WITHOUT = ("--all-features", "--no-default-features", "--release", "--offline", "--locked", "--frozen")
SEPARATORS = ("---", "--")
#: Kinds of targets that options name.
KINDS = {"bin", "example", "test", "bench"}
#: What cargo's messages call line tables, or more.
NO_LINES = (None, 0, "none", "line-directives-only")
#: The name of the section that line tables are in.
LINE_SECTION = b".debug_line\0"
STATUS_REFUSED = 2


class Refused(Exception):
    """Ends the command: what happened, and what to do."""

    def __init__(self, text: str, hint: str = "") -> None:
        super().__init__(text)
        self.hint = hint


def divide(words: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """Options of cargo, options of coz, and the program's arguments."""
    end = next((i for i, word in enumerate(words) if word in SEPARATORS), len(words))
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    for name in WITH_VALUE:
        parser.add_argument(name, action="append", default=[])
    for name in WITHOUT:
        parser.add_argument(name, action="store_true")
    known, of_coz = parser.parse_known_args(words[:end])
    of_cargo = []
    for name in (*WITH_VALUE, *WITHOUT):
        value = getattr(known, name.lstrip("-").replace("-", "_"))
        of_cargo += [name] if value is True else [part for each in value or () for part in (name, each)]
    return of_cargo, of_coz, list(words[end + 1 :])


def build(options: Sequence[str], with_lines: bool) -> dict[str, object]:
    """Build, and return cargo's message on the one program that came of it.

    Raises:
        Refused: nothing could be built, or not one program.
    """
    profile = options[options.index("--profile") + 1] if "--profile" in options else "release"
    environment = dict(os.environ)
    if with_lines:
        variable = f"CARGO_PROFILE_{profile.upper().replace('-', '_')}"
        environment |= {f"{variable}_DEBUG": "line-tables-only", f"{variable}_STRIP": "none"}
    chosen = options if {"--profile", "--release"} & set(options) else [*options, "--release"]
    cargo = os.environ.get("CARGO", "cargo")
    command = [cargo, "build", "--message-format=json-render-diagnostics", *chosen]
    try:
        built = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    except OSError as error:
        raise Refused(f"{cargo} cannot be run: {error.strerror}.", "install Rust's cargo.") from error
    if built.returncode != 0:
        raise Refused("cargo build failed, so there is nothing to profile.")
    messages = [json.loads(line) for line in built.stdout.splitlines() if line.startswith("{")]
    # With a test or a benchmark, cargo builds the package's programs, too.
    wanted = {option.removeprefix("--") for option in options} & KINDS
    programs = [
        message
        for message in messages
        if message.get("executable") and (not wanted or wanted & set(message["target"].get("kind", wanted)))
    ]
    if not programs:
        raise Refused("cargo built no program.", "in a library, choose one by --example, --bench or --test.")
    if len(programs) > 1:
        names = ", ".join(sorted(message["target"]["name"] for message in programs))
        raise Refused(f"cargo built several programs: {names}.", "choose one by --bin or --example NAME.")
    return programs[0]


def has_lines(program: dict[str, object]) -> bool:
    """Whether the program has line tables, which `strip = true` would have removed."""
    profile = program.get("profile")
    if isinstance(profile, dict) and profile.get("debuginfo") in NO_LINES:
        return False
    return LINE_SECTION in Path(str(program["executable"])).read_bytes()


def find_coz() -> str:
    """The command beside this one, or in the search path.

    Raises:
        Refused: there is none.
    """
    beside = Path(__file__).resolve().parent / "coz"
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which("coz")
    if found is None:
        raise Refused("there is no command coz in the search path.", "install coz, or add it to PATH.")
    return found


def main(words: Sequence[str]) -> int:
    """Run `cargo coz WORDS`; returns only if it fails."""
    words = words[1:] if words[:1] == ["coz"] else words  # cargo passes on its own first word
    if not words or words[0] in ("-h", "--help"):
        print((__doc__ or "").strip())
        return 0 if words else STATUS_REFUSED
    try:
        if words[0] not in ACTIONS:
            raise Refused(f"cargo coz has no command {words[0]}.", f"it has {', '.join(ACTIONS)}.")
        of_cargo, of_coz, arguments = divide(words[1:])
        if {"-h", "--help"} & set(of_coz):
            os.execv(find_coz(), ["coz", words[0], "--help"])
        program = build(of_cargo, with_lines=False)
        if not has_lines(program):
            print(
                "cargo coz: building again with line tables. To spare this, write into Cargo.toml:\n"
                '    [profile.release]\n    debug = "line-tables-only"',
                file=sys.stderr,
            )
            program = build(of_cargo, with_lines=True)
        os.execv(find_coz(), ["coz", words[0], *of_coz, "---", str(program["executable"]), *arguments])
    except Refused as refused:
        print(f"cargo coz: error: {refused}", file=sys.stderr)
        if refused.hint:
            print(f"cargo coz: hint: {refused.hint}", file=sys.stderr)
        return STATUS_REFUSED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
