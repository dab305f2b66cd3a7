"""Libraries that are loaded and unloaded while the program runs, and code that nobody loads."""

import shutil
import subprocess
import time
from pathlib import Path

import pytest

PLUGIN = Path(__file__).resolve().parents[1] / "programs/plugin.c"
#: A loop that crosses a boundary takes twice as long on some processors.
ALIKE = ("-O2", "-falign-loops=64")
EVERYTHING = ("-b", "MAIN", "-b", "%.so")
# Without experiments, and so without the times between them in which nothing is sampled: all of a
# short program can fall into one of those.
ONLY_SAMPLES = ("--warmup", "1h")


def line_of(path, mark):
    lines = path.read_text().splitlines()
    return next(i for i, line in enumerate(lines, 1) if line.endswith(f"// {mark}"))


@pytest.fixture
def plugin(tmp_path):
    """plugin(NAME, FLAG...): a library from a copy of plugin.c called NAME.c; where its hot line is."""

    def make(name, *flags):
        source = tmp_path / f"{name}.c"
        shutil.copy(PLUGIN, source)
        command = ["gcc", *ALIKE, "-g", "-shared", "-fPIC", *flags, source, "-o", tmp_path / f"{name}.so"]
        subprocess.run(command, check=True)
        return f"{source}:{line_of(source, 'HOT')}"

    return make


@pytest.fixture
def loader(build):
    return build("loader.c", *ALIKE, "-ldl")


def counts(run):
    """Samples of each line, by the end of the run."""
    return {line["location"]: line["count"] for line in run.records("samples")[-1]["lines"]}


def own_line(counts):
    return max((c, line) for line, c in counts.items() if "loader.c:" in line)[0]


@pytest.mark.measured
@pytest.mark.parametrize("path", ["{folder}/one.so", "./one.so"])
def test_a_library_that_is_loaded_later_is_profiled(coz, loader, plugin, tmp_path, path):
    hot = plugin("one")
    run = coz.run([loader, "once", 2.5, path.format(folder=tmp_path)], *EVERYTHING, *ONLY_SAMPLES)
    assert run.status == 0, run.err
    assert run.warnings() == []
    found = counts(run)
    # For two thirds of the time it has half of the work.
    assert found[hot] / (found[hot] + own_line(found)) == pytest.approx(1 / 3, abs=0.1)


def test_it_is_experimented_on(coz, loader, plugin, tmp_path):
    hot = plugin("one")
    process = coz.start([loader, "soon", 60, tmp_path / "one.so"], *EVERYTHING, "--speedups", "50")
    end = time.monotonic() + 90
    found = []
    while time.monotonic() < end and len(found) < 4:  # a block, its baseline included
        time.sleep(0.1)
        lines = coz.profile.read_text().splitlines() if coz.profile.exists() else []
        found = [line for line in lines if '"experiment"' in line and f'"location":"{hot}"' in line]
    process.terminate()
    coz.finished(process)
    assert found
    (result,) = [r for r in coz.results() if r["location"] == hot]
    assert result["function"] == "spin"


def test_without_its_binary_in_scope_it_is_not(coz, loader, plugin, tmp_path):
    plugin("one")
    for scope in ((), ("-b", "MAIN")):
        run = coz.run([loader, "once", 1, tmp_path / "one.so"], *scope)
        assert all("loader.c:" in location for location in counts(run))


@pytest.mark.measured
def test_loading_and_unloading_a_thousand_times(coz, loader, plugin, tmp_path):
    """Two libraries take turns at the same addresses; the samples are still theirs."""
    one, two = plugin("one"), plugin("two", "-DWORK=20000L")
    run = coz.run(
        [loader, "churn", 1000, 2, tmp_path / "one.so", tmp_path / "two.so"],
        *EVERYTHING,
        *ONLY_SAMPLES,
        timeout=120,
    )
    assert run.status == 0, run.err
    assert run.warnings() == []
    found = counts(run)
    assert found[one] > 100
    assert found[one] / (found[one] + found[two]) == pytest.approx(3 / 4, abs=0.08)
    assert own_line(found) > found[two]


