"""What the system refuses or limits.

The program runs to its own end all the same, and the user is told why."""

import contextlib
import json
import os
import resource
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COZ = ROOT / "build/bin/coz"
HELPER = ROOT / "build/libexec/coz-linetable"
LIBRARY = ROOT / "build/lib/libcoz.so"

ROOT_ONLY = pytest.mark.skipif(os.getuid() != 0, reason="takes root")


def ended_well(run, status=7):
    """The program ran to its own end, as without us."""
    assert run.status == status, run.err
    assert "out: exit" in run.out
    assert "Traceback" not in run.err
    return run


def said(run, *words):
    """Our lines of standard error have these words."""
    ours = "\n".join(line for line in run.err.splitlines() if line.startswith("coz"))
    for word in words:
        assert word.lower() in ours.lower(), f"{word!r} not in:\n{ours}"


def limited(limit, soft, hard=None):
    """For subprocess: a limit in the new process."""
    return {"preexec_fn": lambda: resource.setrlimit(limit, (soft, soft if hard is None else hard))}


def _in_the_program(coz, program, **environment):
    """What `coz run` sets for the program, without `coz run`."""
    return os.environ | {
        "LD_PRELOAD": str(LIBRARY),
        "COZ_PROGRAM": str(program),
        "COZ_OUTPUT": str(coz.profile),
        "COZ_LINE_TABLES": "",
        **environment,
    }


def test_perf_refused_by_a_filter(coz, build):
    """As in Docker's default profile: a timer samples instead, and the remedy is named."""
    coz.below = [str(build("refuse.c")), "perf"]
    run = ended_well(coz.run_until(1, [build("loop.c"), coz.enough, "exit", 7]))
    said(run, "perf events are refused", "Operation not permitted", "seccomp", "a timer")
    assert run.records("run")[0]["sampling"] == "timer"
    assert run.records("experiment")
    doctor = coz("doctor", build("loop.c"))
    assert "perf events are refused" in doctor.out
    assert "--cap-add PERFMON" in doctor.out


def test_one_way_of_sampling_that_is_refused(coz, build):
    """Asked for alone it is not replaced by another; the program runs, and what follows is said."""
    coz.below = [str(build("refuse.c")), "perf"]
    run = ended_well(coz.run([build("loop.c"), 1, "exit", 7], "--sampling", "perf-trap"))
    said(run, "perf-trap are refused", "nothing is sampled", "--sampling auto")


