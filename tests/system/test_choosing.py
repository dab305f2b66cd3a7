"""What the user chooses: lines, functions, regions, speedups; and the list of what there is."""

import json
import os
import pty
import re
import subprocess

import pytest


def line_number(path, text):
    return next(i for i, line in enumerate(path.read_text().splitlines(), 1) if text in line)


@pytest.fixture
def serial(request):
    return request.config.rootpath / "examples/serial/serial.cpp"


@pytest.fixture
def hot(serial):
    """The two lines of the example that take all of its time."""
    return [f"{serial}:{line_number(serial, f'size_t {name} = 0')}" for name in "xy"]


def tried(experiments):
    return {(e["location"], e["speedup"]) for e in experiments}


def have_hits(experiments):
    """More samples in the target than chance would leave there."""
    return sum(e["hits"] for e in experiments) > 50


def have_functions(experiments):
    """The first windows may all be a region's."""
    return sum(e["kind"] == "function" for e in experiments) >= 6


def test_listed_lines_are_lines_to_choose(coz, build, serial, hot):
    """`coz lines`, cut down by hand, is a file for --fixed-lines."""
    program = build("examples/serial/serial.cpp")
    listed = coz("lines", program)
    assert listed.status == 0, listed.err
    kept = [line for line in listed.out.splitlines() if line.split("\t")[0] in hot]
    assert [line.split("\t")[1] for line in kept] == ["minor", "major"]
    (coz.folder / "list").write_text("# the loops\n" + "\n".join(kept))
    options = ("--fixed-lines", "list", "--speedups", "0,50", "--period", "500us")
    pairs = {(line, speedup) for line in hot for speedup in (0, 0.5)}
    run = coz.stopped_at(lambda e: len(e) > 12 and tried(e) >= pairs, [program, 100], *options)
    assert tried(run.records("experiment")) == pairs
    (record,) = run.records("run")
    assert (record["fixed"], record["speedups"]) == (hot, [0.5])
    # Each line has its share of blocks.
    blocks = {
        location: {e["block"] for e in run.records("experiment") if e["location"] == location}
        for location in hot
    }
    counts = [len(of_line) for of_line in blocks.values()]
    assert max(counts) - min(counts) <= 2, counts


def test_a_block_of_two_speedups_has_both_in_each_half(coz, build, hot):
    program = build("examples/serial/serial.cpp")

    def whole_blocks(experiments):
        blocks = {}
        for e in experiments:
            blocks.setdefault(e["block"], []).append(e["speedup"])
        return [block for block in blocks.values() if len(block) == 6]

    run = coz.stopped_at(whole_blocks, [program, 100], "--fixed-line", hot[1], "--speedups", "25,75")
    for block in whole_blocks(run.records("experiment")):
        assert sorted(block[:3]) == sorted(block[3:]) == [0, 0.25, 0.75]


def test_unknown_lines_are_refused_all_at_once(coz, build):
    (coz.folder / "list").write_text("loop.c:1\n\nnowhere.c:3\n")
    run = coz.run([build("loop.c"), 0.2], "--fixed-lines", "list", "--fixed-line", "loop.c:999")
    assert run.status == 2
    assert "out:" not in run.out
    assert not coz.profile.exists()
    for words in ("loop.c:1 (list, line 1; nearest: ", "nowhere.c:3 (list, line 3;", "loop.c:999 (nearest: "):
        assert words in run.err


def test_a_line_out_of_scope_is_refused(coz, build):
    program = build("source_frames.cpp")
    header = next(
        line for line in coz("lines", "-s", "/usr/include/%", program).out.splitlines() if ":" in line
    ).split("\t")[0]
    run = coz.run([program, 0.2], "--fixed-line", header)
    assert run.status == 2
    assert f"{header} is out of scope" in run.err
    run = coz.run([program, 0.2], "--fixed-line", header, "-s", "/usr/include/%")
    assert run.status == 0


