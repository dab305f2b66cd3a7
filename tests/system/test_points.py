"""Progress points without macros: `--progress`, `--latency`, `--progress-sampled`. Counts are exact."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

ROOT_BUILD = "build/libexec/coz-linetable"


def line_of(source, mark):
    return next(i for i, text in enumerate(source.read_text().splitlines(), 1) if text.endswith(f"// {mark}"))


@pytest.fixture(scope="session")
def machine(request):
    """What `coz-linetable breakpoints` says of this machine."""
    helper = request.config.rootpath / ROOT_BUILD
    return json.loads(subprocess.run([helper, "breakpoints"], capture_output=True, check=True).stdout)


@pytest.fixture(params=["hardware", "breakpoint"])
def by(request, machine):
    if request.param == "hardware" and machine["hardware"]["free"] < 3:
        pytest.skip(f"no three hardware breakpoints here: {machine['hardware']['error']}")
    if request.param != "hardware" and not machine["instruction"]["available"]:
        pytest.skip("breakpoint instructions are for x86-64")
    return request.param


@pytest.fixture
def source(request):
    return request.config.rootpath / "tests/programs/visits.cpp"


def visits(run):
    """By name; of functions without parameters."""
    points = run.records("samples")[-1]["points"]
    return {point["name"].split("(")[0]: point.get("visits", point.get("arrivals")) for point in points}


OPTIMIZED = ["-O0"], ["-O2"], ["-O2", "-no-pie", "-fno-pie"], ["-O1", "-fcf-protection"]


# Every way as programs are mostly compiled, and every compilation once; `make test-long` tries all pairs.
@pytest.mark.parametrize(
    ("way", "flags"),
    [
        pytest.param(
            way,
            flags,
            id=f"{way}-{' '.join(flags)}",
            marks=[] if flags == ["-O2"] or way == "plain" else [pytest.mark.long],
        )
        for way in ("plain", "threads", "fork", "trap", "masks")
        for flags in OPTIMIZED
    ],
)
def test_visits_are_as_many_as_the_program_counts(coz, build, source, by, way, flags):
    line = line_of(source, "LINE")
    run = coz.run(
        [build("visits.cpp", *flags), way],
        "--progress-by", by, "--progress", f"visits.cpp:{line}", "--progress", "counted", "--latency",
        f"counted,visits.cpp:{line}",
    )  # fmt: skip
    assert run.status == 0, run.err
    calls, lines, _ = map(int, run.out.splitlines()[-1].split())
    assert run.out.count("\n") == 1, run.out  # the program found everything as it should be
    found = visits(run)
    assert found[f"{source}:{line}"] == lines
    assert found["counted<long int>"] == calls
    (latency,) = [p for p in run.records("samples")[-1]["points"] if p["kind"] == "latency"]
    assert (latency["arrivals"], latency["departures"]) == (calls, lines)
    assert {p["by"] for p in run.records("run")[0]["points"]} == {by}


@pytest.mark.parametrize("sampling", ["perf-signal", "timer", "off"])
def test_with_every_way_of_sampling(coz, build, source, machine, sampling):
    if not machine["instruction"]["available"]:
        pytest.skip("breakpoint instructions are for x86-64")
    for way in ("trap", "masks", "threads"):
        coz.profile.unlink(missing_ok=True)
        run = coz.run(
            [build("visits.cpp"), way],
            "--sampling", sampling, "--progress-by", "breakpoint", "--progress", "counted",
        )  # fmt: skip
        assert run.status == 0, run.err
        assert visits(run)["counted<long int>"] == int(run.out.split()[0])
        assert run.out.count("\n") == 1, run.out


def test_breakpoints_leave_every_register_as_it_was(coz, build, machine):
    """Flags and vectors live across the location; threads pass it while windows open and close."""
    if not machine["instruction"]["available"]:
        pytest.skip("breakpoint instructions are for x86-64")
    program = build("live_registers.cpp")
    run = coz.run([program], "--progress-by", "breakpoint", "--progress", "step")
    assert run.status == 0, run.err
    passes, wrong = map(int, run.out.split())
    assert (visits(run)["step"], wrong) == (passes, 0)
    coz.profile.unlink()
    run = coz.run([program], "--progress-by", "breakpoint", "--latency", "step,behind")
    assert run.status == 0, run.err
    passes, wrong = map(int, run.out.split())
    (latency,) = [p for p in run.records("samples")[-1]["points"] if p["kind"] == "latency"]
    assert (latency["arrivals"], latency["departures"], wrong) == (passes, passes, 0)


def test_with_another_thread_about_visits_are_counted(coz, build, machine, tmp_path):
    """A library's constructor has started one past us: it may stand anywhere."""
    if not machine["instruction"]["available"]:
        pytest.skip("breakpoint instructions are for x86-64")
    (tmp_path / "early.c").write_text(
        "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <pthread.h>\n#include <unistd.h>\n"
        "typedef int create_t(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);\n"
        "static void* wait(void* a) { for (;;) pause(); return a; }\n"
        "__attribute__((constructor)) static void start(void) {\n"
        '  create_t* c = (create_t*)dlsym(dlopen("libc.so.6", RTLD_NOW), "pthread_create");\n'
        "  pthread_t t; c(&t, 0, wait, 0);\n}\n"
    )
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-o", "libearly.so", "early.c", "-lpthread"], cwd=tmp_path, check=True
    )
    program = build(
        "live_registers.cpp", f"-L{tmp_path}", "-Wl,--no-as-needed", "-learly", f"-Wl,-rpath,{tmp_path}"
    )
    run = coz.run([program], "--progress-by", "breakpoint", "--progress", "step")
    assert run.status == 0, run.err
    assert visits(run)["step"] == int(run.out.split()[0])