@ROOT_ONLY
def test_perf_event_paranoid_3():
    """Debian's and Ubuntu's: users may not. Root may, so that a user has to run it."""
    if not shutil.which("setpriv"):
        pytest.skip("setpriv is not there")
    setting = "/proc/sys/kernel/perf_event_paranoid"
    with open(setting) as file:
        before = file.read()
    refused = subprocess.run(
        ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", HELPER, "sampling"],
        capture_output=True, text=True,
    )  # fmt: skip
    if refused.returncode != 0:
        pytest.skip("another user cannot run what was built here")
    try:
        with open(setting, "w") as file:
            file.write("3")
    except OSError:
        pytest.skip("this machine's settings cannot be changed")
    try:
        refused = subprocess.run(
            ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", HELPER, "sampling"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    finally:
        with open(setting, "w") as file:
            file.write(before)
    if '"signal_error":""' in refused.stdout.replace(" ", ""):
        pytest.skip("this kernel does not know level 3")
    assert "Permission denied" in refused.stdout


def test_ptrace_refused(coz, build):
    """Nothing of ours needs it."""
    coz.below = [str(build("refuse.c")), "ptrace"]
    run = ended_well(coz.run_until(1, [build("loop.c"), coz.enough, "exit", 7], "--progress", "work"))
    assert run.records("experiment")


def test_few_descriptors(coz, build):
    """Fewer than our high numbers: ours then take low ones, and everything works."""
    program = [build("loop.c"), coz.enough, "exit", 7]
    run = ended_well(coz.run_until(1, program, **limited(resource.RLIMIT_NOFILE, 64)))
    assert run.records("experiment")


def test_hardly_any_descriptors(coz, build):
    """As few as the shell that starts `coz` needs itself."""
    for number in (16, 12):
        ended_well(coz.run([build("loop.c"), 0.5, "exit", 7], **limited(resource.RLIMIT_NOFILE, number)))


def test_descriptors_run_out_among_threads(coz, build):
    """perf-signal takes one for each thread: those without are unsampled, and the limit is named."""
    run = coz.run(
        [build("crowd.c"), 100, 0], "--sampling", "perf-signal", **limited(resource.RLIMIT_NOFILE, 60)
    )
    assert run.status == 0, run.err
    assert "threads: 100\n" in run.out
    said(run, "Too many open files", "ulimit -n")


def test_no_locked_memory(coz, build):
    """perf's ring buffers are not used, so that nothing needs to be locked."""
    program = [build("loop.c"), coz.enough, "exit", 7]
    run = ended_well(coz.run_until(1, program, **limited(resource.RLIMIT_MEMLOCK, 0)))
    assert run.records("experiment")


def test_little_memory_for_the_program(coz, build):
    """From much too little to enough: refused before the start, or run to the end."""
    for megabytes in (150, 300, 600):
        run = coz.run(
            [build("loop.c"), 0.5, "exit", 7], **limited(resource.RLIMIT_AS, megabytes << 20), timeout=120
        )
        assert run.status in (2, 7), run.err
        assert run.status == 7 or "coz" in run.err
    ended_well(run)


def test_no_memory_for_the_profiler_in_the_program(coz, build, tmp_path):
    """The launcher has enough, the program has not: it runs unprofiled, and says so."""
    script = tmp_path / "tight.c"
    script.write_text(
        "#include <sys/resource.h>\n#include <unistd.h>\n"
        "int main(int n, char** v) { struct rlimit l = {24 << 20, 24 << 20}; (void)n;\n"
        " if (setrlimit(RLIMIT_AS, &l) != 0) return 125; execv(v[1], v + 1); return 126; }\n"
    )
    tight = tmp_path / "tight"
    subprocess.run(["gcc", "-o", tight, script], check=True)
    # The limit must come after the environment, and before the program.
    environment = _in_the_program(coz, build("loop.c"))
    command = f"export COZ_PROCESS=$$; exec {tight} {build('loop.c')} 0.3 exit 7"
    done = subprocess.run(["sh", "-c", command], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 7, done.stderr
    assert "out: exit" in done.stdout
    assert "the program runs unprofiled" in done.stderr


#: Reading so many takes half a second at least, and 600 MB.
ROWS = "-DROWS=6000000"


def test_debug_information_that_takes_too_much_memory(coz, build):
    """The helper's limit, lowered: `coz run` says which file it was; half a table is none."""
    program = build("many_rows.c", ROWS, debug="-g0")
    for megabytes in (150, 350):  # libdw runs out of memory in different ways
        run = coz.run([program], "-s", "%", **limited(resource.RLIMIT_AS, megabytes << 20))
        assert run.status == 2
        said(run, str(program), f"takes more memory than {megabytes} MB", "compile it anew", "-b")
    run = coz.run([program], "-s", "%")  # no mark is left of it
    assert run.status == 7, run.err


def test_debug_information_that_takes_too_long(coz, build):
    """Its time is limited by signals; here one comes early."""
    program = build("many_rows.c", ROWS, debug="-g0")
    limits = {}

    def interrupt():
        end = time.monotonic() + 60
        while time.monotonic() < end and not limits:
            for process in Path("/proc").glob("[0-9]*"):
                with contextlib.suppress(OSError):
                    mine = str(program) in (process / "cmdline").read_text()
                    if mine and os.readlink(process / "exe") == str(HELPER):
                        time.sleep(0.1)  # until it has lowered its limits
                        limits.update(line.split("  ", 1) for line in (process / "limits").open())
                        os.kill(int(process.name), signal.SIGXCPU)
            time.sleep(0.002)

    watch = threading.Thread(target=interrupt)
    watch.start()
    run = coz.run([program], "-s", "%")
    watch.join()
    assert limits["Max cpu time"].split()[0] == "300"
    assert limits["Max address space"].split()[0].isdigit()
    assert run.status == 2
    said(run, str(program), "takes too long", "compile it anew")


@ROOT_ONLY
def test_no_proc(coz, build):
    """As in a bare chroot. What needs it is left out; the program runs, and is profiled."""
    inner = 'umount -l /proc && exec "$@"'
    coz.below = ["unshare", "-m", "--propagation", "private", "sh", "-c", inner, "sh"]
    if subprocess.run([*coz.below, "test", "!", "-e", "/proc/self"], check=False).returncode != 0:
        pytest.skip("/proc cannot be taken away here")
    run = ended_well(coz.run_until(1, [build("loop.c"), coz.enough, "exit", 7]))
    assert run.records("experiment")


@ROOT_ONLY
def test_full_disk(coz, build, tmp_path):
    """In the middle of a run: told once, the program runs on, what there is can be read."""
    disk = tmp_path / "disk"
    disk.mkdir()
    coz.below = [
        "unshare", "-m", "--propagation", "private", "sh", "-c",
        f'mount -t tmpfs -o size=4k none {disk} && "$@"; status=$?; cp {disk}/p.coz {tmp_path}; exit $status',
        "sh",
    ]  # fmt: skip
    if subprocess.run([*coz.below[:6], f"mount -t tmpfs none {disk}"], check=False).returncode != 0:
        pytest.skip("no file system can be mounted here")
    run = coz("run", "-o", disk / "p.coz", "---", build("loop.c"), 6, "exit", 7)
    ended_well(run)
    assert run.err.count("the profile cannot be written: No space left on device") == 1
    left = tmp_path / "p.coz"
    assert left.stat().st_size == 4096
    report = coz("report", left)
    assert report.status in (0, 2)
    assert "Traceback" not in report.err


def test_output_that_is_a_device(coz, build):
    """/dev/full takes nothing: known before the start."""
    run = coz("run", "-o", "/dev/full", "---", build("loop.c"), 0.3)
    assert run.status == 2
    assert "out:" not in run.out
    said(run, "/dev/full")


def test_names_of_programs_need_not_be_utf8(build, tmp_path):
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    program = shutil.copy(build("loop.c"), folder)
    profile = tmp_path / "p.coz"
    done = subprocess.run(
        [COZ, "run", "-o", profile, "---", program, "1", "exit", "7"], capture_output=True, check=False
    )
    assert done.returncode == 7
    *_, samples = [r for r in map(json.loads, profile.read_bytes().splitlines()) if r["type"] == "samples"]
    assert samples["in_scope"] > samples["total"] / 2


def test_messages_that_cannot_be_written_change_nothing(build, tmp_path):
    """The second run says that the profile holds earlier runs, before the program starts."""
    command = [COZ, "run", "-o", tmp_path / "p.coz", "---", build("loop.c"), "0.3", "exit", "7"]
    for _ in range(2):
        with open("/dev/full", "w") as full:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=full, check=False, text=True)
        assert (done.returncode, "out:" in done.stdout) == (7, True)


@ROOT_ONLY
def test_read_only_disk(coz, build, tmp_path):
    """Known before the start, too."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = f'mount -t tmpfs -o ro none {disk} && exec "$@"'
    coz.below = ["unshare", "-m", "--propagation", "private", "sh", "-c", mount, "sh"]
    if subprocess.run([*coz.below, "true"], check=False).returncode != 0:
        pytest.skip("no file system can be mounted here")
    run = coz("run", "-o", disk / "p.coz", "---", build("loop.c"), 0.3)
    assert run.status == 2
    assert "out:" not in run.out
    said(run, "Read-only file system")


def test_cache_that_cannot_be_written(coz, build, tmp_path):
    """Known before the start, with the variable to set."""
    plain = tmp_path / "plain"
    plain.write_text("")
    run = coz.run([build("loop.c"), 0.3], env={"XDG_CACHE_HOME": str(plain)})
    assert run.status == 2
    assert "out:" not in run.out
    said(run, "XDG_CACHE_HOME")


def test_profile_larger_than_a_limit(coz, build):
    """RLIMIT_FSIZE: the program does not die of SIGXFSZ on our account."""
    # Python would leave compiled modules that are cut short, for later runs to fall over.
    coz.environment = coz.environment | {"PYTHONDONTWRITEBYTECODE": "1"}
    run = ended_well(coz.run([build("loop.c"), 6, "exit", 7], **limited(resource.RLIMIT_FSIZE, 4096)))
    said(run, "the profile cannot be written: File too large")
    assert coz.profile.stat().st_size == 4096


def test_profile_at_a_limit_from_the_start(coz, build):
    """The first record is written by a thread of the program, in which SIGXFSZ is not blocked."""
    program = build("loop.c")
    for size in (8192, 8100):  # none of it fits, or a part
        coz.profile.write_text(" " * (size - 1) + "\n")
        done = subprocess.run(
            ["sh", "-c", f"export COZ_PROCESS=$$; exec {program} 0.3 exit 7"],
            env=_in_the_program(coz, program), capture_output=True, text=True, timeout=60,
            **limited(resource.RLIMIT_FSIZE, 8192),
        )  # fmt: skip
        assert done.returncode == 7, done.stderr
        assert "out: exit" in done.stdout
        assert done.stderr.count("the profile cannot be written: File too large") == 1
        assert coz.profile.stat().st_size == 8192


@pytest.mark.parametrize("blocked", ["", "trap '' PIPE; "])
def test_nobody_reads_what_we_say(coz, build, blocked):
    """Standard error is a pipe without a reader: no SIGPIPE, for the program itself writes nothing there."""
    program = build("crowd.c")
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        ["sh", "-c", f"{blocked}export COZ_PROCESS=$$; exec {program} 2 0"],
        env=_in_the_program(coz, program, COZ_LINE_TABLES=f"{program}\t/no/such/table"),
        stdout=subprocess.PIPE, stderr=write, text=True, timeout=60,
    )  # fmt: skip
    os.close(write)
    assert (done.returncode, done.stdout) == (0, "threads: 2\n")


@pytest.mark.parametrize("sampling", ["perf-trap", "timer"])
def test_five_thousand_threads(coz, build, sampling):
    threads = 5000
    alone = subprocess.run([build("crowd.c"), str(threads), "0"], capture_output=True, text=True, timeout=120)
    if alone.returncode == 4:
        pytest.skip("there may not be so many threads here")
    run = coz.run([build("crowd.c"), threads, 0], "--sampling", sampling, timeout=300)
    assert (run.status, run.out) == (0, alone.stdout), run.err
    assert run.records("samples")[-1]["points"][0]["visits"] == threads


def test_a_hundred_thousand_short_threads(coz, build):
    """Slots are used again; every visit is counted."""
    threads = 100_000
    run = coz.run([build("crowd.c"), 0, threads], timeout=500)
    assert (run.status, run.out) == (0, f"threads: {threads}\n"), run.err
    assert run.records("samples")[-1]["points"][0]["visits"] == threads
    assert "unprofiled" not in run.err


def test_what_an_unprofiled_thread_creates_is_profiled(coz, build):
    run = coz.run_until(1, [build("small_creator.c"), coz.enough])
    assert run.status == 0, run.err
    assert "run unprofiled" in run.err
    assert run.records("samples")[-1]["in_scope"] > 20
