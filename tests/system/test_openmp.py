"""OpenMP by GCC and by LLVM: programs do what they did, and their threads wait through the delays."""

import ctypes.util
import json
import shutil
import subprocess
from pathlib import Path

import pytest

#: Programs and what they print.
FORMS = {"openmp_forms.c": "19851\n", "openmp_tasks.cpp": "771\n"}


@pytest.fixture
def llvm_for_gcc(coz, tmp_path):
    """What GCC has compiled runs with LLVM's library, which has GCC's interface, too."""
    library = ctypes.util.find_library("omp")
    if library is None:
        pytest.skip("LLVM's OpenMP library not found")
    cached = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    path = next(line.split("=> ")[1] for line in cached.splitlines() if library in line)
    (tmp_path / "libgomp.so.1").symlink_to(path)
    coz.environment["LD_LIBRARY_PATH"] = str(tmp_path)


@pytest.fixture(params=["GCC", "LLVM", "GCC with LLVM's library"])
def openmp(build, request):
    """Compiles a program for each."""

    def compile_program(source):
        if request.param.endswith("library"):
            request.getfixturevalue("llvm_for_gcc")
            if source == "openmp_tasks.cpp":
                pytest.skip("LLVM 14 has not all of it, and crashes")
        return build(source, "-fopenmp", llvm=request.param == "LLVM")

    return compile_program


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("source", FORMS)
def test_programs_do_what_they_did(coz, openmp, source, threads):
    coz.environment |= {"OMP_NUM_THREADS": str(threads), "OMP_MAX_ACTIVE_LEVELS": "2"}
    run = coz.run([openmp(source), 500])
    assert run.status == 0, run.err
    assert run.out == FORMS[source]


def test_threads_that_sleep_while_they_wait_do_what_they_did(coz, openmp):
    coz.environment |= {"OMP_WAIT_POLICY": "passive"}
    run = coz.run([openmp("openmp_tasks.cpp"), 500])
    assert run.status == 0, run.err
    assert run.out == FORMS["openmp_tasks.cpp"]


def test_libraries_that_are_loaded_for_themselves_alone(coz, build, tmp_path):
    """The second one has a copy of libgomp of its own, with another name."""
    options = ("-fopenmp", "-DPLUGIN", "-shared", "-fPIC")
    first = build("openmp_forms.c", *options)
    named = subprocess.run(
        ["gcc", "-print-file-name=libgomp.so.1"], capture_output=True, text=True, check=True
    )
    content = Path(named.stdout.strip()).read_bytes()
    (tmp_path / "libgomp.so.7").write_bytes(content.replace(b"libgomp.so.1\0", b"libgomp.so.7\0"))
    second = shutil.copy(first, tmp_path / "second.so")
    second.write_bytes(first.read_bytes().replace(b"libgomp.so.1\0", b"libgomp.so.7\0"))
    coz.environment["LD_LIBRARY_PATH"] = str(tmp_path)
    run = coz.run([build("openmp_loader.c", "-ldl"), 300, first, second])
    assert run.status == 0, run.err
    assert run.out == 4 * "19851\n"


def test_a_library_of_llvm_in_a_program_of_gcc(coz, build):
    """What clang's code calls is not in the OpenMP library that all others are bound to."""
    plugin = build("openmp_forms.c", "-fopenmp", "-DPLUGIN", "-shared", "-fPIC", llvm=True)
    loader = build("openmp_loader.c", "-ldl", "-Wl,--no-as-needed", "-fopenmp")
    run = coz.run([loader, 300, plugin])
    assert run.status == 0, run.err
    assert run.out == 2 * "19851\n"


def test_a_library_of_stubs(coz, build):
    stubs = build("openmp_stubs.c", "-DSTUBS", "-shared", "-fPIC")
    run = coz.run([build("openmp_stubs.c", str(stubs))])
    assert run.status == 0, run.err
    assert run.out == "10\n"


def test_a_tool_of_the_program_is_asked(coz, build):
    program = build("openmp_tool.c", "-fopenmp", "-rdynamic", llvm=True)
    plain = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    run = coz.run([program])
    assert run.out == plain == "45 1\n"


@pytest.mark.measured
@pytest.mark.parametrize("program", ["openmp_rounds", "openmp_tasks"])
@pytest.mark.parametrize("llvm", [False, True])
def test_threads_wait_through_the_delays(coz, build, request, program, llvm):
    """Rounds are shorter than a period, so that threads that spin would pay in another round: 3 %, not 15."""
    source = f"benchmarks/programs/{program}.cpp"
    lines = (request.config.rootpath / source).read_text().splitlines()
    line = next(number for number, text in enumerate(lines, 1) if "LINE serial" in text)
    options = ("--fixed-line", f"{program}.cpp:{line}", "--fixed-speedup", 50)
    coz.run([build(source, "-fopenmp", llvm=llvm), "--seconds", 6], *options, timeout=120)
    (result,) = json.loads(coz("report", "--json", coz.profile).out)["results"]
    assert next(p["effect"] for p in result["curve"] if p["speedup"] == 0.5) == pytest.approx(0.14, abs=0.05)