def test_inlined_functions_are_counted_where_they_are_inlined(coz, build, by):
    run = coz.run([build("visits.cpp")], "--progress-by", by, "--progress", "twice")
    assert run.status == 0, run.err
    assert visits(run)["twice"] == int(run.out.split()[2])


MOVED = ["scaled", "mixed", "hashed", "normed", "found"]


@pytest.mark.parametrize("flags", ["-O1", "-O2"])
def test_code_moved_out_of_a_loop_is_not_taken_for_the_entry(coz, build, request, flags):
    """Each call is counted, or the point is refused with the reason."""
    program = build("moved_entries.c", flags, "-lm")
    source = request.config.rootpath / "tests/programs/moved_entries.c"
    counted = []
    for function in MOVED:
        for name in (function, f"moved_entries.c:{line_of(source, function)}"):
            coz.profile.unlink(missing_ok=True)
            run = coz.run([program, "300"], "--progress-by", "breakpoint", "--progress", name)
            if run.status == 0:
                assert list(visits(run).values()) == [300], name
                counted.append(name)
            else:
                assert "cannot be counted" in run.err
                assert run.out == ""
    assert len(counted) >= 6  # else the test shows nothing


@pytest.mark.parametrize("flags", [["-O0"], ["-O2"]], ids=" ".join)
def test_exceptions_pass_through(coz, build, request, by, flags):
    source = request.config.rootpath / "tests/programs/thrown.cpp"
    for mark, expected in (("THROW", 3000), ("CALL", 3000), ("CAUGHT", 1000)):
        coz.profile.unlink(missing_ok=True)
        line = line_of(source, mark)
        run = coz.run([build("thrown.cpp", *flags)], "--progress-by", by, "--progress", f"thrown.cpp:{line}")
        assert (run.status, run.out) == (0, "1000\n"), run.err
        assert visits(run)[f"{source}:{line}"] == expected


def test_a_function_is_a_point_like_a_macro(coz, build):
    """Experiments are made, and the report names the point and what counted it."""
    options = ("--progress", "unit", "-s", "%visits.cpp", "--speedups", "50")
    run = coz.run_until(6, [build("visits.cpp"), "long", coz.enough], *options)
    assert run.status == 0, run.err
    assert "experiment" in run.err
    (result, *_) = coz.results()
    assert result["point"] == "unit"
    report = coz("report", coz.profile).out
    assert f"Counted by {run.records('run')[0]['points'][0]['by']}" in report
    assert " unit " in report


def test_samples_of_a_line_are_a_point(coz, build, request):
    """The busy loop's line; its samples are those that the histogram has."""
    source = request.config.rootpath / "tests/programs/visits.cpp"
    line = next(i for i, t in enumerate(source.read_text().splitlines(), 1) if "i < 300000" in t)
    options = ("--progress-sampled", f"visits.cpp:{line}", "--speedups", "50")
    run = coz.run_until(6, [build("visits.cpp"), "long", coz.enough], *options)
    assert run.status == 0, run.err
    samples = run.records("samples")[-1]
    (count,) = [entry["count"] for entry in samples["lines"] if entry["location"] == f"{source}:{line}"]
    assert visits(run)[f"{source}:{line}"] == count > 100
    assert run.records("run")[0]["points"] == [
        {"name": f"{source}:{line}", "kind": "throughput", "by": "samples"}
    ]
    report = coz("report", coz.profile).out
    assert f"visits.cpp:{line} (sampled)" in report


# More than the processor has breakpoints.
SIX = [f"--progress={name}" for name in ("unit", "on_trap", "on_signal", "in_child", "main", "run")]