def test_functions_are_chosen_by_name(coz, build):
    program = build("source_frames.cpp")
    refused = coz.run([program, 1], "--granularity", "function", "--fixed-function", "spin_caled")
    assert refused.status == 2
    assert "spin_called" in refused.err
    options = ("--granularity", "function", "--fixed-function", "source_frames.cpp:spin_called")
    run = coz.run_until(have_hits, [program, coz.enough], *options)
    assert run.status == 0, run.err
    (location,) = {e["location"] for e in run.records("experiment")}
    assert location.endswith("source_frames.cpp:spin_called")
    assert run.records("run")[0]["fixed"] == [location]
    assert have_hits(run.records("experiment"))


def test_a_name_of_several_functions_means_each(coz, build):
    options = ("--granularity", "function", "--fixed-function", "spin_inlined", "--speedups", "50")

    def functions(experiments):
        return {e["function"] for e in experiments}

    def has_two(experiments):
        return len(functions(experiments)) > 1

    run = coz.run_until(has_two, [build("source_frames.cpp"), coz.enough], *options)
    assert len(run.records("run")[0]["fixed"]) == 2
    assert functions(run.records("experiment")) == {"spin_inlined<1>", "spin_inlined<2>"}


def test_a_region_is_chosen_once_it_is_entered(coz, build):
    options = ("--fixed-region", "part", "--fixed-region", "none")
    run = coz.run_until(2, [build("source_frames.cpp"), coz.enough], *options)
    assert {e["location"] for e in run.records("experiment")} == {"region part"}
    assert run.records("samples")[-1]["regions"] == ["part"]
    assert "never entered the region none, " in run.err


def test_a_whole_run_waits_for_its_region(coz, build):
    """No region has been entered when the run begins."""
    run = coz.run(
        [build("source_frames.cpp"), 2], "--fixed-region", "part", "--end-to-end", "--fixed-speedup", 30
    )
    (experiment,) = run.records("experiment")
    assert (experiment["location"], experiment["speedup"]) == ("region part", 0.3)


def test_lines_as_json(coz, build):
    done = coz("lines", "--json", "--line", "spin_called", build("source_frames.cpp"))
    lines = json.loads(done.out)["lines"]
    assert lines
    assert {line["function"] for line in lines} == {"spin_called"}
    done = coz("lines", "--json", "--granularity", "function", build("source_frames.cpp"))
    names = [entry["function"] for entry in json.loads(done.out)["functions"]]
    assert {"main", "spin_called", "spin_inlined<1>"} <= set(names)


