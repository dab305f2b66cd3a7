"""coz.toml: found, read, overridden by the command line, and refused where it is wrong."""

from __future__ import annotations

import os
import shutil
from argparse import Namespace
from pathlib import Path

import pytest

from cozcli.cli import parse
from cozcli.errors import CozError

FILE = """
[run]
source-scope = ["src/%", "lib/%"]
progress = "frames.cpp:12"
companions = 10
end-to-end = true
output = "profiles/a.coz"
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "coz.toml").write_text(FILE)
    (tmp_path / "deep" / "er").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "deep" / "er")
    return tmp_path


def test_options_come_from_the_file_above_the_current_folder(project: Path) -> None:
    options = parse(["run"])
    assert options.source_scope == ["src/%", "lib/%"]
    assert options.progress == ["frames.cpp:12"]
    assert options.companions == 10
    assert options.end_to_end
    assert options.output == str(project / "profiles" / "a.coz")
    assert options.config == project / "coz.toml"


def test_the_command_line_replaces_the_file(project: Path) -> None:
    options = parse(["run", "-smain.c", "--output=b.coz", "-p", "f", "--one-at-a-time"])
    assert options.source_scope == ["main.c"]
    assert options.output == "b.coz"
    assert options.progress == ["f"]
    assert options.companions == 0  # an option of which only one may be given
    assert options.end_to_end


def test_scopes_and_exclusions_replace_only_their_own(project: Path) -> None:
    assert len(parse(["run", "--source-exclude", "src/gen/%"]).source_scope) == 3
    (project / "coz.toml").write_text("[run]\nsource-exclude = 'src/gen/%'\n")
    assert len(parse(["run", "-s", "src/%"]).source_scope) == 2


def test_patterns_behind_a_dot_begin_in_the_current_folder(project: Path) -> None:
    options = parse(["run", "-s", "./src/%", "--source-exclude", "../gen/%", "-b", "./lib.so"])
    here = Path.cwd()
    assert options.source_scope == [f"{here}/src/%", f"!{here.parent}/gen/%"]
    assert options.binary_scope == [f"{here}/lib.so"]


def test_patterns_of_the_file_begin_in_its_folder(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "coz.toml").write_text(
        "[run]\nsource-scope = ['./src/%', 'a.c']\nbinary-scope = ['../lib.so']\n"
    )
    (project / "below").mkdir(exist_ok=True)
    monkeypatch.chdir(project / "below")
    options = parse(["run"])
    assert options.source_scope == [f"{project}/src/%", "a.c"]
    assert options.binary_scope == [f"{project.parent}/lib.so"]


def test_what_only_run_takes_does_not_disturb_other_commands(project: Path) -> None:
    (project / "coz.toml").write_text("[run]\ngranularity = 'callpath'\nsource-scope = 'a.c'\n")
    assert parse(["run"]).granularity == "callpath"
    assert parse(["doctor"]).granularity == "line"
    assert parse(["doctor"]).source_scope == ["a.c"]


def test_it_can_be_left_aside(project: Path) -> None:
    options = parse(["run", "--no-config"])
    assert options.source_scope == []
    assert options.config is None


def test_other_commands_take_what_they_have_in_common(project: Path) -> None:
    assert parse(["lines", "prog"]).source_scope == ["src/%", "lib/%"]
    assert parse(["doctor"]).source_scope == ["src/%", "lib/%"]
    assert parse(["report"]).config is None


def behind(program: Path) -> list[Namespace]:
    """The program is not the last word."""
    lines = (["lines", str(program), "--json"], ["lines", str(program), "--line", "find"])
    return [parse(words) for words in (*lines, ["doctor", str(program), "-s", "src"])]


def test_else_it_is_looked_for_beside_the_program(
    project: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    program = project / "deep" / "program"
    shutil.copy("/bin/true", program)
    monkeypatch.chdir(elsewhere)
    assert parse(["run"]).config is None
    for options in (parse(["run"], [str(program), "x"]), parse(["lines", str(program)]), *behind(program)):
        assert options.config == project / "coz.toml"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[run\n", "cannot be read"),
        ("[report]\nmin-points = 3\n", "has report, which means nothing there"),
        ("[run]\nprogres = 'f'\n", "no option --progres"),
        ("[run]\nend-to-end = 'yes'\n", "true or false is wanted"),
        ("[run]\noutput = ['a', 'b']\n", "one value is wanted"),
        ("[run]\nprogress = [{a = 1}]\n", "text or a number is wanted"),
        ("[run]\nperiod = '3 years'\n", "argument --period"),
        ("[run]\nfixed-speedup = 3\nspeedups = '3,4'\n", "not allowed with"),
        ("[run]\nno-config = true\n", "no option --no-config"),
        ("[run]\nhelp = true\n", "no option --help"),
    ],
)
def test_what_is_wrong_is_said_of_the_file(project: Path, text: str, said: str) -> None:
    (project / "coz.toml").write_text(text)
    with pytest.raises(CozError) as refused:
        parse(["run"])
    assert said in refused.value.problem.text
    assert str(project / "coz.toml") in refused.value.problem.text
    assert refused.value.problem.hint


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give a file away")
def test_a_file_of_another_user_is_not_used(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.chown(project / "coz.toml", 12345, 12345)
    assert parse(["run"]).config is None
    assert "belongs to another user" in capsys.readouterr().err


def test_a_bad_regular_expression_is_refused_at_once(project: Path) -> None:
    for expression in ("(", "/(?:gen|bench)/", r"v\d+"):
        (project / "coz.toml").write_text(f"[run]\nsource-exclude = 're:{expression}'\n")
        with pytest.raises(CozError, match="no POSIX extended regular expression"):
            parse(["run"])
    (project / "coz.toml").write_text("[run]\nsource-scope = 're:/src/'\nsource-exclude = 're:/gen/'\n")
    assert parse(["run"]).source_scope == ["re:/src/", "!re:/gen/"]


def test_a_percent_sign_in_the_name_of_the_folder_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "feature%2Fx"
    folder.mkdir()
    (folder / "coz.toml").write_text('[run]\noutput = "a.%p"\n')
    monkeypatch.chdir(folder)
    assert parse(["run"]).output == str(tmp_path / "feature%%2Fx" / "a.%p")


def test_a_folder_that_is_gone_has_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert parse(["run"]).config is None
