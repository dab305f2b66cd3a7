"""The page of `coz compare --html`: what it holds, that it loads nothing, and what it does not overwrite."""

import base64
import hashlib
import json
import re

import pytest

from cozcli import cli
from cozcli.compare.drawing import Table, draw
from cozcli.compare.page import render

DOCUMENT = {
    "coz": "1",
    "margin": 0.01,
    "layout_seed": 7,
    "layout": "runtime",
    "heap": "system",
    "stack": "system",
    "machine": {"randomize_va_space": "2", "governor": ""},
    "sides": [{"name": "A", "command": ["./a", "<script>"]}, {"name": "B", "command": ["./b"]}],
    "comparisons": [{"metric": "cpu", "ratio": 1.1, "low": 1.05, "high": 1.15, "verdict": "slower"}],
    "blocks": [[{"cpu": 1.0 + i / 100}, {"cpu": 1.1 + i / 90}] for i in range(6)],
}


def pictures(page):
    """The SVG files inside."""
    return [base64.b64decode(text).decode() for text in re.findall(r'base64,([^"]+)"', page)]


def test_a_page_has_the_figures_in_two_themes_and_no_markup_of_others():
    page = render(DOCUMENT, "B is <slower>.\nMore.", [Table("", ("", "A"), [["time & more", "1 s"]])])
    assert "<h1>B is &lt;slower&gt;.</h1>" in page
    assert "<p>More.</p>" in page
    assert "./a &lt;script&gt;" in page
    assert "<td>time &amp; more</td>" in page
    assert "randomize va space: 2" in page
    assert "governor" not in page
    found = pictures(page)
    assert len(found) == 8
    assert len(set(found)) == 8
    for title in ("Ratio, 95 %", "Distribution of the runs", "Pairs (cpu)", "QQ plot"):
        assert sum(title in svg for svg in found) == 2, title


def test_commands_with_dollars_are_no_mathematics(tmp_path):
    picture = tmp_path / "found.svg"
    sides = [{"name": name, "command": ["sh", "-c", "echo $_{ $x^"]} for name in "AB"]
    draw({**DOCUMENT, "sides": sides}, str(picture))
    assert "echo $_{ $x^" in picture.read_text()


def test_the_policy_allows_the_style_alone():
    page = render(DOCUMENT, "x", [])
    style = re.search(r"<style>(.*)</style>", page, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:" in page
    assert "<script" not in page
    assert not re.search(r'(src|href)="(?!data:)', page)


@pytest.mark.parametrize("suite", [False, True])
def test_the_command_writes_it_and_replaces_its_own_only(tmp_path, capsys, suite):
    file, page = tmp_path / "suite.toml", tmp_path / "page.html"
    file.write_text("[treatments.a]\n[treatments.b]\n[programs.p]\ncommand = '/bin/true'\n")
    what = ["--suite", str(file)] if suite else ["/bin/true", "---", "vs", "/bin/true"]
    command = ["compare", "-n", "6", "--json", "--layout", "none", "--html", str(page), *what]
    for _ in range(2):
        assert cli.main(command) == 0
        json.loads(capsys.readouterr().out)
    text = page.read_text()
    assert text.startswith("<!DOCTYPE html>")
    assert "<td>p</td>" in text if suite else "/bin/true" in text
    page.write_text("mine")
    assert cli.main(command) == 2
    assert "is not a page of coz;" in capsys.readouterr().err
    assert page.read_text() == "mine"
    assert cli.main(["compare", "--html", str(tmp_path / "none" / "page.html"), *what]) == 2
    assert "its folder is not there" in capsys.readouterr().err


def test_it_does_not_go_with_imported_runs(tmp_path, capsys):
    page = str(tmp_path / "page.html")
    with pytest.raises(SystemExit):
        cli.main(["compare", "--import-hyperfine", "runs.json", "--html", page])
    assert "leave out --html" in capsys.readouterr().err