def on_terminal(command, folder):
    """What the command writes to a terminal of 60 columns, without colours."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.environ.update(TERM="xterm", COLUMNS="60")
        os.execv(command[0], list(map(str, command)))
    seen = b""
    while True:
        try:
            chunk = os.read(terminal, 4096)
        except OSError:  # its last user has left
            break
        if not chunk:
            break
        seen += chunk
    assert os.waitpid(process, 0)[1] == 0
    return re.sub(r"\x1b\[[0-9;]*m", "", seen.decode()).replace("\r", "")


def test_on_a_terminal_lines_are_grouped(coz, build, serial, hot, request):
    command = [request.config.rootpath / "build/bin/coz", "lines", build("examples/serial/serial.cpp")]
    shown = on_terminal(command, coz.folder)
    assert re.search(rf"^{re.escape(str(serial))}  [0-9]+ lines$", shown, re.MULTILINE)
    minor = hot[0].rpartition(":")[2]
    assert re.search(rf"^  minor +{minor}(–[0-9]+)? *$", shown, re.MULTILINE)
    assert max(map(len, shown.splitlines()[1:])) <= 60


def test_a_reader_that_has_seen_enough_is_no_error(coz, build, request):
    program = build("examples/serial/serial.cpp")
    coz_command = request.config.rootpath / "build/bin/coz"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; '{coz_command}' lines '{program}' | head -1"],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout.count("\n"), done.stderr) == (0, 1, "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "no program"),
        (("a", "b"), "one program"),
        (("./nothing",), "no such program"),
        (("/bin/ls", "--fixed-line", "a:1"), "unrecognized"),
        (("--granularity", "callpath", "/bin/ls"), "callpath"),
    ],
)
def test_bad_arguments_of_lines(coz, arguments, words):
    done = coz("lines", *arguments)
    assert done.status != 0
    assert done.out == ""
    assert words in done.err
    assert "Traceback" not in done.err


def test_nothing_to_list_is_said(coz, build):
    done = coz("lines", "-s", "nowhere.c", build("loop.c"))
    assert (done.status, done.out) == (2, "")
    assert "loop.c" in done.err
    done = coz("lines", "--line", "nowhere.c", build("loop.c"))
    assert (done.status, done.out) == (2, "")


def stripped(program, folder):
    copy = folder / "stripped"
    subprocess.run(["strip", "-o", copy, program], check=True)
    return copy


def addresses_of_functions(program):
    """Where the functions of a program that has symbols begin, by their plain names."""
    listed = subprocess.run(["nm", "-C", program], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^([0-9a-f]+) [tT] (?:.*::)?(\w+)(?:\(.*\))?$", listed, re.MULTILINE)
    return {name: int(address, 16) for address, name in found}


@pytest.mark.measured
@pytest.mark.parametrize("position", ["-pie", "-no-pie"])
def test_functions_of_a_stripped_program(coz, build, position):
    """3 of 7 parts of the time are in round_of_work(), by inlining, and 4 in spin_called()."""
    flags = ("-fPIE", "-pie") if position == "-pie" else ("-fno-pie", "-no-pie")
    whole = build("source_frames.cpp", *flags, debug="-g0")
    program = stripped(whole, coz.folder)
    base = 0 if position == "-pie" else 0x400000
    names = {name: f"stripped+{address - base:#x}" for name, address in addresses_of_functions(whole).items()}
    # Scope is by binary: what there is of sources is none of its.
    options = ("--granularity", "function", "-s", "nothing.c", "--speedups", "50")
    run = coz.run_until(have_functions, [program, coz.enough], *options)
    assert run.status == 0, run.err
    counts = {line["location"]: line["count"] for line in run.records("samples")[-1]["lines"]}
    total = sum(count for location, count in counts.items() if not location.startswith("region "))
    for name, share in (("spin_called", 4 / 7), ("round_of_work", 3 / 7)):
        assert counts[f"{program}:{names[name]}"] / total == pytest.approx(share, abs=0.08)
    assert {e["kind"] for e in run.records("experiment")} <= {"function", "region"}
    assert "callers" not in run.records("samples")[-1] or not run.records("samples")[-1]["callers"]
    report = coz("report", coz.profile)
    assert report.status == 0
    # Which of the two is drawn first is chance.
    assert any(name in report.out for name in names.values())


def test_a_function_of_a_stripped_program_is_chosen(coz, build):
    whole = build("source_frames.cpp", debug="-g0")
    program = stripped(whole, coz.folder)
    name = f"stripped+{addresses_of_functions(whole)['spin_called']:#x}"
    listed = coz("lines", "--granularity", "function", program).out
    assert f"{program}:{name}\t{name}\n" in listed
    options = ("--granularity", "function", "--fixed-function", name)
    run = coz.run_until(have_hits, [program, coz.enough], *options)
    assert {e["location"] for e in run.records("experiment")} == {f"{program}:{name}"}
    assert have_hits(run.records("experiment"))


def test_symbols_are_enough_for_functions_but_not_for_lines(coz, build):
    program = build("loop.c", debug="-g0")
    listed = coz("lines", "--granularity", "function", "--line", "main", program)
    assert listed.out == f"{program}:main\tmain\n"
    for command in (("lines", program), ("run", "---", program, "0.2")):
        refused = coz(*command)
        assert refused.status == 2
        assert "out:" not in refused.out
        assert "--granularity function" in refused.err


#: A loop that crosses a boundary takes twice as long on some processors.
ALIKE = ("-O1", "-falign-loops=64")


@pytest.mark.measured
def test_libraries_without_debug_information_have_functions(coz, request):
    """In scope by -b; else their time is their callers'."""
    loop = '{ for (long i = 0; i < 500000; ++i) __asm__ volatile ("" : "+r"(i)); }'
    (coz.folder / "library.c").write_text(
        f"static __attribute__((noinline)) void hidden(void) {loop}\n"
        'void in_library(void) { hidden(); __asm__ volatile (""); }\n'
    )
    (coz.folder / "program.c").write_text(
        "#include <coz.h>\nvoid in_library(void);\n"
        f"static __attribute__((noinline)) void own(void) {loop}\n"
        "int main(void) {\n  for (int i = 0; i < 2000; ++i) {\n    own();\n    in_library();\n"
        "    COZ_PROGRESS;\n  }\n  return 0;\n}\n"
    )
    include = request.config.rootpath / "include"
    for command in (
        ["gcc", *ALIKE, "-g0", "-fPIC", "-shared", "-s", "-o", "libwork.so", "library.c"],
        ["gcc", *ALIKE, "-g", "-I", include, "-o", "program", "program.c", "./libwork.so"],
    ):
        subprocess.run(command, check=True, cwd=coz.folder)
    program, library = coz.folder / "program", coz.folder / "libwork.so"

    def shares(*options):
        coz.profile.unlink(missing_ok=True)
        run = coz.run([program], "--granularity", "function", *options)
        assert run.status == 0, run.err
        counts = {line["location"]: line["count"] for line in run.records("samples")[-1]["lines"]}
        return {location: count / sum(counts.values()) for location, count in counts.items()}

    half = pytest.approx(0.5, abs=0.1)
    own = f"{coz.folder}/program.c"
    both = shares("-b", "MAIN", "-b", "%/libwork.so")
    assert both.pop(f"{own}:own") == half
    hidden = max(both, key=lambda location: both[location])
    assert both[hidden] == half
    assert hidden.startswith(f"{library}:libwork.so+0x")
    alone = shares()
    assert (alone[f"{own}:own"], alone[f"{own}:main"]) == (half, half)


