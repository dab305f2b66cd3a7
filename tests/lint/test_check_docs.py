"""scripts/check_docs.py fails when a document breaks a rule, and says where."""

import pathlib
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).parents[2] / "scripts" / "check_docs.py"

CLEAN = {
    "README.md": "# A\n\nSee [b](docs/b.md) and [the web](https://example.org).\n",
    "docs/b.md": "# B\n\n    " + "code " * 40 + "\n\n| " + "cell " * 40 + "|\n",
    "docs/decisions/README.md": "[one](one.md)\n",
    "docs/decisions/one.md": "# One\n" + "line\n" * 79,
}


def check(root: pathlib.Path, **files: str) -> subprocess.CompletedProcess[str]:
    for name, text in {**CLEAN, **files}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    subprocess.run(["git", "init", "--quiet", root], check=True)
    return subprocess.run([sys.executable, SCRIPT, root], capture_output=True, text=True, check=False)


def test_long_lines_of_code_pass(tmp_path):
    code = {
        "libcoz/a.cpp": f'const char* a = "{"word " * 30}";  // why\n',
        "a.sh": "echo " + "word " * 30 + "\n",
    }
    assert check(tmp_path, **code).stdout == ""


def test_documents_that_keep_the_rules_pass(tmp_path):
    result = check(tmp_path)
    assert (result.returncode, result.stdout) == (0, "")


@pytest.mark.parametrize(
    ("name", "text", "finding"),
    [
        ("README.md", "# A\n\n[b](docs/c.md)\n", "README.md:3: the link to docs/c.md leads nowhere"),
        ("docs/b.md", "word " * 30 + "\n", "docs/b.md:1: 150 characters"),
        ("docs/decisions/one.md", "line\n" * 81, "docs/decisions/one.md:81: a decision has at most 80 lines"),
        ("docs/decisions/two.md", "# Two\n", "docs/decisions/two.md:1: docs/decisions/README.md does not"),
        ("README.md", "line\n" * 151, "README.md:151: the README has at most 150 lines"),
        ("docs/b.md", "See `c.py`, `src/queue.cpp` and `b.md`.\n", "docs/b.md:1: there is no file c.py"),
        ("docs/man/coz.1", "word " * 30 + "\n", "docs/man/coz.1:1: 150 characters"),
        ("libcoz/a.cpp", "int a;\n  // " + "word " * 30 + "\n", "libcoz/a.cpp:2: 155 characters"),
        ("scripts/a.sh", "# " + "word " * 30 + "\n", "scripts/a.sh:1: 152 characters"),
        ("docs/c.md", "one | two\n" * 50_000, "docs/README.md:1: Markdown has 100,"),
    ],
)
def test_a_broken_rule_is_told_with_its_place(tmp_path, name, text, finding):
    result = check(tmp_path, **{name: text})
    assert result.returncode == 1
    assert finding in result.stdout
