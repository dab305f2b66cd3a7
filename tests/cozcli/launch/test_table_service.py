"""The launcher's answers to the runtime's requests for tables, with a stand-in for the helper."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cozcli.errors import Problem
from cozcli.launch.fixed_targets import Wanted
from cozcli.launch.helper import Helper
from cozcli.launch.line_tables import Scope, may_match_later
from cozcli.launch.table_service import Later, TableService

HELPER = r"""#!{python}
import json, os, sys, time
folder = os.path.dirname(os.path.abspath(__file__))
with open(folder + "/calls", "a") as calls:
    calls.write(json.dumps(sys.argv[1:]) + "\n")
answers = json.load(open(folder + "/answers"))
time.sleep(answers.get("delay", 0))
status, answer = answers[sys.argv[1]]
print(answer if isinstance(answer, str) else json.dumps(answer))
sys.exit(status)
"""

TABLE = [0, {"table": "/cache/t", "binary": "/lib/a.so", "warnings": []}]
SCOPE = [0, {"lines": 3, "files": [], "all_files": [], "chosen": [{"found": [], "nearest": ["/src/a.c:9"]}]}]


class Fixture:
    """A service, what it said, and what its helper was asked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.said: list[Problem] = []
        self.path = folder / "helper"
        self.path.write_text(HELPER.format(python=sys.executable))
        self.path.chmod(0o755)
        self.answers()
        self.helper = Helper(self.path)

    def answers(self, build: object = TABLE, scope: object = SCOPE, delay: float = 0) -> None:
        text = json.dumps({"build": build, "scope": scope, "delay": delay})
        (self.folder / "answers").write_text(text)

    def calls(self) -> list[list[str]]:
        calls = self.folder / "calls"
        return [json.loads(line) for line in calls.read_text().splitlines()] if calls.exists() else []

    def service(self, later: Later) -> TableService:
        return TableService(self.helper, later, self.said.extend)


@pytest.fixture
def world(tmp_path: Path) -> Fixture:
    return Fixture(tmp_path)


LINE = Wanted("line", "a.c:10")
LIBRARIES = Later(["%.so"], {"/lib/there.so"})


def test_a_table_is_made_for_what_is_wanted(world: Fixture) -> None:
    service = world.service(Later(["%.so"], (), Scope(["%.c", "%.h"]), [LINE]))
    assert service.answer(b"table\t1\t/lib/a.so") == b"1\t/cache/t"
    build, scope = world.calls()
    assert build == ["build", "/lib/a.so"]
    assert scope == [
        *("scope", "--table", "/cache/t", "--source-scope", "%.c", "--source-scope", "%.h"),
        *("--line", "a.c:10"),
    ]
    assert world.said == []


@pytest.mark.parametrize("path", [b"/lib/other", b"/lib/there.so"])
def test_nobody_is_asked_about_the_rest(world: Fixture, path: bytes) -> None:
    assert world.service(LIBRARIES).answer(b"table\t1\t" + path) == b"1\t"
    assert world.calls() == []
    assert world.said == []


def test_any_path_can_be_asked_for(world: Fixture) -> None:
    service = world.service(LIBRARIES)
    assert service.answer("table\t1\t/lib/ü \udcff\t.so".encode(errors="surrogateescape")) == b"1\t/cache/t"
    assert world.calls()[0] == ["build", "/lib/ü \udcff\t.so"]


@pytest.mark.parametrize(
    "request_", [b"", b"hello", b"table\t1", b"table\tx\t/lib/a.so", b"table\t1\trelative.so", b"take\t1\t/a"]
)
def test_nonsense_ends_the_service(world: Fixture, request_: bytes) -> None:
    assert world.service(LIBRARIES).answer(request_) is None


