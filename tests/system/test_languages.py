"""Marks in languages other than C, C++ and Rust: Python with a library in C, and Fortran."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest


@pytest.fixture
def python_marks(request, build, coz, monkeypatch):
    root = request.config.rootpath
    monkeypatch.setenv("PYTHONPATH", str(root / "python"))
    coz.environment["PYTHONPATH"] = str(root / "python")
    library = build("python/work.c", "-shared", "-fPIC")
    return [sys.executable, root / "tests/programs/python/marks.py", library]


def points_of(run):
    samples = run.records("samples")[-1]
    return {(point["kind"], point["name"]): point for point in samples["points"]}, samples


def test_python_marks_count_and_lines_of_the_library_are_found(coz, python_marks, request):
    plain = subprocess.run([*python_marks, "0.1"], check=True, capture_output=True, text=True)
    assert int(plain.stdout) > 0
    run = coz.run([*python_marks, "5"], "-b", "%work%")
    assert run.status == 0, run.err
    rounds = int(run.out)
    points, samples = points_of(run)
    assert points["throughput", "done"]["visits"] == rounds
    assert points["arrival", "arrived"]["visits"] == rounds
    for name in ("plain", "named", "operation"):
        assert points["latency", name]["arrivals"] == points["latency", name]["departures"] == rounds
    assert samples["regions"] == ["step"]
    source = request.config.rootpath / "tests/programs/python/work.c"
    long = next(n for n, text in enumerate(source.read_text().splitlines(), 1) if "// LONG" in text)
    lines = {
        line["location"]: line["count"] for line in samples["lines"] if line.get("kind", "line") == "line"
    }
    assert max(lines, key=lines.get) == f"{source}:{long}"


def test_a_pool_of_python_processes_is_profiled_as_one(coz, python_marks, request):
    python, _, work = python_marks
    library = shutil.copy(work, coz.folder / "libwork.so")
    program = request.config.rootpath / "tests/programs/python/workers.py"
    run = coz.run([python, program, library, 600, "fork"], "--tree", "-b", "%/libwork.so")
    assert (run.status, run.out) == (0, "600\n"), run.err
    points, samples = points_of(run)
    assert points["throughput", "done"]["visits"] == 600
    assert samples["processes"] == 3
    source = request.config.rootpath / "tests/programs/python/work.c"
    long = next(n for n, text in enumerate(source.read_text().splitlines(), 1) if "// LONG" in text)
    lines = {line["location"]: line["count"] for line in samples["lines"]}
    assert max(lines, key=lines.get) == f"{source}:{long}"


def test_forked_python_processes_have_operations_of_their_own(request):
    command = [
        sys.executable,
        "-c",
        "import coz, os\nwith coz.scope('x') as s: print(s._identity >> 40)\nprint(os.getpid())",
    ]
    environment = dict(os.environ, PYTHONPATH=str(request.config.rootpath / "python"))
    shown = subprocess.run(
        command, check=True, capture_output=True, text=True, env=environment
    ).stdout.split()
    assert shown[0] == shown[1]


@pytest.fixture
def fortran(request, tmp_path):
    if shutil.which("gfortran") is None:
        pytest.skip("gfortran not found")
    root = request.config.rootpath
    sources = [root / "include/coz.f90", root / "tests/programs/fortran/marks.f90"]
    command = ["gfortran", "-O2", "-g", "-Wall", "-Werror", "-std=f2008", "-o", "marks", *sources]
    subprocess.run(command, cwd=tmp_path, check=True)
    return tmp_path / "marks"


def test_fortran_marks_count(coz, fortran):
    plain = subprocess.run([fortran, "0.1"], check=True, capture_output=True, text=True)
    assert int(plain.stdout) > 0
    run = coz.run([fortran, "3"])
    assert run.status == 0, run.err
    rounds = int(run.out)
    points, samples = points_of(run)
    assert points["throughput", "done"]["visits"] == rounds
    assert points["arrival", "arrived"]["visits"] == rounds
    latency = points["latency", "operation"]
    assert latency["arrivals"] == latency["departures"] == rounds
    assert samples["regions"] == ["step"]
