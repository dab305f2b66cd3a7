"""The rows: every promise to a program under `coz run`, each with the program that checks it."""

from __future__ import annotations

from signal import SIGABRT, SIGFPE, SIGKILL, SIGSEGV, SIGSTKFLT, SIGTRAP

from comparison import LIBRARIES, Row

_READS = "a descriptor of signalfd does not get the signal that is ours"
_GO = "refused: samples would be taken on goroutines' small stacks"
_FORKED = ("--forked", "1")
_INT3_WAITS = ("--progress", "is_pending", "--progress-by", "breakpoint")
_INT3 = ("--progress", "visited", "--progress-by", "breakpoint")

PROCESSES = [
    Row("fork", "fork.c", lasts=130),
    Row("_Fork", "raw_fork.c", ("_Fork",), lasts=200, visits={"visit": 2}, in_all_modes=True),
    Row("clone", "raw_fork.c", ("clone",), lasts=200, visits={"visit": 2}),
    Row("vfork", "spawn.c", ("vfork",), lasts=120),
    Row("posix_spawn", "spawn.c", ("posix_spawn",), lasts=75),
    Row("system and popen", "spawn.c", ("shell",), lasts=75),
    Row("exec of a shell", "exec.c", ("shell",), 5, environment={"LD_PRELOAD": "libm.so.6"}),
    Row("exec of itself", "exec.c", ("self", "9"), 6),
    Row("exec of a static program", "exec.c", ("other",), 8, others=(("other.c", ("-static",)),)),
    Row("exec of a setuid program", "exec.c", ("other",), 8, others=(("other.c", ("setuid",)),)),
    Row("setuid child", "exec.c", ("child",), others=(("other.c", ("setuid",)),)),
    Row("static child", "exec.c", ("child",), others=(("other.c", ("-static",)),)),
    Row("daemon", "daemon.c", ends=4),
    Row("children profiled", "fork.c", ("work",), options=_FORKED, sampled=False, in_all_modes=True),
    Row("daemon profiled", "daemon.c", ends=4, options=_FORKED, sampled=False, in_all_modes=True),
    Row("closing every descriptor", "closes.c"),
    Row("Unix sockets", "unix_sockets.c"),
    Row("Unix sockets of a tree", "unix_sockets.c", ("tree",), options=("--tree",)),
]

ENDS = [
    Row("return", "ends.c", ("return",), 9, lasts=250, in_all_modes=True),
    Row("exit", "ends.c", ("exit",), 10, lasts=250, in_all_modes=True),
    Row("_exit", "ends.c", ("_exit",), 11, lasts=250, in_all_modes=True),
    Row("_Exit", "ends.c", ("_Exit",), 11, lasts=250, in_all_modes=True),
    Row("quick_exit", "ends.c", ("quick_exit",), 12, lasts=250, in_all_modes=True),
    Row("exit by a thread", "ends.c", ("thread",), 13, lasts=250),
    Row("exit_group", "ends.c", ("exit_group",), 14, lasts=250, in_all_modes=True),
    Row("_exit in a handler amid malloc", "ends.c", ("handler",), 54),
    Row("abort", "ends.c", ("abort",), -SIGABRT),
    Row("abort with a handler", "ends.c", ("abort_handled",), -SIGABRT),
    Row("null pointer", "ends.c", ("null",), -SIGSEGV),
    Row("core dump", "ends.c", ("core",), -SIGSEGV),
    Row("division by zero", "ends.c", ("divide",), -SIGFPE),
    Row("int3", "ends.c", ("int3",), -SIGTRAP),
    Row("int3 where SIGTRAP is ignored", "ends.c", ("int3_ignored",), -SIGTRAP),
    Row("SIGTRAP raised", "ends.c", ("trap",), -SIGTRAP),
    Row("SIGSTKFLT raised", "ends.c", ("stkflt",), -SIGSTKFLT, in_all_modes=True),
    Row("SIGKILL", "ends.c", ("kill",), -SIGKILL),
]

THREADS = [
    Row("main leaves by pthread_exit", "main_leaves.c", lasts=200),
    Row("cancelled and detached threads", "cancel.c", ends=3),
    Row("threads before and after main", "early.cpp", ends=5),
]