@pytest.mark.measured
def test_what_replaces_a_library_is_not_taken_for_it(coz, loader, plugin, tmp_path):
    hot = plugin("one")
    run = coz.run([loader, "replaced", 200, tmp_path / "one.so"], "-b", "%/one.so", *ONLY_SAMPLES)
    assert run.status == 0, run.err
    assert counts(run)[hot] / run.records("samples")[-1]["total"] == pytest.approx(0.5, abs=0.07)


@pytest.mark.measured
def test_without_build_ids_too(coz, loader, plugin, tmp_path):
    hot = plugin("one", "-Wl,--build-id=none")
    run = coz.run([loader, "once", 2.5, tmp_path / "one.so"], *EVERYTHING, *ONLY_SAMPLES)
    found = counts(run)
    assert found[hot] / (found[hot] + own_line(found)) == pytest.approx(1 / 3, abs=0.12)


def test_separate_debug_file(coz, loader, plugin, tmp_path):
    hot = plugin("one")
    library, debug = tmp_path / "one.so", tmp_path / "one.so.debug"
    subprocess.run(["objcopy", "--only-keep-debug", library, debug], check=True)
    subprocess.run(["strip", library], check=True)
    subprocess.run(["objcopy", f"--add-gnu-debuglink={debug}", library], check=True)
    run = coz.run([loader, "once", 1.5, library], *EVERYTHING, *ONLY_SAMPLES)
    assert run.warnings() == []
    assert counts(run)[hot] > 100


def test_a_library_without_debug_information_is_left_out_and_said_once(coz, loader, plugin, tmp_path):
    plugin("one", "-g0")
    run = coz.run([loader, "once", 1, tmp_path / "one.so"], *EVERYTHING)
    assert run.status == 0
    assert run.err.count("one.so was loaded, but has no debug information") == 1
    assert all("loader.c:" in location for location in counts(run))


@pytest.mark.measured
def test_a_library_that_was_built_anew(coz, loader, plugin, tmp_path):
    """The file at its path is no longer what is in memory."""
    plugin("one")
    folder = tmp_path / "other"
    folder.mkdir()
    source = folder / "one.c"
    source.write_text("\n\n" + PLUGIN.read_text())
    subprocess.run(["gcc", "-O2", "-g", "-shared", "-fPIC", source, "-o", folder / "one.so"], check=True)
    run = coz.run([loader, "churn", 40, 0, tmp_path / "one.so", folder / "one.so"], *EVERYTHING, timeout=120)
    found = counts(run)
    both = [location for location in found if "one.c:" in location]
    assert sorted(both) == sorted(
        [f"{tmp_path}/one.c:{line_of(PLUGIN, 'HOT')}", f"{source}:{line_of(PLUGIN, 'HOT') + 2}"]
    )


@pytest.mark.measured
def test_fixed_line_of_a_library_that_comes_later(coz, loader, plugin, tmp_path):
    hot = plugin("one")
    line = hot.rpartition("/")[2]
    run = coz.run([loader, "once", 4, tmp_path / "one.so"], *EVERYTHING, "--fixed-line", f"./{line}")
    assert (
        f"there is no line ./{line} at the start; it is selected once a library that has it is loaded"
        in run.err
    )
    assert {e["location"] for e in run.records("experiment")} == {hot}
    third = run.records("samples")[-1]["duration"] / 3
    assert min(e["start"] for e in run.records("experiment")) > 0.9 * third


def test_fixed_line_for_the_whole_run(coz, loader, plugin, tmp_path):
    hot = plugin("one")
    line = hot.rpartition("/")[2]
    run = coz.run([loader, "once", 2, tmp_path / "one.so"], *EVERYTHING, "--fixed-line", line, "--end-to-end")
    (experiment,) = run.records("experiment")
    assert experiment["location"] == hot


def test_what_never_comes_is_said_at_the_end(coz, loader, plugin, tmp_path):
    plugin("one")
    run = coz.run(
        [loader, "once", 1, tmp_path / "one.so"], *EVERYTHING, "-b", "%/none.so", "--fixed-line", "one.c:1"
    )
    assert "the program loaded no library that matches -b %/none.so" in run.err
    assert "no library that was loaded had a line one.c:1, so nothing was sped up" in run.err
    assert "the nearest with code: " in run.err


