"""Golden profiles to golden reports. Renew them with COZ_UPDATE_GOLDEN=1, and read the difference.

Words must agree exactly, numbers to a thousandth: numerical libraries may differ in the last digits.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from cozcli.analysis.analyse import analyse
from cozcli.profile.profile import load_profile
from cozcli.reports.annotate import AnnotateReport
from cozcli.reports.base import Report
from cozcli.reports.json_report import JsonReport
from cozcli.reports.table_reports import CsvReport, MarkdownReport
from cozcli.reports.text import TextReport

NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
REPORTS: dict[str, Report] = {
    "txt": TextReport(),
    "json": JsonReport(),
    "csv": CsvReport(),
    "md": MarkdownReport(),
    "annotate": AnnotateReport(),
}
PROFILES = ("classic-0.2.2.tab", "classic-0.2.5.jsonl", "four-lines", "few-blocks")


@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("form", ["txt", "json", "csv", "md", "annotate"])
def test_report(golden: Path, name: str, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(golden)
    analysis = analyse(load_profile([f"{name}.coz"]))
    text = REPORTS[form].render(analysis)
    expected = golden / f"{name}.report.{form}"
    if os.environ.get("COZ_UPDATE_GOLDEN"):
        expected.write_text(text, encoding="utf-8")
    wanted = expected.read_text(encoding="utf-8")
    assert re.sub(" +", " ", NUMBER.sub("#", text)) == re.sub(" +", " ", NUMBER.sub("#", wanted))
    # Tables round to a tenth of a per cent, and sentences to one, which may fall either way.
    step = {"txt": 0.11, "md": 0.11, "annotate": 1.0}.get(form, 1e-6)
    assert numbers(text) == pytest.approx(numbers(wanted), rel=1e-3, abs=step)


def test_types_with_underscores_are_read_as_those_with_hyphens(
    golden: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some builds of the classic tool 0.2.5 write `throughput_point` and `latency_point`."""
    text = (golden / "classic-0.2.5.underscores.coz").read_text()
    assert '"throughput_point"' in text
    assert '"latency_point"' in text
    profile = tmp_path / "p.coz"
    monkeypatch.chdir(tmp_path)
    reports = []
    for written in (text, text.replace("t_point", "t-point").replace("y_point", "y-point")):
        profile.write_text(written)
        reports.append(JsonReport().render(analyse(load_profile(["p.coz"]))))
    assert reports[0] == reports[1]
    assert {r["kind"] for r in json.loads(reports[0])["results"]} == {"throughput", "latency"}


def numbers(text: str) -> list[float]:
    return [float(number.replace(",", "").rstrip(".")) for number in NUMBER.findall(text)]
