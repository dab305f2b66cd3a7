"""The programs: how each is had, built and tested, and where its progress is."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

from harness import Program, Suite, lines_matching
from sources import MissingError, crate, debian_source, git_source, need, shell

#: Locks, threads, crashes of child processes, full disks and memory that runs out; and some of the rest.
_SQLITE_TESTS = [
    "select1",
    "insert",
    "update",
    "delete",
    "index",
    "join",
    "trans",
    "lock",
    "lock2",
    "lock3",
    "pager1",
    "wal",
    "wal2",
    "walthread",
    "thread001",
    "thread002",
    "thread003",
    "thread004",
    "thread005",
    "thread1",
    "thread2",
    "notify1",
    "notify2",
    "notify3",
    "shared",
    "backup",
    "crash",
    "crash2",
    "walcrash",
    "malloc",
    "mallocA",
    "ioerr",
    "attach",
    "vacuum",
    "fts3aa",
    "rtree1",
    "where",
    "where2",
    "sort",
    "sort2",
    "window1",
    "json101",
    "mmap1",
    "busy",
    "sync",
    "speed1",
]


def sqlite(folder: Path) -> tuple[str, list[Suite]]:
    need("tclsh", "tcl-dev")
    source = debian_source("sqlite3", folder)
    if not (source / "testfixture").exists():
        # -O1: the debug build of all extensions is one compilation, of minutes. Without malloc_usable_size,
        # which SQLite asks how much room it got: by the heap's state, so that allocations differ in number.
        configure = "./configure --disable-shared ac_cv_func_malloc_usable_size=no CFLAGS='-O1 -g'"
        shell(f"{configure}; make testfixture", source, folder / "build.log")
    work = folder / "work"
    work.mkdir(exist_ok=True)
    tests = [f"{name}.test" for name in _SQLITE_TESTS]
    suite = Suite(
        [f"{source}/testfixture", f"{source}/test/permutations.test", "veryquick", "--verbose=1", *tests],
        work,
        ["--progress", "sqlite3_step"],
        _sqlite_results,
        as_user=True,
    )
    return (folder / "version").read_text().strip(), [suite]


def _sqlite_results(text: str) -> dict[str, str]:
    """What each test says. The rounds of crash-4.2 count as one: chance decides how many there are."""
    # Before some come dots, by the clock: one for each time that a thread finds the database busy.
    parse = lines_matching(r"^\.*(?P<test>[^ .\n][^ \n]*)\.\.\. ?(?P<result>Ok|Omitted|\n?! .*|)$")
    results: dict[str, str] = {}
    for test, result in parse(text).items():
        name = re.sub(r"^(crash-4\.2)\.\d+\.", r"\1.*.", test)
        if results.get(name, "Ok") == "Ok":  # else one of the rounds has failed
            results[name] = result
    return results


def zstd(folder: Path) -> tuple[str, list[Suite]]:
    source = debian_source("libzstd", folder)
    tests = source / "tests"
    if not (tests / "zstreamtest").exists():
        shell("make fuzzer zstreamtest poolTests CFLAGS='-O1 -g' MOREFLAGS=-g", tests, folder / "build.log")
    parse = lines_matching(
        r"^(?P<test>test *\d+ *:.*?|PASS: .*?|FAIL: .*?|Overall time.*?) *:? *(?P<result>OK|)(?: .*)?$"
    )
    commands = [
        ["./poolTests"],
        ["./fuzzer", "-v", "-s1", "-i200"],
        ["./zstreamtest", "-v", "-s1", "-i20"],
        ["./zstreamtest", "--newapi", "-v", "-s1", "-i20"],
    ]
    progress = ["--progress", "ZSTD_compressBlock_internal"]
    suites = [
        Suite(command, tests, [] if index == 0 else progress, parse) for index, command in enumerate(commands)
    ]
    return (folder / "version").read_text().strip(), suites


def lua(folder: Path) -> tuple[str, list[Suite]]:
    # Debian's source package has no tests.
    source = git_source("https://github.com/lua/lua", "v5.4.4", folder)
    if not (source / "lua").exists():
        shell("cc -O2 -g -DLUA_USE_POSIX -o lua onelua.c -lm", source, folder / "build.log")
    # _U: what does not need a C compiler, nor much memory. An output that stops at a file has failed there.
    suite = Suite(
        [f"{source}/lua", "-e", "_U=true", "all.lua"],
        source / "testes",
        ["--progress", "luaC_step"],
        lines_matching(r"^(?P<test>\*{5} FILE '.*'\*{5}|final) ?(?P<result>OK !!!|)$"),
    )
    return (folder / "version").read_text().strip(), [suite]


def redis(folder: Path) -> tuple[str, list[Suite]]:
    need("tclsh", "tcl")
    source = debian_source("redis", folder)
    server = source / "src/redis-server"
    if not server.exists():
        shell("make MALLOC=libc OPTIMIZATION=-O1", source, folder / "build.log")
    units = [
        "unit/type/list",
        "unit/type/string",
        "unit/type/hash",
        "unit/expire",
        "unit/multi",
        "unit/pubsub",
        "unit/introspection",
        "unit/info",
        "unit/lazyfree",
        "unit/pause",
        "unit/shutdown",
        "unit/wait",
        "unit/obuf-limits",
        "integration/aof",
        "integration/rdb",
        "integration/shutdown",
        "integration/logging",
        "integration/replication-psync",
    ]
    words = [word for unit in units for word in ("--single", unit)]
    suite = Suite(
        ["./runtest", "--clients", "1", "--tags", "-slow", *words],
        source,
        ["--progress", "processCommand"],
        lines_matching(r"^\[(?P<result>ok|err|exception|skip|ignore)\]: (?P<test>.*?)(?: \(\d+ ms\))?$"),
        wrapped=server,
    )
    return (folder / "version").read_text().strip(), [suite]


def python3(folder: Path) -> tuple[str, list[Suite]]:
    if not Path("/usr/lib/python3.11/test/test_threading.py").exists():
        raise MissingError(
            "Python's tests are missing; on Debian: apt-get install libpython3.11-testsuite python3-dbg"
        )
    folder.mkdir(parents=True, exist_ok=True)
    tests = [
        "test_threading",
        "test_signal",
        "test_subprocess",
        "test_fork1",
        "test_thread",
        "test_threadsignals",
        "test_queue",
        "test_eintr",
        "test_faulthandler",
        "test_select",
        "test_selectors",
        "test_poll",
        "test_epoll",
        "test_socket",
        "test_wait3",
        "test_wait4",
        "test_threading_local",
        "test_posix",
        "test_time",
        "test_popen",
        "test_concurrent_futures",
    ]
    suite = Suite(
        ["/usr/bin/python3.11", "-m", "test", "-v", "-i", "*VSOCK*", *tests],
        folder,
        ["--progress", "list_dealloc"],
        lines_matching(
            r"^(?P<test>test\w* \(\S+\)).*? \.\.\. (?:.*\n)*?.*?(?P<result>ok|skipped|FAIL|ERROR|expected failure)(?: .*)?$"  # noqa: E501
        ),
    )
    return "/usr/bin/python3.11 of " + _package_version("python3.11-minimal"), [suite]


def _package_version(package: str) -> str:
    command = ["dpkg-query", "-W", "-f", "${Version}", package]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def crossbeam(folder: Path) -> tuple[str, list[Suite]]:
    source = crate("crossbeam-channel", "0.5.15", folder)
    messages = folder / "build.json"
    if not messages.exists():
        shell(
            f"cargo test --no-run --message-format json >{messages}.new; mv {messages}.new {messages}",
            source,
            folder / "build.log",
        )
    lines = [json.loads(line) for line in messages.read_text().splitlines()]
    # Examples are built as well; one of them is a clock that never ends.
    programs = [line["executable"] for line in lines if line.get("executable") and line["profile"]["test"]]
    parse = lines_matching(r"^test (?P<test>\S+) (?:- should panic )?\.\.\. (?P<result>\w+)$")
    suites = [Suite([program, "--test-threads=2"], source, _sends(program), parse) for program in programs]
    return "0.5.15", suites


def _sends(program: str) -> list[str]:
    """Options for counting what is sent through channels, in a program that does."""
    symbols = subprocess.run(["nm", "-C", program], capture_output=True, text=True, check=True).stdout
    if re.search(r"crossbeam_channel::channel::Sender<.*>::send$", symbols, re.MULTILINE):
        return ["--progress", "crossbeam_channel::channel::Sender<%>::send"]
    return []


PROGRAMS = [Program(make.__name__, make) for make in (sqlite, zstd, lua, redis, python3, crossbeam)]
