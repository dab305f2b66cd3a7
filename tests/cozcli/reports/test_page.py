"""The page of `coz view`: what is put into it, and that nothing of a profile becomes markup or script."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from page_data import HOSTILE, analysis_of, five_hundred_lines, hostile_lines
from synthetic import Line, many_lines

from cozcli.analysis.result import Mark
from cozcli.errors import CozError
from cozcli.reports.marks import EXPLANATIONS
from cozcli.reports.page import LARGE, PageProfile, embed, render_page
from cozcli.reports.page_file import NotOurPageError, write_page
from cozcli.reports.page_sources import AROUND, MAX_LENGTH, MAX_TEXT, read_sources

ROOT = Path(__file__).resolve().parents[3]
TEMPLATE = ROOT / "cozcli" / "reports" / "page_template.html"


class Elements(HTMLParser):
    """The elements of a page, with the text of its scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.inside = False
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))
        self.texts.append("")

        self.inside = True

    def handle_endtag(self, tag: str) -> None:
        self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.texts[-1] += data

    def of(self, tag: str) -> list[tuple[dict[str, str | None], str]]:
        return [(a, text) for (t, a), text in zip(self.tags, self.texts, strict=True) if t == tag]


def data_of(page: str) -> dict[str, Any]:
    (data,) = [text for attributes, text in Elements(page).of("script") if attributes.get("id") == "data"]
    document: dict[str, Any] = json.loads(data)
    return document


@pytest.fixture(scope="module")
def hostile_page() -> str:
    profile = PageProfile(HOSTILE[0], analysis_of(hostile_lines(), 40))
    return render_page([profile], {"/x/</script>.c": {"changed": [False], "parts": {"1": list(HOSTILE)}}})


def test_names_cannot_become_markup(hostile_page: str) -> None:
    harmless = render_page([], {})
    assert Elements(hostile_page).tags == Elements(harmless).tags
    assert hostile_page.count("<") == harmless.count("<")
    # But for the data, it is the page that was built.
    before, after = TEMPLATE.read_text(encoding="utf-8").split("@DATA@")
    assert hostile_page.startswith(before)
    assert hostile_page.endswith(after)
    assert hostile_page[len(before) : -len(after)].isascii()


def test_names_arrive_as_they_are(hostile_page: str) -> None:
    document = data_of(hostile_page)
    assert {result["function"] for result in document["profiles"][0]["results"]} == set(HOSTILE)
    assert document["sources"]["/x/</script>.c"]["parts"]["1"] == list(HOSTILE)


def test_embedded_json_is_plain_ascii() -> None:
    text = embed([*HOSTILE, "<>&'"])
    assert text.isascii()
    assert not set("<>&'\n") & set(text)
    assert json.loads(text) == [*HOSTILE, "<>&'"]


def test_only_the_pages_own_script_may_run(hostile_page: str) -> None:
    elements = Elements(hostile_page)
    (policy,) = [
        a["content"] for a, _ in elements.of("meta") if a.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy is not None
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    scripts = [text for attributes, text in elements.of("script") if "type" not in attributes]
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts]
    assert rules["script-src"] == " ".join(f"'sha256-{value}'" for value in hashes)
    assert len(scripts) == 1
    styles = [text for _, text in elements.of("style")]
    assert (
        rules["style-src"]
        == f"'sha256-{base64.b64encode(hashlib.sha256(styles[0].encode()).digest()).decode()}'"
    )
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    # Before it is read, nothing of the policy is in force.
    assert [tag for tag, _ in elements.tags].index("script") > 3
    assert hostile_page.index("Content-Security-Policy") < 400


def test_the_page_names_no_address(hostile_page: str) -> None:
    script = Elements(hostile_page).of("script")[-1][1]
    addresses = set(re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]+[^\"'` ]*", script))
    # A name of a namespace is no address.
    assert addresses <= {"http://www.w3.org/2000/svg"}
    for _, attributes in Elements(hostile_page).tags:
        assert not {"src", "onclick", "onload", "style"} & set(attributes)
        assert attributes.get("href", "data:,") == "data:,"


def test_the_template_is_up_to_date() -> None:
    """Without Node: by the digest of the sources it was built from. `make test-viewer` compares all of it."""
    viewer = ROOT / "viewer"
    names = [f"src/{file.name}" for file in (viewer / "src").iterdir()] + ["build.mjs", "package-lock.json"]
    digest = hashlib.sha256()
    for name in sorted(names):
        digest.update(name.encode() + b"\0" + (viewer / name).read_bytes() + b"\0")
    found = re.search('name="coz-viewer-sources" content="([0-9a-f]+)"', TEMPLATE.read_text(encoding="utf-8"))
    assert found
    assert found[1] == digest.hexdigest(), "cozcli/reports/page_template.html is out of date: make viewer"


def test_every_mark_is_explained() -> None:
    assert [mark.value for mark in Mark if mark.value not in EXPLANATIONS] == []


def test_the_page_has_the_explanations_of_its_marks() -> None:
    analysis = analysis_of([Line("/s/a.c:1", lambda s: -0.3 * s), Line("/s/b.c:1", lambda s: 0.1 * s)], 60)
    page = render_page([PageProfile("profile.coz", analysis)], {})
    document = data_of(page)
    marks = {mark for result in document["profiles"][0]["results"] for mark in result["marks"]}
    assert "contention" in marks
    assert document["marks"] == {mark: EXPLANATIONS[mark] for mark in marks}


