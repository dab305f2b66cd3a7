"""scripts/check_layers.py fails when a rule of the architecture is broken, and says where."""

import pathlib
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).parents[2] / "scripts" / "check_layers.py"

CLEAN = {
    "common/clock.h": "#pragma once\n",
    "libcoz/kernel/message.h": '#include "common/clock.h"\nvoid message();\n',
    "libcoz/kernel/message.cpp": '#include "kernel/message.h"\nconst long id = raw_syscall(39);\n',
    "libcoz/delay/call_rules.h": '#include "kernel/message.h"\nconstexpr int kLimits[] = {3, 4};\n',
    "libcoz/thread/state.h": '#include "delay/call_rules.h"\nstruct State {\n  int count = 0;\n};\n',
    "linetable/elf/file.h": '#include "common/clock.h"\n',
    "linetable/main.cpp": '#include "linetable/elf/file.h"\nint runs = open("x", 0);\n',
}


def check(root: pathlib.Path, *options: str, **files: str) -> subprocess.CompletedProcess[str]:
    for name, text in {**CLEAN, **files}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return subprocess.run(
        [sys.executable, SCRIPT, "--root", root, *options], capture_output=True, text=True, check=False
    )


def test_code_that_keeps_the_rules_passes(tmp_path):
    result = check(tmp_path)
    assert (result.returncode, result.stderr) == (0, "")


def test_the_graph_names_each_folder_and_what_it_includes(tmp_path):
    lines = check(tmp_path, "--graph").stdout.splitlines()
    graph = dict(line.split(None, 1) for line in lines)
    assert graph["libcoz/thread"] == "libcoz/delay (1)"
    assert graph["libcoz/kernel"] == "common (1)"
    assert graph["linetable"] == "linetable/elf (1)"


@pytest.mark.parametrize(
    ("file", "text", "line", "says"),
    [
        ("libcoz/delay/x.cpp", '#include "delay/x.h"\n#include "thread/state.h"\n', 2, "higher layer"),
        ("libcoz/kernel/x.h", '// why\n#include "libcoz/delay/call_rules.h"\n', 2, "higher layer"),
        ("linetable/elf/x.cpp", '#include "libcoz/kernel/message.h"\n', 1, "belongs in common/"),
        ("libcoz/delay/x.cpp", '#include "linetable/elf/file.h"\n', 1, "belongs in common/"),
        ("common/x.h", '#include "libcoz/kernel/message.h"\n', 1, "belongs in common/"),
        ("libcoz/other/x.h", '#include "kernel/message.h"\n', 1, "not in the layer list"),
    ],
)
def test_an_include_against_the_order_is_found(tmp_path, file, text, line, says):
    result = check(tmp_path, **{file: text})
    assert result.returncode == 1
    assert result.stderr.startswith(f"{file}:{line}: ")
    assert says in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("namespace coz {\nnamespace {\nint count = 0;\n}\n}\n", 3),
        ("namespace coz {\nstd::atomic<int> count{0};\n}\n", 2),
        ("constexpr int kOne = 1;\nthread_local Thread* current = nullptr;\n", 2),
        ("class A {\n  int member_ = 0;\n  static int count_;\n};\n", 3),
        ("int next() {\n  static std::array<int, 3> ring{};\n  return ring[0];\n}\n", 2),
        ("const char* name = nullptr;\n", 1),
        ('extern "C" {\nint c_count;\n}\n', 2),
        ("std::vector<int> counts(3);\n", 1),
        ("std::function<void(int)> callback;\n", 1),
        ("namespace coz {\nMeter meter(kLimit, 3);\n}\n", 2),
        ("void (*handler)(int) = nullptr;\n", 1),
        ("const char* (*describe)(const int);\n", 1),
        ("struct A {\n  int member;\n} a;\n", 3),
        ("static struct {\n  int member;\n} b[2];\n", 3),
        ("struct stat status;\n", 1),
        ("struct stat status = {};\n", 1),
        ("enum class Kind { kOne } kind = Kind::kOne;\n", 1),
        ("Foo& get() {\n  static Foo foo(1);\n  return foo;\n}\n", 2),
    ],
)
def test_a_global_that_can_change_is_found(tmp_path, text, line):
    result = check(tmp_path, **{"libcoz/delay/x.cpp": text})
    assert result.returncode == 1
    assert result.stderr.startswith(f"libcoz/delay/x.cpp:{line}: global variable ")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "text",
    [
        "constexpr std::array kShares = {1, 2};\nconst char* const kName = nullptr;\n",
        "int next(int before = 0);\nstatic void helper() { int local = 0; use(local); }\n",
        "class A {\n public:\n  A() = default;\n  bool operator==(A) const;\n  int member_{};\n};\n",
        "template <typename T>\nstruct B {\n  T value = 0;\n};\n// int commented = 0;\nusing C = B<int>;\n",
        "std::vector<int> counts(std::size_t size);\nvoid call(void (*handler)(int), int times = 1);\n",
        "constexpr void (*kHandler)(int) = nullptr;\nvoid (*const handler)(int) = nullptr;\n",
        "struct S;\nenum class E : int;\nconst struct S* find(struct S* s);\n",
        "const std::vector<int> kTwo(2);\n",
        "struct A {\n  struct {\n    int x;\n  } inner;\n  void (*call)(int) = nullptr;\n};\n",
        "struct A {\n  static A make(int);\n  static bool is(A a, int b = 1);\n};\n",
        "typedef struct {\n  int x;\n} Old;\nint f() {\n  std::vector<int> local(3);\n  return 0;\n}\n",
    ],
)
def test_what_is_no_global_is_not_taken_for_one(tmp_path, text):
    assert check(tmp_path, **{"libcoz/delay/x.h": text}).stderr == ""