@pytest.mark.parametrize(
    ("build", "scope", "words"),
    [
        ([3, {"error": "no-debug-info", "message": "m"}], SCOPE, "a.so was loaded, but has no debug info"),
        ([5, {"error": "cache", "message": "disk full"}], SCOPE, "disk full. Nothing of it is profiled"),
        ([0, "nonsense"], SCOPE, "its answer cannot be read. Nothing of it is profiled"),
        ([0, {"no": "table"}], SCOPE, "failed: status 0"),
        ([0, []], SCOPE, "cannot be read"),
        (TABLE, [5, {"error": "cache", "message": "is damaged"}], "is damaged. Nothing of it is profiled"),
    ],
)
def test_what_fails_costs_one_library_and_is_said(
    world: Fixture, build: object, scope: object, words: str
) -> None:
    service = world.service(LIBRARIES)
    world.answers(build, scope)
    assert service.answer(b"table\t1\t/lib/a.so") == b"1\t"
    (problem,) = world.said
    assert words in problem.text
    world.answers()
    assert service.answer(b"table\t2\t/lib/b.so") == b"2\t/cache/t"


def test_a_library_out_of_the_source_scope_is_told(world: Fixture) -> None:
    world.answers(scope=[0, {"lines": 0, "chosen": []}])
    assert world.service(LIBRARIES._replace(scope=Scope(["%.rs"]))).answer(b"table\t1\t/lib/a.so")
    assert "no source line of it matches -s %.rs" in world.said[0].text


def test_what_never_came(world: Fixture) -> None:
    service = world.service(Later(["%/a.so", "%/there.so", "%/b.so"], {"/lib/there.so"}, Scope(), [LINE]))
    service.answer(b"table\t1\t/lib/a.so")
    patterns, line = service.missed()
    assert "matches -b %/b.so, so none" in patterns.text
    assert "a line a.c:10" in line.text
    assert "/src/a.c:9" in line.hint
    world.answers(
        scope=[0, {"lines": 1, "chosen": [{"found": [{"location": "/src/b.c:10"}], "nearest": []}]}]
    )
    service.answer(b"table\t1\t/lib/b.so")
    assert service.missed() == []


def test_patterns_that_can_match_later() -> None:
    there = ["/bin/p", "/lib/l.so"]
    assert not may_match_later("MAIN", there)
    assert not may_match_later("/lib/l.so", there)
    assert may_match_later("/lib/m.so", there)
    assert may_match_later("%l.so", there)


def with_program(service: TableService, use: Callable[[socket.socket], None]) -> None:
    """`use` has the program's end while the service runs."""
    ours = socket.socket(fileno=os.dup(service.program_end))
    service.start()
    try:
        use(ours)
    finally:
        ours.close()
        service.close()


def test_requests_are_answered_while_the_program_runs(world: Fixture) -> None:
    def use(program: socket.socket) -> None:
        program.settimeout(30)
        for number in (b"1", b"2"):
            program.send(b"table\t" + number + b"\t/lib/a.so")
            assert program.recv(1000) == number + b"\t/cache/t"

    service = world.service(LIBRARIES)
    assert service.program_end >= 512
    with_program(service, use)


def test_after_nonsense_the_program_finds_nobody(world: Fixture) -> None:
    def use(program: socket.socket) -> None:
        program.settimeout(30)
        program.send(b"hello")
        assert program.recv(1000) == b""
        with pytest.raises(ConnectionError):
            program.send(b"table\t1\t/lib/a.so")

    with_program(world.service(LIBRARIES), use)


def test_another_run_has_a_service_like_the_first(world: Fixture) -> None:
    for _ in range(2):
        service = world.service(LIBRARIES)
        assert service.answer(b"table\t1\t/lib/a.so") == b"1\t/cache/t"
        service.close()
    assert world.said == []


def test_a_slow_helper_is_ended_with_the_program(world: Fixture) -> None:
    world.answers(delay=60)
    started = time.monotonic()

    def use(program: socket.socket) -> None:
        program.send(b"table\t1\t/lib/a.so")
        while not world.calls():
            time.sleep(0.02)

    threads = threading.active_count()
    with_program(world.service(LIBRARIES), use)
    assert time.monotonic() - started < 20
    assert threading.active_count() == threads
    assert world.said == []


def test_a_program_that_does_not_listen_does_not_hold_us(world: Fixture) -> None:
    started = time.monotonic()

    def use(program: socket.socket) -> None:
        program.setblocking(False)
        program.send(b"table\t1\t/lib/a.so")

    with_program(world.service(LIBRARIES), use)
    assert time.monotonic() - started < 5
