"""Functions that are moved when a program starts: `coz layout`, and `coz compare --layout runtime`.

tests/programs/moved.* print the same wherever their functions lie, and say which parts run elsewhere.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from compiled import compiled

ROOT = Path(__file__).resolve().parents[2]
COZ = ROOT / "build/bin/coz"
PROGRAMS = ROOT / "tests/programs"
COMPILERS = [("gcc", "g++"), ("clang", "clang++")]
#: Ways to build, of which each changes what depends on addresses.
WAYS = {
    "O0": ["-O0"],
    "O1": ["-O1", "-no-pie"],
    "O2": ["-O2"],
    "O3": ["-O3", "-ffunction-sections", "-Wl,--gc-sections"],
    "Os": ["-Os", "-no-pie", "-fno-plt"],
    "cet": ["-O2", "-fcf-protection=full", "-falign-functions=64"],
    "no-cet": ["-O2", "-fcf-protection=none", "-Wl,-z,now", "-rdynamic"],
    "stripped": ["-O2", "-s"],
    "small": ["-O2", "-no-pie", "-s", "-falign-functions=1"],
}
OUTSIDE = "outside: plain 1 pointer 1 main 1 switch 5 labels 5 thread 2 signal 1"


def build(name, compilers, way):
    """A program of tests/programs; skips where the compiler is not installed."""
    compiler = compilers[name.endswith("pp")]
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    source = PROGRAMS / name
    return compiled([compiler, *way, "-pthread", "-w", str(source)], source, source.stem)


def coz(*arguments, environment=None):
    """Run `coz`; its completed process."""
    command = [str(COZ), *map(str, arguments)]
    environment = {**os.environ, **(environment or {})}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=300)


def check(*arguments):
    """`coz layout check --json` of something."""
    done = coz("layout", "check", "--json", *arguments)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("compilers", COMPILERS, ids=lambda pair: pair[0])
def test_programs_in_c_do_the_same_elsewhere(compilers, way):
    program = build("moved.c", compilers, WAYS[way])
    found = check("--seeds", 3, program)
    assert found["self_test"]["passed"], found["self_test"]
    assert found["self_test"]["output_repeats"]
    # What crt1.o brings belongs to no function; these programs are small.
    assert found["movable"] > 0.85
    for seed in ("1", "original"):
        done = coz("layout", "replay", "--seed", seed, program, "where")
        assert done.returncode == 3
        outside = next(line for line in done.stdout.splitlines() if line.startswith("outside"))
        # Functions that are this small leave no room for a jump to the copy.
        assert outside == OUTSIDE or way == "small"
        assert " main 1 switch 5 " in outside


@pytest.mark.parametrize("way", ["O0", "O1", "O2", "O3", "cet", "stripped", "small"])
@pytest.mark.parametrize("name", ["moved.c", "moved.cpp"])
def test_programs_do_the_same_while_their_functions_move(name, way):
    program = build(name, COMPILERS[0], WAYS[way])
    found = check("--seeds", 3, "--rerandomize", "1ms", program)
    assert found["self_test"]["passed"], found["self_test"]


@pytest.mark.parametrize("way", ["O0", "O2", "O3", "cet"])
def test_addresses_of_labels_and_stack_traces_while_functions_move(way):
    program = build("relabelled.c", COMPILERS[0], [*WAYS[way], "-fno-omit-frame-pointer", "-fexceptions"])
    plain = subprocess.run([program], check=False, capture_output=True, text=True)
    assert plain.returncode == 0, plain.stderr
    found = check("--seeds", 3, "--rerandomize", "1ms", program)
    assert found["rerandomize"] == 0.001
    assert found["self_test"]["passed"], found["self_test"]


def test_calls_lead_to_other_places_while_a_program_runs(tmp_path):
    source = tmp_path / "places.c"
    # The function's own place, and that of the code behind a jump table.
    source.write_text(
        "#define _GNU_SOURCE\n#include <stdio.h>\n#include <time.h>\n#include <unistd.h>\n"
        "__attribute__((noinline)) void* place(void) { return __builtin_return_address(0); }\n"
        '__attribute__((noinline)) void* f(void) { void* p = place(); asm volatile(""); return p; }\n'
        "__attribute__((noinline)) void* g(int n) {\n"
        "  switch (n) {\n"
        "    case 0: return place() + 1; case 1: return place() + 2; case 2: return place() + 3;\n"
        "    case 3: return place() + 5; case 4: return place() + 7; case 5: return place() + 9;\n"
        "  }\n  return 0;\n}\n"
        "int main(void) {\n"
        "  for (int i = 0; i < 200; ++i) {\n"
        '    printf("%p %p\\n", f(), g(3 + i % 2));\n    usleep(2000);\n  }\n'
        '  FILE* tasks = popen("ls /proc/$PPID/task | wc -l", "r");\n'
        '  int count = 0;\n  if (fscanf(tasks, "%d", &count) != 1) return 1;\n'
        '  pclose(tasks);\n  fprintf(stderr, "%d\\n", count);\n  return 0;\n}\n'
    )
    program = compiled(["gcc", "-O1", "-fno-optimize-sibling-calls", str(source)], source, "places")
    done = coz("layout", "replay", "--seed", 3, "--rerandomize", "1ms", program)
    assert done.returncode == 0, done.stderr
    places = [line.split() for line in done.stdout.splitlines()]
    for column in zip(*places, strict=True):
        assert len(set(column)) >= 3
    assert done.stderr.strip() == "2"  # one thread of the program's, and one that switches
    still = coz("layout", "replay", "--seed", 3, program)
    assert len({line.split()[0] for line in still.stdout.splitlines()}) == 1


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("compilers", COMPILERS, ids=lambda pair: pair[0])
def test_exceptions_find_their_handlers(compilers, way):
    program = build("moved.cpp", compilers, WAYS[way])
    found = check("--seeds", 3, program)
    assert found["self_test"]["passed"], found["self_test"]
    assert found["movable"] > 0.95


def test_an_unwinder_of_its_own_is_told(tmp_path):
    way = ["-O2", "-static-libgcc", "-static-libstdc++"]
    program = build("moved.cpp", COMPILERS[0], way)
    assert check("--seeds", 3, program)["self_test"]["passed"]
    assert check("--seeds", 3, "--rerandomize", "1ms", program)["self_test"]["passed"]
    # Handlers are named by distances, and in programs for a fixed place by addresses.
    for place in ("-pie", "-no-pie"):
        refused = coz("layout", "check", build("moved.cpp", COMPILERS[0], [*way, place, "-s"]))
        assert refused.returncode == 2
        assert "unwinder of its own" in refused.stderr
        assert "shared libgcc_s, or do not strip it" in refused.stderr


def test_packed_relocations_name_labels():
    program = build("moved.c", COMPILERS[0], ["-O2", "-Wl,-z,pack-relative-relocs"])
    assert OUTSIDE in coz("layout", "replay", "--seed", 4, program, "where").stdout


def test_one_seed_is_one_layout_and_others_are_others(tmp_path):
    source = tmp_path / "addresses.c"
    source.write_text(
        "#include <stdio.h>\n"
        "__attribute__((noinline)) void* f(void) { return __builtin_return_address(0); }\n"
        'int main(void) { printf("%p\\n", f()); return 0; }\n'
    )
    program = compiled(["gcc", "-O1", str(source)], source, "addresses")
    printed = [coz("layout", "replay", "--seed", seed, program).stdout for seed in (7, 7, 8, 9)]
    assert printed[0] == printed[1]
    assert len(set(printed)) == 3


def test_children_and_their_environment(tmp_path):
    """Another program is left alone; the same one, executed again, is moved again."""
    program = build("moved.c", COMPILERS[0], WAYS["O2"])
    shell = shutil.which("sh")
    done = coz("layout", "replay", "--seed", 2, shell, "-c", f"{program} where; cat /dev/null; echo $?")
    assert "outside: plain 0 pointer 0" in done.stdout
    assert done.stdout.endswith("0\n")
    assert not done.stderr


def test_a_launcher_is_not_taken_for_what_it_becomes():
    command = (shutil.which("env"), "true")
    done = coz("compare", "--layout", "runtime", "-n", 6, *command, "---", "vs", *command)
    assert done.returncode == 2
    assert "executes another program in its place" in done.stderr


def test_other_programs_that_a_program_starts_are_told():
    command = (shutil.which("sh"), "-c", "cat /dev/null; :")
    done = coz("compare", "-n", 6, "--fixed-pairs", 0, *command, "---", "vs", *command)
    assert done.returncode == 0, done.stderr
    assert "A starts 1 process of other programs" in done.stderr


@pytest.mark.parametrize(
    ("flags", "reason", "remedy"),
    [
        (["-static"], "linked statically", "without -static"),
        (["-fno-asynchronous-unwind-tables", "-nostartfiles", "-s"], "neither symbols", "strip it less"),
        (["-DWRITABLE_CODE"], "may change itself", "without such a segment"),
        (["-DNAME=Builtins_InterpreterEntryTrampoline"], "finds its way by tables", "in several orders"),
        (["-DNAME=__unw_add_dynamic_fde"], "uses LLVM's libunwind", "libgcc_s"),
    ],
)
def test_refusals_of_builds(tmp_path, flags, reason, remedy):
    source = tmp_path / "program.c"
    start = "void _start(void) { __builtin_trap(); }" if "-nostartfiles" in flags else "int main(void) {}"
    writable = (
        '#ifdef WRITABLE_CODE\n__asm__(".section .wx,\\"awx\\",@progbits\\n.byte 0\\n.text");\n#endif\n'
    )
    source.write_text(f"{writable}#ifdef NAME\nvoid NAME(void) {{}}\n#endif\n{start}\n")
    program = compiled(["gcc", "-O1", *flags, str(source)], source, "program")
    done = coz("layout", "check", program)
    assert done.returncode == 2
    assert reason in done.stderr
    assert remedy in done.stderr
    assert not done.stdout


def test_refusals_of_files(tmp_path):
    program = tmp_path / "copy"
    shutil.copy(build("moved.c", COMPILERS[0], WAYS["O2"]), program)
    program.chmod(0o4755)
    assert "rights of its own" in coz("layout", "check", program).stderr
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    assert "is a script for /bin/sh" in coz("layout", "check", script).stderr
    assert coz("layout", "check", tmp_path / "nothing").returncode == 127
    done = coz("layout", "replay", "--seed", "x", "true")
    assert done.returncode == 2
    assert "--seed" in done.stderr


def test_a_program_that_does_something_else_is_found(tmp_path):
    source = tmp_path / "address.c"
    source.write_text(
        "#include <stdio.h>\nextern char __executable_start, etext;\n"
        'int main(void) { char* at; __asm__ volatile ("lea 0f(%%rip), %0\\n0:" : "=r"(at));\n'
        'puts(at >= &__executable_start && at < &etext ? "in" : "out"); return 0; }\n'
    )
    program = compiled(["gcc", "-O1", str(source)], source, "address")
    done = coz("layout", "check", "--seeds", 2, "--layout-seed", 1, program)
    assert done.returncode == 1
    assert done.stdout.count("it printed something else") == 2
    assert "coz layout replay --seed N" in done.stdout
    compared = coz("compare", "--layout", "runtime", program, "---", program)
    assert compared.returncode == 2
    assert "does something else when its functions are moved" in compared.stderr


def test_a_plan_of_another_build_is_not_used(tmp_path):
    """A file that was replaced has the plan of its own bytes."""
    program = tmp_path / "program"
    for value in (1, 2):
        source = tmp_path / f"{value}.c"
        source.write_text(f'#include <stdio.h>\nint main(void) {{ puts("{value}"); return 0; }}\n')
        subprocess.run(["gcc", "-O1", "-Wl,--build-id=0x1234", "-o", program, source], check=True)
        assert coz("layout", "replay", "--seed", 1, program).stdout == f"{value}\n"


def test_a_program_that_defines_mprotect_is_moved(tmp_path):
    source, program = tmp_path / "own.c", tmp_path / "own"
    source.write_text(
        "#define _GNU_SOURCE\n#include <stdio.h>\n#include <sys/mman.h>\n#include <sys/syscall.h>\n"
        "#include <unistd.h>\n"
        "int mprotect(void* at, size_t size, int how) { return (int)syscall(SYS_mprotect, at, size, how); }\n"
        "int madvise(void* at, size_t size, int how) { return (int)syscall(SYS_madvise, at, size, how); }\n"
        'int main(void) { puts("moved"); return 0; }\n'
    )
    subprocess.run(["gcc", "-O1", "-rdynamic", "-o", program, source], check=True)
    for seed in (1, 2, "original"):
        assert coz("layout", "replay", "--seed", seed, program).stdout == "moved\n"


def test_compare_moves_functions_and_says_so():
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("coz compare wants two processors")
    program = build("moved.cpp", COMPILERS[0], WAYS["O2"])
    done = coz("compare", "-n", "6", "--fixed-pairs", "6", "--json", program, "---", "vs", program)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["layout"] == "runtime"
    assert min(found["movable"]) > 0.95
    assert found["fixed_layout"][0]["pairs"] == 6
    done = coz("compare", "-n", "6", program, "---", COZ, "--version")
    assert done.returncode == 0, done.stderr
    assert "functions stay where the linker put them; of B" in done.stderr
    assert "each run with another environment size" in done.stdout


def test_suites_move_functions_of_each_program(tmp_path):
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("coz compare wants two processors")
    program = build("moved.cpp", COMPILERS[0], WAYS["O2"])
    suite = tmp_path / "suite.toml"
    suite.write_text(
        "[treatments.plain]\nmode = 'one'\n[treatments.zero]\nmode = 'two'\nheap = 'zero'\n"
        f"[programs.moves]\ncommand = '{program}'\n[programs.stays]\ncommand = '{COZ} --version'\n"
    )
    done = coz("compare", "--suite", suite, "-n", "6", "--fixed-pairs", "6", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["moved"] == ["moves"]
    assert [(cell["program"], cell["pairs"]) for cell in found["fixed_layout"]] == [("moves", 6)]
    assert "functions stay where the linker put them; of stays with plain" in done.stderr


def test_comparisons_move_functions_within_a_run():
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("coz compare wants two processors")
    program = build("moved.cpp", COMPILERS[0], WAYS["O2"])
    command = ["compare", "-n", "6", "--fixed-pairs", "0", "--rerandomize", "2ms"]
    done = coz(*command, "--json", program, "---", "vs", program)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rerandomize"] == 0.002
    done = coz(*command, program, "---", "vs", program)
    assert "each run with its functions in other places, and elsewhere again every 2 ms" in done.stdout
    refused = coz(*command, program, "---", COZ, "--version")
    assert refused.returncode == 2
    assert "is a script" in refused.stderr
    assert coz(*command, "--layout", "none", program, "---", "vs", program).returncode == 2


def test_explain_names_functions_or_says_that_there_is_nothing():
    program = build("moved.c", COMPILERS[0], WAYS["O2"])
    done = coz("layout", "replay", "--explain", "--json", "/usr/bin/env", "true")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["low"] <= found["ratio"] <= found["high"]
    assert bool(found["functions"]) == bool(found["alone"])
    # Its own status is 3: only runs that end well are measured.
    done = coz("layout", "replay", "--explain", "--seed", 5, program, "where")
    assert done.returncode == 2
    assert "ended with status 3" in done.stderr


def test_explain_refuses_what_it_cannot_take_apart():
    for options in (["--rerandomize", "1s"], ["--seed", "original"]):
        done = coz("layout", "replay", "--explain", *options, "/usr/bin/env", "true")
        assert done.returncode == 2
        assert "--explain goes neither with" in done.stderr
    done = coz("layout", "replay", "/usr/bin/env", "true")
    assert done.returncode == 2
    assert "--seed or --explain is needed" in done.stderr


def test_some_functions_lie_by_the_seed_and_the_others_as_linked(tmp_path):
    program = build("moved.c", COMPILERS[0], WAYS["O2"])
    plan = json.loads(coz("layout", "check", "--seeds", 0, "--json", program).stdout)
    assert plan["functions"] > 5
    places = {}
    for units in ("", "0-2", "0-100000"):
        report = tmp_path / "report"
        report.write_text("")
        environment = {"COZ_LAYOUT_UNITS": units.ljust(64, ","), "COZ_LAYOUT_REPORT": str(report)}
        done = coz("layout", "replay", "--seed", 9, program, "where", environment=environment)
        assert done.returncode == 3, done.stderr
        told = [line.split() for line in report.read_text().splitlines() if line.startswith("unit")]
        places[units] = {int(words[1]): words[5] for words in told}
    assert places[""] == {}
    assert sorted(places["0-2"]) == [0, 1, 2]
    # Others being moved changes nothing.
    assert places["0-2"].items() <= places["0-100000"].items()
