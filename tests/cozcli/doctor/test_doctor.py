"""Findings: on machines that are made up of the kernel's files, and on programs that are compiled."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cozcli.doctor.finding import OK, PROBLEM, WARNING, Finding
from cozcli.doctor.machine import Machine, Refused, examine_machine
from cozcli.doctor.program import examine_program
from cozcli.launch.helper import Helper
from cozcli.launch.line_tables import Scope

ROOT = Path(__file__).resolve().parents[3]
HELPER = ROOT / "build" / "libexec" / "coz-linetable"

ALLOWED = Refused()
NO_KERNEL, NO_TRAP, NO_PERF = Refused(kernel="no"), Refused("no", "no"), Refused("no", "no", "no")
FILES = {
    "proc/sys/kernel/osrelease": "6.18.0-44-amd64\n",
    "proc/sys/kernel/perf_event_paranoid": "2\n",
    "proc/self/status": "Name:\tx\nSeccomp:\t0\n",
    "proc/self/cgroup": "0::/user.slice/job\n",
    "proc/stat": "cpu  1000 0 100 9000 0 0 0 0 0 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n",
    "proc/loadavg": "0.10 0.20 0.30 1/200 999\n",
}


def findings(tmp_path: Path, refused: Refused = ALLOWED, preload: str = "", **changed: str) -> list[Finding]:
    names = {name.rpartition("/")[2].replace(".", "_"): name for name in FILES}
    files = {**FILES, **{names.get(name, name): text for name, text in changed.items()}}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    machine = Machine(tmp_path, {"LD_PRELOAD": preload} if preload else {})
    machine.processors = 4
    return examine_machine(machine, refused)


def of(subject: str, found: list[Finding]) -> Finding:
    return next(finding for finding in found if finding.subject == subject)


def test_a_good_machine(tmp_path: Path) -> None:
    assert {finding.level for finding in findings(tmp_path)} == {OK}


@pytest.mark.parametrize(
    ("changed", "subject", "level", "text", "remedy"),
    [
        ({"refused": NO_KERNEL}, "sampling", OK, "not in the kernel", "paranoid=1"),
        ({"refused": NO_KERNEL, "osrelease": "6.8.0"}, "sampling", OK, "not in the kernel", "6.15"),
        ({"refused": NO_TRAP, "osrelease": "5.15.0"}, "sampling", WARNING, "older than 5.19", "newer kernel"),
        ({"refused": NO_TRAP}, "sampling", WARNING, "not in the best way (no)", ""),
        (
            {"refused": NO_PERF, "perf_event_paranoid": "3"}, "sampling", WARNING,
            "perf_event_paranoid is 3", "sysctl kernel.perf_event_paranoid=2",
        ),
        (
            {"refused": NO_PERF, "status": "Seccomp:\t2"}, "sampling", WARNING, "seccomp",
            "--cap-add PERFMON",
        ),
        ({"refused": NO_PERF}, "sampling", WARNING, "a timer takes the samples", "security module"),
        ({"sys/fs/cgroup/user.slice/cpu.max": "150000 100000"}, "quota", WARNING, "1.5 of 4", "--cpus"),
        ({"sys/fs/cgroup/cpu.max": "50000 100000"}, "quota", WARNING, "allows 0.5 of 4", "1 busy thread"),
        ({"loadavg": "3.00 1 1 1/1 1"}, "load", WARNING, "load 3 on 4", "quiet"),
        ({"stat": "cpu 100 0 100 700 0 0 0 100 0 0"}, "host", WARNING, "10%", "longer"),
        ({"preload": "/usr/lib/libasan.so.8"}, "preload", PROBLEM, "libasan.so.8", "unset LD_PRELOAD"),
        ({"preload": "/a/libcoz.so"}, "preload", PROBLEM, "is Coz", "unset LD_PRELOAD"),
        ({"preload": "/a/x.so /b/y.so"}, "preload", WARNING, "/a/x.so, /b/y.so", "allocator"),
    ],
)  # fmt: skip
def test_findings_of_the_machine(
    tmp_path: Path, changed: dict[str, Any], subject: str, level: str, text: str, remedy: str
) -> None:
    found = of(subject, findings(tmp_path, **changed))
    assert found.level == level
    assert text in found.text
    assert remedy in found.remedy


@pytest.mark.parametrize(
    ("files", "quota"),
    [
        ({"sys/fs/cgroup/user.slice/job/cpu.max": "max 100000"}, None),
        ({"sys/fs/cgroup/user.slice/job/cpu.max": "300000 100000"}, 3.0),
        ({"proc/self/cgroup": "3:cpu,cpuacct:/x\n", "sys/fs/cgroup/cpu/x/cpu.cfs_quota_us": "-1",
          "sys/fs/cgroup/cpu/x/cpu.cfs_period_us": "100000"}, None),
        ({"proc/self/cgroup": "3:cpu,cpuacct:/x\n", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "200000",
          "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000"}, 2.0),
        ({"proc/self/cgroup": "rubbish\n0::/../../x"}, None),
    ],
)  # fmt: skip
def test_quotas_of_either_version(tmp_path: Path, files: dict[str, str], quota: float | None) -> None:
    findings(tmp_path, **files)
    assert Machine(tmp_path, {}).quota == quota


def test_nothing_of_the_kernel_can_be_read(tmp_path: Path) -> None:
    machine = Machine(tmp_path, {})
    assert machine.paranoid is None
    assert {finding.level for finding in examine_machine(machine, Refused())} <= {OK, WARNING}


# Programs


def compiled(folder: Path, source: str, *options: str) -> str:
    (folder / "p.c").write_text(source)
    subprocess.run(["gcc", "-O1", *options, "-o", "p", "p.c"], cwd=folder, check=True)
    return str(folder / "p")


MAIN = "int main(void) { return 0; }\n"
MARKED = f'#include "{ROOT}/include/coz.h"\nint main(void) {{ COZ_PROGRESS; return 0; }}\n'


#: With libgomp.a.
OPENMP = ("-g", "-Wl,-u,GOMP_parallel", "-Wl,-Bstatic", "-lgomp", "-Wl,-Bdynamic", "-lpthread", "-ldl")


@pytest.mark.parametrize(
    ("source", "options", "expected"),
    [
        (MARKED, ("-g",), {"program": OK, "debug information": OK, "progress points": OK}),
        (MAIN, ("-g",), {"program": OK, "debug information": OK, "progress points": WARNING}),
        (MAIN, (), {"program": OK, "debug information": PROBLEM, "progress points": WARNING}),
        (MAIN, ("-g", "-static"), {"program": PROBLEM}),
        (MAIN, OPENMP, {"program": OK, "OpenMP": WARNING, "debug information": OK}),
        (MAIN, ("-g", "-fsanitize=address"), {"program": OK, "sanitizers": PROBLEM, "debug information": OK}),
    ],
)
def test_findings_of_a_program(
    tmp_path: Path, source: str, options: tuple[str, ...], expected: dict[str, str]
) -> None:
    found = examine_program(compiled(tmp_path, source, *options), Helper(HELPER), Scope())
    levels = {finding.subject: finding.level for finding in found}
    assert levels | expected == levels
    assert all(finding.remedy for finding in found if finding.level == PROBLEM)


@pytest.mark.parametrize("mode", [0o755, 0o644])
def test_a_script_in_the_current_folder_is_called_a_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "script.sh").write_text("#!/bin/sh -e\n./work\n")
    (tmp_path / "script.sh").chmod(mode)
    path, script = examine_program("script.sh", Helper(HELPER), Scope())
    assert (path.level, path.remedy) == (PROBLEM, "name it with its folder: ./script.sh")
    assert "is a script (run by /bin/sh -e)" in script.text
    assert "What can be profiled are compiled programs that it starts" in script.text
    assert f"coz run -b NAME --- {tmp_path}/script.sh" in script.remedy


def test_a_program_in_the_current_folder_is_looked_at_without_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled(tmp_path, MARKED, "-g")
    monkeypatch.chdir(tmp_path)
    found = examine_program("p", Helper(HELPER), Scope())
    assert "is in the current folder, which is not on PATH" in of("program", found).text
    assert of("progress points", found).level == OK


def test_a_scope_that_nothing_matches(tmp_path: Path) -> None:
    found = examine_program(compiled(tmp_path, MAIN, "-g"), Helper(HELPER), Scope(["other.c"]))
    assert of("scope", found).level == PROBLEM
    assert "p.c" in of("scope", found).remedy


def coz(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "cozcli", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command(tmp_path: Path) -> None:
    good = compiled(tmp_path, MARKED, "-g")
    done = coz("doctor", "---", good, "--argument")
    assert done.returncode == 0, done.stdout
    assert "progress points: the program has progress macros" in " ".join(done.stdout.split())
    assert coz("doctor", good).returncode == 0
    assert coz("doctor").returncode == 0
    text = coz("doctor", str(tmp_path / "none")).stdout
    assert "no such program." in text
    assert "nothing was started" not in text
    assert "coz run would make no profile" in text
    bad = coz("doctor", "--json", str(tmp_path / "none"))
    assert bad.returncode == 1
    document = json.loads(bad.stdout)
    assert document["format"] == "coz-doctor"
    assert document["findings"][-1]["level"] == "problem"
    assert set(document["findings"][0]) == {"level", "subject", "text", "remedy"}