def test_five_hundred_lines_of_twenty_speedups_are_small() -> None:
    page = render_page([PageProfile("profile.coz", five_hundred_lines())], {})
    (profile,) = data_of(page)["profiles"]
    assert len(profile["results"]) == 500
    assert {len(result["curve"]["s"]) for result in profile["results"]} == {21}
    # With as much source as ever comes along.
    assert len(page) + MAX_TEXT < LARGE


def test_numbers_survive() -> None:
    analysis = analysis_of(many_lines(4), 60)
    results = data_of(render_page([PageProfile("a", analysis, left_out=3)], {}))["profiles"][0]
    assert results["left_out"] == 3
    for result, shown in zip(analysis.results, results["results"], strict=True):
        assert shown["curve"]["s"] == [point.speedup for point in result.curve]
        assert shown["curve"]["n"] == [point.experiments for point in result.curve]
        assert shown["curve"]["h"] == pytest.approx([point.high for point in result.curve], abs=6e-5)
        assert shown["fit"]["e"] == pytest.approx(result.fit.effect[::4], abs=6e-5)
        assert shown["fit"]["to"] == result.fit.speedup[-1]


# Writing


def test_writing_replaces_pages_of_ours_only(tmp_path: Path) -> None:
    page, target = render_page([], {}), tmp_path / "profile.html"
    write_page(page, target, force=False)
    write_page(page + "<!-- again -->", target, force=False)
    assert target.read_text(encoding="utf-8").endswith("again -->")
    target.write_text("<html>somebody's</html>", encoding="utf-8")
    with pytest.raises(NotOurPageError):
        write_page(page, target, force=False)
    assert target.read_text(encoding="utf-8") == "<html>somebody's</html>"
    write_page(page, target, force=True)
    assert target.read_text(encoding="utf-8") == page
    assert list(tmp_path.iterdir()) == [target]


def test_writing_honours_the_umask_and_follows_links(tmp_path: Path) -> None:
    page, target, link = render_page([], {}), tmp_path / "real.html", tmp_path / "link.html"
    link.symlink_to(target)
    before = os.umask(0o027)
    try:
        write_page(page, link, force=False)
    finally:
        os.umask(before)
    assert link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640


def test_a_failed_write_leaves_the_old_page_and_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, target = render_page([], {}), tmp_path / "profile.html"
    write_page(page, target, force=False)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(CozError, match="No space"):
        write_page(page + "new", target, force=False)
    assert target.read_text(encoding="utf-8") == page
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("force", [False, True])
def test_what_is_no_regular_file_is_never_replaced(tmp_path: Path, force: bool) -> None:
    with pytest.raises(CozError, match="regular"):
        write_page(render_page([], {}), tmp_path, force)
    with pytest.raises(CozError, match="regular"):
        write_page(render_page([], {}), Path("/dev/null"), force)


# Source


def test_source_comes_with_the_lines_around(tmp_path: Path) -> None:
    file = tmp_path / "a.cpp"
    file.write_text("".join(f"line {i}\n" for i in range(1, 101)), encoding="utf-8")
    path = str(file)
    found = read_sources(
        [f"{path}:3", f"{path}:50 < {path}:99", f"{path}:52", f"{path}:5000", f"{path}:x"], [0]
    )
    assert list(found) == [path]
    parts = found[path]["parts"]
    assert {first: len(lines) for first, lines in parts.items()} == {
        "1": 3 + AROUND,
        str(50 - AROUND): 3 + 2 * AROUND,
    }
    assert parts["1"][2] == "line 3"
    assert found[path]["changed"] == [False]
    assert read_sources([f"{path}:3"], [1])[path]["changed"] == [True]
    assert read_sources([f"lock {path}:3"], [1]) == read_sources([f"wait {path}:3"], [1])
    assert read_sources([f"lock {path}:3"], [1]) == read_sources([f"{path}:3"], [1])


@pytest.mark.parametrize("name", ["id_rsa", "passwd.txt", ".env", "a.cpp.key"])
def test_only_source_files_are_read(tmp_path: Path, name: str) -> None:
    secret = tmp_path / name
    secret.write_text("secret\n", encoding="utf-8")
    link = tmp_path / "innocent.cpp"
    link.symlink_to(secret)
    assert read_sources([f"{secret}:1", f"{link}:1"], [0]) == {}


def test_odd_files_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "folder.c").mkdir()
    (tmp_path / "binary.c").write_bytes(b"\x7fELF\0\0")
    os.mkfifo(tmp_path / "pipe.c")
    (tmp_path / "latin.c").write_bytes("é\n".encode("latin-1"))
    (tmp_path / "long.c").write_text("x" * 5000, encoding="utf-8")
    names = ["folder.c", "binary.c", "pipe.c", "missing.c", "latin.c", "long.c", "nul\0.c"]
    found = read_sources(
        [f"{tmp_path}/{name}:1" for name in names] + ["relative.c:1", "region x", "/etc:"], [0]
    )
    assert {Path(path).name for path in found} == {"latin.c", "long.c"}
    assert found[f"{tmp_path}/latin.c"]["parts"]["1"][0] == "\ufffd"
    assert len(found[f"{tmp_path}/long.c"]["parts"]["1"][0]) == MAX_LENGTH


def test_there_is_a_limit_to_source(tmp_path: Path) -> None:
    locations = []
    for i in range(200):
        file = tmp_path / f"{i}.c"
        file.write_text("y" * 200 + "\n" + ("y" * 200 + "\n") * 20, encoding="utf-8")
        locations.append(f"{file}:10")
    found = read_sources(locations, [0])
    assert 0 < len(found) < 200
    assert list(found) == [location.rpartition(":")[0] for location in locations[: len(found)]]
    assert len(embed(found)) < 1.1 * MAX_TEXT