@pytest.mark.measured
def test_the_frame_that_samples_return_by_is_no_function(coz, build):
    """It is on the stack of each sample, in libc, before whatever was sampled."""
    run = coz.run(
        [build("kernel_time.c"), 2, "write"], "--granularity", "function", "-b", "MAIN", "-b", "%/libc.so%"
    )
    assert run.status == 0, run.err
    samples = run.records("samples")[-1]
    assert samples["total"] > 100
    trampolines = [line for line in samples["lines"] if "restore_rt" in line["location"]]
    assert trampolines == []
    listed = coz("lines", "--granularity", "function", "-b", "%/libc.so%", build("kernel_time.c"))
    assert "restore_rt" not in listed.out


def test_no_experiment_in_the_warmup(coz, build):
    run = coz.stopped_at(2, [build("examples/serial/serial.cpp"), 100], "--warmup", "1.5s")
    experiments = run.records("experiment")
    assert all(experiment["start"] >= 1_500_000_000 for experiment in experiments)


@pytest.mark.parametrize("sampling", ["perf-trap", "perf-signal", "timer"])
def test_profiling_may_end_before_the_program(coz, build, sampling):
    """Nothing is recorded later, no thread of ours is left, and the program ends as it would have."""
    run = coz.run([build("examples/serial/serial.cpp"), 4], "--stop-after", "2s", "--sampling", sampling)
    assert run.status == 0, run.err
    assert run.records("experiment")
    assert all(e["start"] + e["duration"] <= 2_100_000_000 for e in run.records("experiment"))
    (samples,) = [record for record in run.records("samples") if record["final"]]
    assert 1_900_000_000 <= samples["duration"] < 3_500_000_000
    assert run.records()[-1]["type"] == "exit"


def test_a_short_program_is_run_again(coz, build):
    """Runs add up, each with random choices of its own, and the last experiments are not the first ones'."""
    run = coz.run([build("examples/serial/serial.cpp"), 1.5], "--repeat", "3")
    assert run.status == 0, run.err
    runs = run.records("run")
    assert len(runs) == 3
    assert len({record["seed"] for record in runs}) == 3
    assert len(run.records("exit")) == 3


def test_a_short_run_speeds_up_the_lines_that_earlier_runs_sampled(coz, build):
    """A first run of less than a second knows too little of its lines to speed up many at once."""
    run = coz.run([build("many_lines.c"), 0.9], "--repeat", "4")
    assert run.status == 0, run.err
    companions = [[]]
    for record in run.records():
        if record["type"] == "exit":
            companions.append([])
        elif record["type"] == "experiment":
            companions[-1] += record["companions"]
    assert not companions[0]
    assert companions[1] or companions[2] or companions[3]
