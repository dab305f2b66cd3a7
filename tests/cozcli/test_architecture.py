"""The rules of CONTRIBUTING about cozcli: layers without cycles, and texts for users in one place."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "cozcli"
LINT = Path(sys.executable).with_name("lint-imports")

needs_lint = pytest.mark.skipif(not LINT.exists(), reason="needs import-linter")


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [LINT, "--no-cache"], cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )


@needs_lint
def test_layers_are_kept() -> None:
    done = lint(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_lint
@pytest.mark.parametrize(
    ("file", "statement", "found"),
    [
        (
            "launch/messages/run.py",
            "from cozcli.launch import series",
            "cycles are allowed in cozcli.launch",
        ),
        (
            "reports/diff_words.py",
            "from cozcli.reports import diff_table",
            "cycles are allowed in cozcli.reports",
        ),
        ("profile/reader.py", "from cozcli.profile import profile", "cycles are allowed in cozcli.profile"),
        ("launch/new.py", "from cozcli.commands import options", "cozcli.launch is not allowed to import"),
        ("reports/base.py", "from cozcli.load import words", "cozcli.reports is not allowed to import"),
    ],
)
def test_a_cycle_or_an_upward_import_is_found(tmp_path: Path, file: str, statement: str, found: str) -> None:
    shutil.copytree(PACKAGE, tmp_path / "cozcli", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    changed = tmp_path / "cozcli" / file
    before = changed.read_text() if changed.exists() else ""
    changed.write_text(f"{before}\n{statement}\n")
    done = lint(tmp_path)
    assert done.returncode == 1
    assert found in " ".join(done.stdout.split())


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def is_messages(path: Path) -> bool:
    """`messages.py` of a package, or a file of its package `messages`."""
    return path.stem == "messages" or path.parent.name == "messages"


def texts_of_problems(path: Path) -> Iterator[str]:
    """`Problem(…)` with words of its own, not with those of another problem."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Problem":
            for argument in node.args:
                words = " ".join(
                    part.value
                    for part in ast.walk(argument)
                    if isinstance(part, ast.Constant) and isinstance(part.value, str)
                )
                if any(character.isalpha() for character in words):
                    yield f"{path.relative_to(ROOT)}:{node.lineno}: {words}"


def test_texts_of_problems_are_in_modules_named_messages() -> None:
    assert [text for path in modules() if not is_messages(path) for text in texts_of_problems(path)] == []
    assert any(texts_of_problems(PACKAGE / "launch/messages/program.py"))


def test_messages_need_nothing_but_words() -> None:
    allowed = {"__future__", "collections.abc", "cozcli.errors", "cozcli.messages"}
    for path in filter(is_messages, modules()):
        if path.name == "__init__.py":
            continue  # it imports the others when they are needed
        imported = {
            node.module
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.ImportFrom)
        }
        assert imported <= allowed, path
