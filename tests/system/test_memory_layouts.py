"""libcoz-heap.so: blocks and stacks lie elsewhere, and hold what they held; `coz compare --heap` uses it."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from compiled import ROOT, compiled

LIBRARY = ROOT / "build/lib/libcoz-heap.so"
LIBRARIES = Path("/usr/lib/x86_64-linux-gnu")
OTHERS = ("", "libjemalloc.so.2", "libtcmalloc_minimal.so.4")
PROGRAM = ROOT / "tests/programs/heap_user.c"


@pytest.fixture(scope="module")
def user():
    """The program that uses every way to allocate."""
    return compiled(["gcc", "-O1", "-g", "-pthread", str(PROGRAM)], PROGRAM, "heap_user")


def lines_of(program, *arguments, behind="", **environment):
    """What it prints with the library before it, by first words."""
    environment = {**os.environ, "LD_PRELOAD": f"{LIBRARY} {behind}".strip(), **environment}
    done = subprocess.run(
        [program, *arguments], env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()}


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("modes", ["shuffle", "offset", "zero", "shuffle:16,offset,zero"])
def test_blocks_hold_what_they_held_in_threads_and_children(user, modes, other):
    if other and not (LIBRARIES / other).exists():
        pytest.skip(f"{other} is not installed")
    found = lines_of(user, "3", "4000", behind=other, COZ_HEAP=modes, COZ_STACK_SEED="7")
    if "offset" in modes:
        assert len(set(found["big"])) > 2
    assert found["zeros"] == ["1" if "zero" in modes else "0"]
    assert len(set(found["stacks"])) > 2


def test_seeds_repeat_a_layout(user):
    def layout(heap, stack):
        found = lines_of(user, "0", "1", COZ_HEAP="offset", COZ_HEAP_SEED=heap, COZ_STACK_SEED=stack)
        return found["big"], found["stacks"]

    assert layout("5", "6")[0] == layout("5", "7")[0]
    assert layout("5", "6")[0] != layout("8", "6")[0]
    assert layout("5", "6")[1] == layout("8", "6")[1]
    assert layout("5", "6")[1] != layout("5", "9")[1]


def test_small_blocks_are_neighbours_only_where_they_are_not_shuffled(user):
    assert len(set(lines_of(user, "0", "0", COZ_HEAP="offset")["small"][1:])) == 1
    assert len(set(lines_of(user, "0", "0", COZ_HEAP="shuffle")["small"][1:])) > 6


def test_without_modes_nothing_moves(user):
    found = lines_of(user, "0", "0")
    assert len(set(found["small"][1:])) == 1
    assert len(set(found["stacks"])) == 1
    assert found["zeros"] == ["0"]


def test_wrong_modes_are_told_once_and_change_nothing(user):
    environment = {**os.environ, "LD_PRELOAD": str(LIBRARY), "COZ_HEAP": "shuffled"}
    done = subprocess.run(["/bin/true"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert re.fullmatch(r"coz: COZ_HEAP=shuffled is not .* stay where they are\.\n", done.stderr)


def compare(*words):
    """Status, output, errors of `coz compare`."""
    command = [ROOT / "build/bin/coz", "compare", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    return done.returncode, done.stdout, done.stderr


def test_compare_moves_heap_and_stacks_and_says_how(user):
    words = ["-n", "6", "--heap", "shuffle,offset", "--stack", "random", "--layout-seed", "3"]
    status, output, errors = compare("--json", *words, user, "0", "9", "---", "vs", user, "0", "9")
    assert status == 0, errors
    data = json.loads(output)
    assert (data["heap"], data["stack"]) == ("shuffle,offset", "random")
    layouts = [trial["layout"] for block in data["blocks"] for trial in block]
    assert len({layout["heap_seed"] for layout in layouts}) == 12
    assert len({layout["stack_seed"] for layout in layouts}) == 12


def test_compare_refuses_what_cannot_be_moved(tmp_path):
    source = tmp_path / "own.c"
    source.write_text(
        "#include <stddef.h>\nstatic char memory[1 << 20]; static size_t used;\n"
        "void *malloc(size_t n) { used += (n + 15) / 16 * 16; return memory + used - (n + 15) / 16 * 16; }\n"
        "void free(void *block) { (void)block; }\n"
        "void *calloc(size_t n, size_t b) { return malloc(n * b); }\n"
        "int main(void) { return 0; }\n"
    )
    own, static = tmp_path / "own", tmp_path / "static"
    subprocess.run(["gcc", "-fno-builtin", "-o", own, source], check=True)
    empty = tmp_path / "empty.c"
    empty.write_text("int main(void) { return 0; }\n")
    subprocess.run(["gcc", "-static", "-o", static, empty], check=True)
    for program, reason in ((own, "an allocator of its own"), (static, "it is linked statically")):
        status, _, errors = compare("-n", "6", "--heap", "shuffle", "/bin/true", "---", "vs", program)
        assert status == 2
        assert reason in errors
        assert "coz: hint: " in errors
    assert compare("--heap", "big", "/bin/true", "---", "vs", "/bin/true")[0] == 2
    assert compare("--layout", "none", "--heap", "zero", "/bin/true", "---", "vs", "/bin/true")[0] == 2
