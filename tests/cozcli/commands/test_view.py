"""`coz view` from outside: what it writes, says, refuses and opens."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from in_fork import coz
from synthetic import Line, Model, to_bytes


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two profiles of a source file that is there."""
    source = tmp_path / "a.c"
    source.write_text("".join(f"/* {i} */\n" for i in range(1, 20)), encoding="utf-8")
    for name, share in (("profile.coz", 0.5), ("after.coz", 0.2)):
        lines = [Line(f"{source}:7", lambda s, a=share: a * s), Line(f"{source}:12", lambda s: 0.0)]
        (tmp_path / name).write_bytes(to_bytes(Model(lines).records(40)))
    return tmp_path


def view(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    return coz("view", *arguments, cwd=folder, environment={**environment, **variables})


def data_of(page: Path) -> dict[str, Any]:
    found = re.search('id="data">(.*?)</script>', page.read_text(encoding="utf-8"))
    assert found
    document: dict[str, Any] = json.loads(found[1])
    return document


def test_it_writes_a_page_and_says_where(folder: Path) -> None:
    done = view(folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "profile.html\n", "")
    document = data_of(folder / "profile.html")
    (profile,) = document["profiles"]
    assert profile["name"] == "profile.coz"
    assert [r["location"] for r in profile["results"]] == [f"{folder}/a.c:7", f"{folder}/a.c:12"]
    assert document["sources"][f"{folder}/a.c"]["parts"]["1"][6] == "/* 7 */"


def test_two_profiles_are_compared(folder: Path) -> None:
    done = view(
        folder, "profile.coz", "--compare", "after.coz", "-o", "both.html", "--no-source", "--top", "1"
    )
    assert done.returncode == 0
    document = data_of(folder / "both.html")
    assert [profile["name"] for profile in document["profiles"]] == ["profile.coz", "after.coz"]
    assert [len(profile["results"]) for profile in document["profiles"]] == [1, 1]
    assert [profile["left_out"] for profile in document["profiles"]] == [1, 1]
    assert document["sources"] == {}


def test_profiles_of_one_name_are_called_by_their_folders(folder: Path) -> None:
    (folder / "before").mkdir()
    (folder / "profile.coz").rename(folder / "before/profile.coz")
    (folder / "after.coz").rename(folder / "profile.coz")
    done = view(folder, "before/profile.coz", "--compare", "profile.coz", "-o", "both.html")
    assert done.returncode == 0, done.stderr
    names = [profile["name"] for profile in data_of(folder / "both.html")["profiles"]]
    assert names == ["before/profile.coz", "profile.coz"]


def test_filters_are_those_of_report(folder: Path) -> None:
    assert view(folder, "--line", "a.c:12", "--progress-point", "request").returncode == 0
    (result,) = data_of(folder / "profile.html")["profiles"][0]["results"]
    assert result["location"].endswith("a.c:12")


def test_a_line_of_one_profile_only_is_shown(folder: Path) -> None:
    records = Model([Line(f"{folder}/new.c:3", lambda s: 0.4 * s)]).records(40)
    (folder / "other.coz").write_bytes(to_bytes(records))
    assert view(folder, "--compare", "other.coz", "--line", "new.c:3").returncode == 0
    first, second = data_of(folder / "profile.html")["profiles"]
    assert first["results"] == []
    assert [result["location"] for result in second["results"]] == [f"{folder}/new.c:3"]
    assert view(folder, "--compare", "other.coz", "--line", "nowhere.c").returncode == 2


def test_what_leads_in_one_profile_is_found_in_a_build_elsewhere(folder: Path) -> None:
    lines = [Line("/ci/a.c:12", lambda s: 0.4 * s), Line("/ci/a.c:7", lambda s: 0.1 * s)]
    (folder / "after.coz").write_bytes(to_bytes(Model(lines).records(40)))
    assert view(folder, "--compare", "after.coz", "--top", "1").returncode == 0
    profiles = data_of(folder / "profile.html")["profiles"]
    assert [len(profile["results"]) for profile in profiles] == [2, 2]


def test_what_leads_in_one_profile_is_found_in_one_with_more_folders(folder: Path) -> None:
    lines = [Line(f"{folder}/a.c:12", lambda s: 0.4 * s), Line(f"{folder}/a.c:7", lambda s: 0.1 * s)]
    lines.append(Line(f"{folder.parent}/b.c:3", lambda s: 0.0))
    (folder / "after.coz").write_bytes(to_bytes(Model(lines).records(40)))
    assert view(folder, "--compare", "after.coz", "--top", "1").returncode == 0
    profiles = data_of(folder / "profile.html")["profiles"]
    leading = {f"{folder}/a.c:7", f"{folder}/a.c:12"}
    assert [{result["location"] for result in profile["results"]} for profile in profiles] == 2 * [leading]


def test_other_files_are_not_overwritten(folder: Path) -> None:
    before = (folder / "profile.coz").read_bytes()
    done = view(folder, "-o", "profile.coz")
    assert done.returncode == 2
    assert "profile.coz is there already, and is not a page of coz view" in done.stderr
    assert "--force" in done.stderr
    assert (folder / "profile.coz").read_bytes() == before
    assert view(folder, "-o", "page.html").returncode == view(folder, "-o", "page.html").returncode == 0
    assert view(folder, "-o", "a.c", "--force", "--no-source").returncode == 0
    assert (folder / "a.c").read_bytes().startswith(b"<!doctype html>")


@pytest.mark.parametrize(("output", "reason"), [("no/such/page.html", "No such file"), (".", "regular file")])
def test_what_cannot_be_written_is_said(folder: Path, output: str, reason: str) -> None:
    done = view(folder, "-o", output)
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
    assert reason in done.stderr


def opener(folder: Path, script: str) -> str:
    """A PATH with an xdg-open of our own."""
    (folder / "bin").mkdir()
    program = folder / "bin" / "xdg-open"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    return f"{folder}/bin:{os.environ['PATH']}"


def test_the_page_is_opened_where_there_is_a_display(folder: Path) -> None:
    path = opener(folder, f'echo "$1" >> {folder}/opened; echo noise')
    assert view(folder, PATH=path).returncode == 0
    assert not (folder / "opened").exists()
    assert view(folder, "--no-open", PATH=path, DISPLAY=":7").returncode == 0
    assert not (folder / "opened").exists()
    done = view(folder, "-o", "my page.html", PATH=path, DISPLAY=":7")
    assert (done.returncode, done.stdout, done.stderr) == (0, "my page.html\n", "")
    assert (folder / "opened").read_text(encoding="utf-8") == f"file://{folder}/my%20page.html\n"


def test_a_browser_that_does_not_start_is_no_failure(folder: Path) -> None:
    done = view(folder, PATH=opener(folder, "exit 3"), WAYLAND_DISPLAY="wayland-7")
    assert done.returncode == 0
    assert "no browser could be started" in done.stderr
    assert (folder / "profile.html").exists()


def test_what_leads_in_one_profile_is_shown_of_both(folder: Path) -> None:
    lines = [Line(f"{folder}/a.c:12", lambda s: 0.4 * s), Line(f"{folder}/a.c:7", lambda s: 0.1 * s)]
    (folder / "after.coz").write_bytes(to_bytes(Model(lines).records(40)))
    assert view(folder, "--compare", "after.coz", "--top", "1").returncode == 0
    first, second = data_of(folder / "profile.html")["profiles"]
    names = [{result["location"] for result in profile["results"]} for profile in (first, second)]
    assert names == 2 * [{f"{folder}/a.c:7", f"{folder}/a.c:12"}]
