"""What `coz-linetable accesses` finds in programs whose colliding objects are known."""

import json
import subprocess
from pathlib import Path

import pytest
from compiled import compiled

ROOT = Path(__file__).resolve().parents[2]
HELPER = ROOT / "build/libexec/coz-linetable"
KERNELS = ROOT / "benchmarks/bias"


def accesses(*command, environment=None):
    ended = subprocess.run(
        ["setarch", "-R", str(HELPER), "accesses", "30000", *command],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    if "personality" in ended.stderr:
        pytest.skip("address space randomisation cannot be switched off here")
    return ended.returncode, json.loads(ended.stdout)


def kernel(name, *options):
    source = KERNELS / f"{name}.c"
    return str(compiled(["gcc", "-O2", "-g", *options, str(source)], source, name))


def line_with(name, text):
    lines = (KERNELS / f"{name}.c").read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


@pytest.fixture
def of_text(tmp_path):
    """of_text(TEXT, FLAG...): a program of this text."""

    def compile_program(text, *flags):
        source, program = tmp_path / "program.c", str(tmp_path / "program")
        source.write_text(text)
        subprocess.run(["gcc", "-g", *flags, "-o", program, str(source)], check=True)
        return program

    return compile_program


def test_two_blocks_with_the_lines_that_asked_for_them():
    status, answer = accesses(kernel("convolution"), "60")
    assert status == 0, answer
    first = answer["pairs"][0]
    assert first["count"] > answer["loads"] / 50
    for access, variable in (("load", "input"), ("store", "output")):
        line = line_with("convolution", f"{variable} = malloc")
        assert first[access]["kind"] == "block"
        assert f"main (convolution.c:{line})" in first[access]["name"]
    assert (first["load"]["begin"] - first["store"]["begin"]) % 4096 == 0


def test_padded_blocks_do_not_meet():
    _, answer = accesses(kernel("convolution", "-DPADDED"), "60")
    assert sum(pair["count"] for pair in answer["pairs"] if pair["load"]["kind"] == "block") < 20


def test_a_static_variable_and_one_on_the_stack():
    program = kernel("static_and_stack")
    symbols = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    static = next(int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(" j"))
    # As many bytes as the array is above the variable, modulo 4096: the stack begins that much further down.
    at_first = subprocess.run(
        ["setarch", "-R", program, "position"], env={"P": "x" * 16}, check=False
    ).returncode
    size = 16 + (16 * at_first - static // 16 * 16) % 4096
    _, answer = accesses(program, "20000000", environment={"P": "x" * size})
    found = [pair for pair in answer["pairs"] if pair["count"] > 100]
    assert found, answer
    assert {found[0]["load"]["name"], found[0]["store"]["name"]} & {"ring of main"}
    assert {found[0]["load"]["kind"], found[0]["store"]["kind"]} == {"static", "stack"}


def test_static_arrays_behind_the_files_mapping_and_variables_with_a_home(of_text):
    """The array is in pages of .bss alone; `i` lies for some instructions where `x` is at home."""
    program = of_text(
        "static char before[65536];\n"
        "static volatile unsigned long table[4096] __attribute__((aligned(4096)));\n"
        "int main(int count, char **words) {\n"
        "  volatile unsigned long x = 0;\n"
        "  unsigned long sum = 0;\n"
        "  const unsigned long at = ((unsigned long)&x & 4095) / 8;\n"
        "  for (long i = 0; i < 40000000; i++) { x = i; sum += table[at]; sum += table[at + 512]; }\n"
        "  return before[sum & 65535] + (count > 9 ? words[0][0] : 0);\n"
        "}\n",
        "-O2",
    )
    _, answer = accesses(program)
    found = [pair for pair in answer["pairs"] if pair["count"] > 50]
    assert found, answer
    assert {pair["load"]["name"] for pair in found} == {"table"}
    assert {pair["store"]["name"] for pair in found} == {"x of main"}


def test_blocks_that_are_allocated_while_the_program_is_taken_through_its_instructions(of_text):
    """It waits nearly always, so that each burst begins before two allocations."""
    program = of_text(
        "#include <stdlib.h>\n"
        "#include <unistd.h>\n"
        "int main(void) {\n"
        "  int sum = 0;\n"
        "  for (int round = 0; round < 60; round++) {\n"
        "    volatile int *from = malloc(1 << 18);\n"
        "    volatile int *into = malloc(1 << 18);\n"
        "    for (int i = 0; i < 100; i++) {\n"
        "      into[i] = i;\n"
        "      sum += from[i];\n"
        "    }\n"
        "    usleep(1000);\n"
        "  }\n"
        "  return sum != 0;\n"
        "}\n",
        "-O1",
    )
    _, answer = accesses(program)
    first = answer["pairs"][0]
    assert first["count"] > 200, answer
    assert (first["load"]["kind"], first["store"]["kind"]) == ("block", "block")


def test_what_cannot_be_run_is_said():
    status, answer = accesses("/no/such/program")
    assert status != 0
    assert answer["error"] == "not-traced"
