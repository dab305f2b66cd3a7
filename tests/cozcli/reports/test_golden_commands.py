"""Golden output of the other commands and forms; renewed as in test_golden.py, by COZ_UPDATE_GOLDEN=1."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import in_fork
import pytest

NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
#: By the name of the golden file: a command whose output must be that, and its exit status.
COMMANDS: dict[str, tuple[list[str], int]] = {
    "amp.report.txt": (["report", "amp.coz"], 0),
    "amp.report.json": (["report", "--json", "amp.coz"], 0),
    "amp.report.csv": (["report", "--csv", "amp.coz"], 0),
    "amp.report.md": (["report", "--markdown", "amp.coz"], 0),
    "amp-lines.report.txt": (["report", "amp-lines.coz"], 0),
    "amp-lines.report.json": (["report", "--json", "amp-lines.coz"], 0),
    "diff.txt": (["diff", "classic-0.2.2.tab.coz", "classic-0.2.5.jsonl.coz"], 0),
    "diff.json": (["diff", "--json", "classic-0.2.2.tab.coz", "classic-0.2.5.jsonl.coz"], 0),
    "diff.csv": (["diff", "--csv", "classic-0.2.2.tab.coz", "classic-0.2.5.jsonl.coz"], 0),
    "diff.md": (["diff", "--markdown", "classic-0.2.2.tab.coz", "classic-0.2.5.jsonl.coz"], 0),
    "fail-if.txt": (["report", "--fail-if", "queue.cpp:10 > 10%", "classic-0.2.2.tab.coz"], 1),
}


def coz(golden: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "FORCE_COLOR")}
    return in_fork.coz(*arguments, cwd=golden, environment=environment)


def check(expected: Path, text: str, step: float = 0.11) -> None:
    """Words exactly, numbers to a thousandth, or to `step`, to which they may have been rounded."""
    if os.environ.get("COZ_UPDATE_GOLDEN"):
        expected.write_text(text, encoding="utf-8")
    wanted = expected.read_text(encoding="utf-8")
    assert re.sub(" +", " ", NUMBER.sub("#", text)) == re.sub(" +", " ", NUMBER.sub("#", wanted))
    assert numbers(text) == pytest.approx(numbers(wanted), rel=1e-3, abs=step)


@pytest.mark.parametrize("name", COMMANDS)
def test_output(golden: Path, name: str) -> None:
    arguments, status = COMMANDS[name]
    done = coz(golden, *arguments)
    # What a gate says goes to the error stream.
    text = done.stderr if name == "fail-if.txt" else done.stdout
    assert done.returncode == status, done.stderr
    check(golden / name, text, 1e-4 if name.endswith(".json") else 0.11)


def test_merged_profile(golden: Path, tmp_path: Path) -> None:
    merged = tmp_path / "merged.coz"
    done = coz(golden, "merge", "classic-0.2.2.tab.coz", "classic-0.2.5.jsonl.coz", "-o", str(merged))
    assert done.returncode == 0, done.stderr
    # The first records of it: all of them would be the inputs once more.
    check(golden / "merge.head.txt", "".join(merged.read_text().splitlines(keepends=True)[:8]), 0)


@pytest.mark.parametrize("name", ["four-lines", "amp-lines"])
def test_data_of_the_page(golden: Path, tmp_path: Path, name: str) -> None:
    page = tmp_path / "page.html"
    done = coz(golden, "view", f"{name}.coz", "--no-open", "--no-source", "-o", str(page))
    assert done.returncode == 0, done.stderr
    text = page.read_text(encoding="utf-8")
    start = text.index('id="data">') + len('id="data">')
    document = json.loads(text[start : text.index("</script>", start)])
    check(golden / f"{name}.page.json", json.dumps(document, indent=1) + "\n", 2e-4)


def numbers(text: str) -> list[float]:
    return [float(number.replace(",", "").rstrip(".")) for number in NUMBER.findall(text)]