@pytest.fixture(params=["hidden", "shared"])
def descriptors(request, coz, build):
    """The profiler's: in a table of its own, or, where the kernel refuses that, in the program's."""
    if request.param == "shared":
        coz.below = [str(build("refuse.c")), "descriptors"]
    return request.param


def test_it_is_profiled_whatever_the_kernel_allows(coz, loader, plugin, tmp_path, descriptors):
    hot = plugin("one")
    run = coz.run([loader, "once", 1.5, tmp_path / "one.so"], *EVERYTHING, *ONLY_SAMPLES)
    assert counts(run)[hot] > 100


def test_children_load_libraries_and_have_no_descriptor_of_ours(coz, loader, plugin, tmp_path, descriptors):
    plugin("one")
    run = coz.run([loader, "forks", 150, tmp_path / "one.so"], *EVERYTHING, timeout=120)
    assert run.status == 0, run.err
    assert "150 of 150 children\n" in run.out


def test_children_do_not_inherit_the_loaders_lock(coz, build, plugin, tmp_path):
    plugin("one")
    program = build("loader.c", "-ldl", "-DSLOW_LISTING", "-rdynamic")
    run = coz.run([program, "forks", 100, tmp_path / "one.so"], *EVERYTHING, timeout=120)
    assert "100 of 100 children\n" in run.out


def test_the_programs_sockets_are_left_alone(coz, loader, plugin, tmp_path, descriptors):
    """Also where they have the number that ours had."""
    hot = plugin("one")
    run = coz.run([loader, "sockets", 2, tmp_path / "one.so"], *EVERYTHING)
    assert run.status == 0, run.err
    assert "strange bytes: 0\n" in run.out
    gone = run.err.count("coz run, which makes the line tables, is gone: ")
    assert (gone, hot in counts(run)) == ((1, False) if "sockets: 1\n" in run.out else (0, True))
    if descriptors == "shared":
        assert gone == 1


@pytest.mark.measured
def test_the_end_does_not_wait_for_the_loaders_lock(coz, loader):
    started = time.monotonic()
    run = coz.run([loader, "held", 2], *EVERYTHING)
    assert run.status == 7
    assert time.monotonic() - started < 10
    assert len(run.records("experiment")) > 0
    assert run.records("samples")[-1]["final"]


def test_the_run_goes_on_without_its_launcher(coz, loader, plugin, tmp_path):
    plugin("one")
    process = coz.start([loader, "once", 3, tmp_path / "one.so"], *EVERYTHING)
    coz.wait_for_experiments(1)
    process.kill()
    run = coz.finished(process, timeout=50)  # when the program, too, has closed standard error
    assert run.err.count("coz run, which makes the line tables, is gone") == 1
    final = run.records("samples")[-1]
    assert final["final"]
    assert final["duration"] >= 3e9


@pytest.mark.measured
@pytest.mark.parametrize(("way", "mark"), [("clock", "CLOCK"), ("copy", "COPY"), ("chosen", "CHOSEN")])
def test_vdso_and_ifuncs(coz, build, request, way, mark):
    source = request.config.rootpath / "tests/programs/clocks.c"
    run = coz.run([build("clocks.c"), 1, way], *ONLY_SAMPLES)
    assert counts(run)[f"{source}:{line_of(source, mark)}"] / run.records("samples")[-1]["total"] > 0.8


#: A library whose constructor does a unit of the work that main() asks for.
EARLY_LIBRARY = """\
void unit(void) { UNIT }
__attribute__((constructor)) static void warm_up(void) { unit(); }
"""
EARLY_MAIN = """\
void unit(void);
int main(void) { for (int i = 0; i < 100; ++i) unit(); return 0; }
"""
MARKS = {
    "coz.h": 'COZ_REGION_BEGIN("region"); COZ_PROGRESS_NAMED("unit"); COZ_REGION_END("region");',
    "classic_coz.h": 'CLASSIC_COUNT(CLASSIC_THROUGHPUT, "unit");',
}