SIGNALS = [
    Row("any other signal", "any_signal.c", in_all_modes=True),
    Row("a signal that comes with a sample", "signal_and_sample.c", in_all_modes=True),
    Row(
        "SIGTRAP where it is free", "any_signal.c", ("5",), modes=("perf-signal", "timer"), in_all_modes=True
    ),
    Row("SIGSTKFLT where it is free", "any_signal.c", ("16",), modes=("perf-trap",)),
    Row("SIGTRAP handled, ignored and reset", "any_signal.c", ("action", "5"), in_all_modes=True),
    Row("SIGSTKFLT handled, ignored and reset", "any_signal.c", ("action", "16"), in_all_modes=True),
    Row("SIGTRAP blocked and waited for", "any_signal.c", ("blocked", "5"), in_all_modes=True),
    Row("SIGSTKFLT blocked and waited for", "any_signal.c", ("blocked", "16"), in_all_modes=True),
    Row("the same with breakpoints, SIGTRAP", "any_signal.c", ("blocked", "5"), options=_INT3_WAITS),
    Row("corners of SIGTRAP", "signal_corners.c", ("5",), in_all_modes=True),
    Row("corners of SIGSTKFLT", "signal_corners.c", ("16",), in_all_modes=True),
    Row("corners of SIGTRAP with breakpoints", "signal_corners.c", ("5",), options=_INT3),
    Row("rules of SIGTRAP", "signal_rules.c", ("5",), in_all_modes=True),
    Row("rules of SIGSTKFLT", "signal_rules.c", ("16",), in_all_modes=True),
    Row("SIGTRAP read from a descriptor", "any_signal.c", ("5",), fails=_READS, runs=False),
    Row("all signals blocked", "all_blocked.c", in_all_modes=True),
    Row("mask read back", "all_blocked.c", ("mask",), in_all_modes=True),
    Row("thread born with all signals blocked", "masked.c", ("attributes",), in_all_modes=True),
    Row("all signals blocked by syscall()", "masked.c", ("syscall",), in_all_modes=True),
    Row("the same with breakpoints", "masked.c", ("syscall",), options=_INT3, in_all_modes=True),
    # Not sampled.
    Row("all signals blocked behind libc's back", "masked.c", ("raw",), sampled=False, in_all_modes=True),
    Row("small stacks", "small_stacks.c"),
    Row("threads on the least stack", "small_stacks.c", ("threads",), in_all_modes=True),
    Row("set up before main", "uses_library.c", library="library.c"),
    Row("timers", "timers.c"),
    Row("traps of its own", "own_traps.c"),
    Row("state of a computation", "state.c", flags=("-lm",)),
    Row("restarted calls", "restarted.c", in_all_modes=True),
    Row("a sample in a call that a signal ends", "ended_reads.c", modes=("perf-trap",)),
]

JEMALLOC, TCMALLOC, MIMALLOC = "libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libmimalloc.so.2.0"
ALLOCATORS = [
    Row("libc's malloc", "allocates.cpp"),
    *(
        Row(f"{library} linked", "allocates.cpp", flags=(f"-l:{library}",))
        for library in (JEMALLOC, TCMALLOC, MIMALLOC)
    ),
    *(
        Row(f"{library} preloaded", "allocates.cpp", environment={"LD_PRELOAD": f"{LIBRARIES}/{library}"})
        for library in (JEMALLOC, TCMALLOC, MIMALLOC)
    ),
    Row(
        "jemalloc with threads of its own",
        "allocates.cpp",
        flags=(f"-l:{JEMALLOC}",),
        environment={"MALLOC_CONF": "background_thread:true,dirty_decay_ms:10"},
    ),
]

LANGUAGES = [
    Row("exceptions", "throws.cpp", flags=("-fnon-call-exceptions", "-Wno-maybe-uninitialized")),
    Row("exception out of main", "throws.cpp", ("main",), -SIGABRT),
    Row("exception out of a thread", "throws.cpp", ("thread",), -SIGABRT),
    Row("exception out of std::thread", "throws.cpp", ("std_thread",), -SIGABRT),
    Row("terminate handler", "throws.cpp", ("handler",), 21),
    Row("Rust", "panics.rs", ends=101, options=("--progress", "panics::tick")),
    Row("Rust with panic=abort", "panics.rs", ("abort",), -SIGABRT, options=("--progress", "panics::tick")),
    Row("Go with cgo", "calls_c.go", fails=_GO, runs=False),
]

ROWS = PROCESSES + ENDS + THREADS + SIGNALS + ALLOCATORS + LANGUAGES
