"""Where samples count: inlines, callers, functions, regions, the kernel. Shares of samples, not effects."""

import json
import re
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

pytestmark = pytest.mark.measured

HELPER = Path(__file__).resolve().parents[2] / "build/libexec/coz-linetable"


def kernel_error():
    """What the kernel says against samples of itself."""
    return json.loads(subprocess.check_output([HELPER, "sampling"], text=True))["kernel_error"]


def lines_with(path, *tags):
    """The numbers of the lines of a source that end in `// TAG`."""
    lines = path.read_text().splitlines()
    return [next(i for i, line in enumerate(lines, 1) if line.rstrip(" */").endswith(tag)) for tag in tags]


@pytest.fixture
def source(request):
    return request.config.rootpath / "tests/programs/source_frames.cpp"


def shares(run):
    """Samples of each target, as shares of all those in scope that are no regions."""
    counts = {line["location"]: line["count"] for line in run.records("samples")[-1]["lines"]}
    total = sum(count for location, count in counts.items() if not location.startswith("region "))
    return {location: count / total for location, count in counts.items()}


@pytest.fixture
def run_by_lines(coz, build, shared_run):
    """Short blocks, so that all lines and the region are in the report."""
    return shared_run("source frames", lambda: coz.run([build("source_frames.cpp"), 12], "--speedups", "50"))


def near(share):
    return pytest.approx(share, abs=0.06)


def test_lines_and_regions(run_by_lines, source):
    run = run_by_lines
    inlined, called = lines_with(source, "// INLINED", "// CALLED")
    found = shares(run)
    assert found[f"{source}:{inlined}"] == near(3 / 7)
    assert found[f"{source}:{called}"] == near(4 / 7)
    assert found["region part"] == near(3 / 7)
    (region,) = [line for line in run.records("samples")[-1]["lines"] if line["kind"] == "region"]
    assert region["location"] == "region part"


def test_a_region_is_sped_up_as_one(coz, run_by_lines):
    """It holds 3 of 7 parts, in two lines that have other parts as well."""
    assert run_by_lines.status == 0, run_by_lines.err
    (result,) = [r for r in coz.results() if r["target"] == "region"]
    assert result["location"] == "region part"
    (point,) = [p for p in result["curve"] if p["speedup"] == 0.5]
    assert point["low"] - 0.1 <= 0.5 * 3 / 7 <= point["high"] + 0.1
    assert "region part" in coz("report", coz.profile).out


def test_callers_are_told(coz, run_by_lines, source):
    """One sample of four is followed to its caller."""
    inlined, called, one, three = lines_with(
        source, "// INLINED", "// CALLED", "// ONE UNIT", "// THREE UNITS"
    )
    by_caller = defaultdict(int)
    for entry in run_by_lines.records("samples")[-1]["callers"]:
        if entry["location"] == f"{source}:{called}":
            by_caller[entry["caller"]] += entry["count"]
    total = sum(by_caller.values())
    assert by_caller[f"{source}:{one}"] / total == pytest.approx(1 / 4, abs=0.08)
    assert by_caller[f"{source}:{three}"] / total == pytest.approx(3 / 4, abs=0.08)
    report = coz("report", "--instances", coz.profile).out
    wanted = rf"source_frames.cpp:{inlined} < spin_inlined<2> \d\d%, spin_inlined<1> \d\d%"
    assert re.search(wanted, report), report
    assert f"source_frames.cpp:{called} < source_frames.cpp:{three} " in report


def test_a_line_under_one_caller(coz, build, source):
    options = ("--granularity", "callpath", "--speedups", "50")
    run = coz.run_until(6, [build("source_frames.cpp"), coz.enough], *options)
    assert run.records("run")[0]["granularity"] == "callpath"
    inlined, called, two, three = lines_with(
        source, "// INLINED", "// CALLED", "// INLINED TWO", "// THREE UNITS"
    )
    found = shares(run)
    assert found[f"{source}:{inlined} < {source}:{two}"] == near(2 / 7)
    assert found[f"{source}:{called} < {source}:{three}"] == near(3 / 7)
    assert {e["kind"] for e in run.records("experiment")} <= {"callpath", "region"}
    assert coz("report", coz.profile).status == 0


def test_functions(coz, build, source):
    options = ("--granularity", "function", "--speedups", "50")
    run = coz.run_until(6, [build("source_frames.cpp"), coz.enough], *options)
    found = shares(run)
    assert found[f"{source}:spin_called"] == near(4 / 7)
    assert sum(s for name, s in found.items() if "spin_inlined" in name) == near(3 / 7)
    assert coz("report", coz.profile).status == 0


@pytest.mark.parametrize(("way", "mark"), [("read", "READ"), ("write", "WRITE"), ("faults", "FAULTS")])
def test_time_in_the_kernel_is_the_callers(coz, build, request, way, mark):
    if way == "faults" and kernel_error():
        pytest.skip("perf may not sample the kernel")
    source = request.config.rootpath / "tests/programs/kernel_time.c"
    run = coz.run([build("kernel_time.c"), 2, way])
    if run.records("run")[0]["sampling"] == "timer":
        pytest.skip("the timer's samples come when the kernel returns")
    line, short = lines_with(source, mark, "SHORT")
    samples = run.records("samples")[-1]
    counts = {entry["location"]: entry["count"] for entry in samples["lines"]}
    assert counts[f"{source}:{line}"] / samples["total"] == pytest.approx(float(run.out), abs=0.12)
    assert counts.get(f"{source}:{short}", 0) / samples["total"] < 0.05


@pytest.mark.parametrize(("way", "mark"), [("read", "READ"), ("write", "WRITE")])
def test_the_timer_cuts_no_call_short_and_samples_it(coz, build, request, way, mark):
    """The program aborts where a call transfers less than it was to."""
    source = request.config.rootpath / "tests/programs/kernel_time.c"
    run = coz.run([build("kernel_time.c"), 2, way], "--sampling", "timer")
    (line,) = lines_with(source, mark)
    samples = run.records("samples")[-1]
    counts = {entry["location"]: entry["count"] for entry in samples["lines"]}
    assert counts[f"{source}:{line}"] / samples["total"] == pytest.approx(float(run.out), abs=0.12)


def test_time_in_libraries_is_the_callers(coz, build, request):
    """Nothing here has frame pointers, the C library neither."""
    source = request.config.rootpath / "tests/programs/library_time.cpp"
    program = build("library_time.cpp", "-fomit-frame-pointer")
    run = coz.run([program, 3], "--source-scope", "%library_time.cpp", "--warmup", "1h")
    assert run.status == 0, run.err
    found = shares(run)
    lines = lines_with(source, "// COPY THRICE", "// COPY ONCE", "// SORT")
    true = [float(share) for share in run.out.split()]
    measured = [found.get(f"{source}:{line}", 0) for line in lines]
    # What the sort itself prepares is in another line of the same function.
    assert sum(map(min, true, measured)) > 0.93, (true, found)
