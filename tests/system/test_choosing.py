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


def tried(run):
    return {(e["location"], e["speedup"]) for e in run.records("experiment")}


def test_listed_lines_are_lines_to_choose(coz, build, serial, hot):
    """`coz lines`, cut down by hand, is a file for --fixed-lines."""
    program = build("examples/serial/serial.cpp")
    listed = coz("lines", program)
    assert listed.status == 0, listed.err
    kept = [line for line in listed.out.splitlines() if line.split("\t")[0] in hot]
    assert [line.split("\t")[1] for line in kept] == ["minor", "major"]
    (coz.folder / "list").write_text("# the loops\n" + "\n".join(kept))
    run = coz.run([program, 8], "--fixed-lines", "list", "--speedups", "0,50", "--period", "500us")
    assert run.status == 0, run.err
    assert tried(run) == {(line, speedup) for line in hot for speedup in (0, 0.5)}
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
    run = coz.run([build("examples/serial/serial.cpp"), 6], "--fixed-line", hot[1], "--speedups", "25,75")
    blocks = {}
    for e in run.records("experiment"):
        blocks.setdefault(e["block"], []).append(e["speedup"])
    whole = [block for block in blocks.values() if len(block) == 6]
    assert whole
    for block in whole:
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
    program = build("places.cpp")
    header = next(
        line for line in coz("lines", "-s", "/usr/include/%", program).out.splitlines() if ":" in line
    ).split("\t")[0]
    run = coz.run([program, 0.2], "--fixed-line", header)
    assert run.status == 2
    assert f"{header} is out of scope" in run.err
    run = coz.run([program, 0.2], "--fixed-line", header, "-s", "/usr/include/%")
    assert run.status == 0


def test_functions_are_chosen_by_name(coz, build):
    program = build("places.cpp")
    refused = coz.run([program, 1], "--granularity", "function", "--fixed-function", "spin_caled")
    assert refused.status == 2
    assert "spin_called" in refused.err
    run = coz.run([program, 4], "--granularity", "function", "--fixed-function", "places.cpp:spin_called")
    assert run.status == 0, run.err
    (location,) = {e["location"] for e in run.records("experiment")}
    assert location.endswith("places.cpp:spin_called")
    assert run.records("run")[0]["fixed"] == [location]
    assert sum(e["hits"] for e in run.records("experiment")) > 50


def test_a_name_of_several_functions_means_each(coz, build):
    run = coz.run([build("places.cpp"), 8], "--granularity", "function", "--fixed-function", "spin_inlined")
    assert len(run.records("run")[0]["fixed"]) == 2
    assert {e["function"] for e in run.records("experiment")} == {"spin_inlined<1>", "spin_inlined<2>"}


def test_a_region_is_chosen_once_it_is_entered(coz, build):
    run = coz.run([build("places.cpp"), 4], "--fixed-region", "part", "--fixed-region", "none")
    assert {e["location"] for e in run.records("experiment")} == {"region part"}
    assert run.records("samples")[-1]["regions"] == ["part"]
    assert "never entered the region none, " in run.err


def test_a_whole_run_waits_for_its_region(coz, build):
    """No region has been entered when the run begins."""
    run = coz.run([build("places.cpp"), 2], "--fixed-region", "part", "--end-to-end", "--fixed-speedup", 30)
    (experiment,) = run.records("experiment")
    assert (experiment["location"], experiment["speedup"]) == ("region part", 0.3)


def test_lines_as_json(coz, build):
    done = coz("lines", "--json", "--line", "spin_called", build("places.cpp"))
    lines = json.loads(done.out)["lines"]
    assert lines
    assert {line["function"] for line in lines} == {"spin_called"}
    done = coz("lines", "--json", "--granularity", "function", build("places.cpp"))
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