@pytest.fixture
def early_program(tmp_path, request):
    """early_program(LIBRARY): builds EARLY_MAIN with a library of that source."""

    def make(library):
        for name, text in ("early.c", library), ("program.c", EARLY_MAIN):
            (tmp_path / name).write_text(text)
        headers = [f"-I{request.config.rootpath / folder}" for folder in ("include", "tests/programs")]
        for arguments in (
            ["-shared", "-fPIC", "early.c", "-o", "libearly.so"],
            ["program.c", "-o", "program", "-L.", "-learly", f"-Wl,-rpath,{tmp_path}"],
        ):
            command = ["gcc", "-O1", "-g", *headers, *arguments, "-ldl", "-lpthread"]
            subprocess.run(command, cwd=tmp_path, check=True)
        return tmp_path / "program"

    return make


@pytest.mark.parametrize("header", MARKS)
def test_marks_that_the_constructor_of_a_library_visits_count(coz, early_program, header):
    """It runs before ours."""
    library = f"#include <{header}>\n" + EARLY_LIBRARY.replace("UNIT", MARKS[header])
    run = coz.run([early_program(library)])
    assert run.status == 0, run.err
    points = {point["name"]: point["visits"] for point in run.records("samples")[-1]["points"]}
    assert points == {"unit": 101}


#: A library whose constructor creates a thread past our wrapper, which would start us; the thread visits a
#: mark before our constructor has run.
THREAD_LIBRARY = """\
#define _GNU_SOURCE
#include <coz.h>
#include <pthread.h>
typedef int create_t(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
static void* visit(void* argument) { COZ_PROGRESS_NAMED("unit"); return argument; }
__attribute__((constructor)) static void warm_up(void) {
  pthread_t thread;
  create_t* const create = (create_t*)dlsym(dlopen("libc.so.6", RTLD_NOW), "pthread_create");
  create(&thread, 0, visit, 0);
  pthread_join(thread, 0);
}
void unit(void) { for (long i = 0; i < 4000000; ++i) __asm__ volatile("" : "+r"(i)); }
"""


def test_a_thread_of_a_constructor_does_not_take_the_place_of_the_main_thread(coz, early_program):
    run = coz.run([early_program(THREAD_LIBRARY)], *EVERYTHING, *ONLY_SAMPLES)
    assert run.status == 0, run.err
    assert run.records("samples")[-1]["in_scope"] > 0


SHARED = "static inline void hot(void) {\n  for (volatile int i = 0; i < 2000000; i = i + 1) {\n  }\n}\n"


@pytest.mark.parametrize("granularity", ["line", "function"])
def test_what_two_binaries_have_in_common_is_one_target(coz, tmp_path, granularity):
    (tmp_path / "shared.h").write_text(SHARED)
    (tmp_path / "part.c").write_text('#include "shared.h"\nvoid part(void) { hot(); }\n')
    (tmp_path / "main.c").write_text(
        '#include "shared.h"\nvoid part(void);\n'
        "int main(void) {\n  for (int i = 0; i < 100; i++) {\n    hot();\n    part();\n  }\n}\n"
    )
    part, program = tmp_path / "libpart.so", tmp_path / "program"
    gcc = ["gcc", "-O1", "-g", "-fno-inline"]
    subprocess.run([*gcc, "-shared", "-fPIC", tmp_path / "part.c", "-o", part], check=True)
    subprocess.run([*gcc, tmp_path / "main.c", part, f"-Wl,-rpath,{tmp_path}", "-o", program], check=True)
    scope = ("-b", "MAIN", "-b", "%/libpart.so", "--granularity", granularity)
    run = coz.run([program], *scope, *ONLY_SAMPLES)
    lines = run.records("samples")[-1]["lines"]
    hot = [line for line in lines if "shared.h" in line["location"]]
    assert len({line["location"] for line in hot}) == len(hot) > 0
    total = sum(line["count"] for line in lines)
    assert sum(line["count"] for line in hot) > 0.9 * total > 0