@pytest.mark.parametrize(
    ("arguments", "said", "hint"),
    [
        (["--progress", "unitt"], "no function unitt", "unit"),
        (["--progress", "visits.cpp:1"], "no line with code visits.cpp:1", "the nearest: "),
        (["--progress", "none.cpp:3"], "no line with code none.cpp:3", "visits.cpp"),
        (["--progress", "%work%"], "", ""),
        (["--progress", "on_%"], "on_% stands for 2 locations", "on_signal"),
        (["--latency", "unit,nowhere"], "no function nowhere", ""),
        (["--progress-sampled", "visits.cpp:1"], "no line with code visits.cpp:1", "the nearest: "),
        (["--progress-sampled", "visits.cpp:9", "--sampling", "off"], "there are none", "--progress"),
        (["--latency", "unit"], "is not BEGIN,END", ""),
        (["--progress-by", "hardware", *SIX], "can be had", "--progress-by auto"),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else "",
)  # fmt: skip
def test_what_is_not_one_place_is_refused_before_the_start(coz, build, arguments, said, hint):
    run = coz.run([build("visits.cpp", "-O0")], *arguments)
    if not said:
        assert run.status == 0, run.err
        return
    assert run.status == 2
    assert run.out == ""
    assert said in run.err
    assert hint in run.err
    assert not coz.profile.exists()


def test_an_exec_in_the_program_leaves_breakpoints_behind(coz, build, machine, tmp_path):
    """The program that comes after, in the same process, has none, and no handler of ours."""
    if not machine["instruction"]["available"]:
        pytest.skip("breakpoint instructions are for x86-64")
    source = tmp_path / "again.c"
    source.write_text(
        "#include <unistd.h>\n"
        '__attribute__((noinline)) void step(void) { __asm__ volatile(""); }\n'
        "int main(int argc, char** argv) {\n"
        "  for (int i = 0; i < 5; ++i) step();\n"
        '  if (argc == 1) execl("/proc/self/exe", argv[0], "again", (char*)0);\n'
        "  return argc == 2 ? 11 : 12;\n"
        "}\n"
    )
    program = tmp_path / "again"
    subprocess.run(["gcc", "-g", "-O1", "-o", program, source], check=True)
    run = coz.run([program], "--progress", "step", "--progress-by", "breakpoint")
    assert run.status == 11, run.err


def test_after_the_end_of_profiling_nothing_is_counted(coz, build, machine):
    """The program looks for what counts at its own code, while its threads run into it."""
    if not machine["instruction"]["available"]:
        pytest.skip("breakpoint instructions are for x86-64")
    options = ("--progress", "step", "--progress-by", "breakpoint", "--stop-after", "1s")
    run = coz.run([build("uncounted.cpp")], *options)
    assert run.status == 0, run.err
    assert run.out == "breakpoint: gone\n"
    assert visits(run)["step"] > 0
    assert "stay in the code" not in run.err


def test_points_reach_libraries_in_scope(coz, tmp_path):
    (tmp_path / "lib.c").write_text(
        'int served;\n__attribute__((visibility("default"))) void serve(void) { served++; }\n'
    )
    (tmp_path / "main.c").write_text(
        "void serve(void);\nint main(void) { for (int i = 0; i < 30; ++i) serve(); }\n"
    )
    subprocess.run(
        ["gcc", "-g", "-O1", "-shared", "-fPIC", "-o", "libserve.so", "lib.c"], cwd=tmp_path, check=True
    )
    subprocess.run(
        ["gcc", "-g", "-O1", "-o", "main", "main.c", "-L.", "-lserve", f"-Wl,-rpath,{tmp_path}"],
        cwd=tmp_path, check=True,
    )  # fmt: skip
    refused = coz.run([tmp_path / "main"], "--progress", "serve")
    assert refused.status == 2
    assert "-b adds libraries" in refused.err
    run = coz.run([tmp_path / "main"], "--progress", "serve", "-b", "MAIN", "-b", "%libserve%")
    assert run.status == 0, run.err
    assert visits(run)["serve"] == 30


def test_nobody_without_privileges_needs_more(coz, build, source, machine):
    """Both means are an ordinary user's: run as one, where this is root."""
    if os.geteuid() != 0:
        pytest.skip("every other test has shown it")
    if not machine["instruction"]["available"]:
        pytest.skip("breakpoint instructions are for x86-64")
    program = build("visits.cpp")
    try:
        helper = subprocess.run(
            [source.parents[2] / ROOT_BUILD, "breakpoints"], capture_output=True, user=65534, check=False
        )
    except PermissionError:  # it lies in root's own folder
        pytest.skip("the build cannot be reached by others")
    if helper.returncode != 0:
        pytest.skip("the build cannot be read by others")
    assert json.loads(helper.stdout)["instruction"]["available"]
    assert program.exists()