@pytest.mark.parametrize(
    "call",
    [
        "raw_syscall(SYS_getpid)",
        "::mmap(nullptr, 1)",
        'open("/proc/stat", 0)',
        "ioctl(3, 4)",
        "read(3, out, 1)",
        "::write(3, out, 1)",
        "close(3)",
        "poll(fds, 1, 0)",
        "stat(path, &out)",
        "nanosleep(&time, nullptr)",
        "sigaction(5, nullptr, &old)",
        "pthread_kill(thread, 5)",
        "fork()",
    ],
)
def test_a_kernel_call_elsewhere_is_found(tmp_path, call):
    result = check(
        tmp_path,
        **{"libcoz/delay/x.cpp": f"// open() is not a call here\nlong f() {{\n  return {call};\n}}\n"},
    )
    assert result.returncode == 1
    assert result.stderr.startswith("libcoz/delay/x.cpp:3: ")
    assert "calls the kernel" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_members_and_declarations_with_such_a_name_are_no_kernel_calls(tmp_path):
    text = "struct Log {\n  bool open(int);\n};\nbool f(Log& a) {\n  return a.open(1);\n}\n"
    assert check(tmp_path, **{"libcoz/delay/x.cpp": text}).stderr == ""


def test_a_function_of_ours_with_such_a_name_is_no_kernel_call_but_libc_s_is(tmp_path):
    files = {
        "libcoz/delay/x.h": "struct Meter {\n  static void poll(int now);\n};\n",
        "libcoz/delay/x.cpp": "void Meter::poll(int now) {\n  poll(now + 1);\n  ::poll(nullptr, 0, 1);\n}\n",
    }
    result = check(tmp_path, **files)
    assert result.stderr.startswith("libcoz/delay/x.cpp:3: poll() calls the kernel")
    assert len(result.stderr.splitlines()) == 1


def test_an_entry_of_the_lists_that_is_not_needed_is_found(tmp_path):
    result = check(tmp_path, **{"libcoz/lifecycle/runtime.h": "int start();\n"})
    assert result.returncode == 1
    assert result.stderr.endswith("libcoz/lifecycle/runtime.h is listed without need: remove it\n")


def test_the_repository_keeps_the_rules():
    result = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
