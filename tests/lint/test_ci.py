"""What users' continuous integration runs: coz_ci.sh with a stand-in for coz, and the templates."""

import os
import pathlib
import re
import subprocess

import pytest

CI = pathlib.Path(__file__).parents[2] / "packaging" / "ci"

COZ = r"""#!/bin/sh
echo "$*" >>calls
case "$*" in
  "run "*) [ -n "${FAKE_LOST:-}" ] || echo profile >out/profile.coz; exit ${FAKE_PROGRAM:-0} ;;
  *"${FAKE_BROKEN:-nothing}") echo "half of a table"; exit 1 ;;
  *--markdown*) echo "| a | table |" ;;
  *--sarif*) echo '{"version": "2.1.0"}' ;;
esac
case "$*" in *--fail-if*|*--gate*) exit ${FAKE_STATUS:-0} ;; esac
"""


def run(folder: pathlib.Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    coz = folder / "fake-coz"
    coz.write_text(COZ)
    coz.chmod(0o755)
    environment = {**os.environ, "COZ": str(coz), "COZ_CI_OUTPUT": "out", **variables}
    return subprocess.run(
        ["sh", str(CI / "coz_ci.sh"), *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("status", ["0", "1"])
def test_a_profile_with_a_threshold(tmp_path, status):
    summary = tmp_path / "summary.md"
    threshold = "a.c > 30% at 50%"
    done = run(
        tmp_path,
        "profile",
        threshold,
        "--",
        "./p",
        "-x",
        FAKE_STATUS=status,
        COZ_CI_OPTIONS="--duration 3m",
        GITHUB_STEP_SUMMARY=str(summary),
    )
    assert done.returncode == int(status), done.stderr
    calls = (tmp_path / "calls").read_text().splitlines()
    assert calls[0] == "run -o out/profile.coz --duration 3m --- ./p -x"
    assert calls[-1] == f"report --no-source --fail-if {threshold} out/profile.coz"
    # The report is there whether the gate holds or not.
    assert summary.read_text() == (tmp_path / "out/coz-report.md").read_text() == "| a | table |\n"
    assert "2.1.0" in (tmp_path / "out/coz-report.sarif").read_text()


@pytest.mark.parametrize("status", ["0", "1"])
def test_a_comparison_with_a_gate(tmp_path, status):
    done = run(tmp_path, "compare", "slower > 1%", "--", "./a", "-x", "---", "vs", "./b", FAKE_STATUS=status)
    assert done.returncode == int(status)
    assert (tmp_path / "calls").read_text() == "compare --markdown --gate slower > 1% ./a -x --- vs ./b\n"
    assert done.stdout == "| a | table |\n"


def test_a_program_that_fails_is_not_taken_for_a_threshold(tmp_path):
    done = run(tmp_path, "profile", "x", "--", "./p", FAKE_PROGRAM="1")
    assert done.returncode == 3
    assert "ended with status 1" in done.stderr
    assert (tmp_path / "out/coz-report.md").read_text() == "| a | table |\n"
    done = run(tmp_path, "profile", "x", "--", "./p", FAKE_PROGRAM="1", FAKE_STATUS="1")
    assert done.returncode == 1


def test_what_an_earlier_run_left_is_not_taken_for_a_report(tmp_path):
    out = tmp_path / "out"
    assert run(tmp_path, "profile", "", "--", "./p").returncode == 0
    assert {path.name for path in out.iterdir()} == {"profile.coz", "coz-report.md", "coz-report.sarif"}
    assert run(tmp_path, "profile", "", "--", "./p", FAKE_PROGRAM="2", FAKE_LOST="1").returncode == 3
    assert list(out.iterdir()) == []
    assert run(tmp_path, "profile", "", "--", "./p", FAKE_BROKEN="--markdown out/profile.coz").returncode == 1
    assert {path.name for path in out.iterdir()} == {"profile.coz"}


def test_a_comparison_leaves_what_a_profile_has_written(tmp_path):
    assert run(tmp_path, "profile", "", "--", "./p").returncode == 0
    assert run(tmp_path, "compare", "", "--", "./a", "---", "vs", "./b").returncode == 0
    assert (tmp_path / "out/coz-report.sarif").exists()


def test_without_a_condition_nothing_fails(tmp_path):
    assert run(tmp_path, "profile", "", "--", "./p", FAKE_STATUS="1").returncode == 0
    assert run(tmp_path, "compare", "", "--", "./a", "---", "vs", "./b", FAKE_STATUS="1").returncode == 0
    assert run(tmp_path, "other", "", "--", "./a").returncode == 2


def test_the_templates_are_yaml_and_call_the_script():
    yaml = pytest.importorskip("yaml")
    action = yaml.safe_load((CI / "action.yml").read_text())
    (step,) = action["runs"]["steps"]
    named = set(re.findall(r"inputs\.([\w-]+)", (CI / "action.yml").read_text()))
    assert named == set(action["inputs"])
    assert "coz_ci.sh" in step["run"]
    # What a user wrote reaches the shell by variables only, not as text of the script.
    assert "${{" not in step["run"]
    gitlab = yaml.safe_load((CI / "gitlab.yml").read_text())
    assert set(gitlab) == {".coz", ".coz-profile", ".coz-compare"}
