"""What a library's constructor does, which runs before the profiler's own."""

import re
import subprocess

import pytest

LIBRARY = """\
#include <pthread.h>
static void* works(void* argument) {
  for (;;) __asm__ volatile("" : "+r"(argument));  /* WORK */
}
__attribute__((constructor)) static void begin(void) {
  pthread_t thread;
  %s
}
void in_library(void) {}
"""
CREATES = "pthread_create(&thread, NULL, works, NULL);"
#: As code does that does not call libc's functions by their names.
CREATES_UNSEEN = (
    "typedef int create_t(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);"
    'create_t* create = (create_t*)dlsym(dlopen("libc.so.6", RTLD_NOW), "pthread_create");'
    "create(&thread, NULL, works, NULL);"
)


@pytest.fixture
def prog(coz, request):
    def build(body):
        (coz.folder / "library.c").write_text("#define _GNU_SOURCE\n#include <dlfcn.h>\n" + LIBRARY % body)
        (coz.folder / "program.c").write_text(
            "#include <coz.h>\n#include <time.h>\nvoid in_library(void);\nint main(void) {\n"
            "  in_library();\n  for (int i = 0; i < 400; ++i) {\n"
            "    struct timespec time = {0, 2000000};\n    nanosleep(&time, 0);\n    COZ_PROGRESS;\n  }\n"
            "  return 5;\n}\n"
        )
        for command in (
            ["gcc", "-O1", "-g", "-fPIC", "-shared", "-o", "libwork.so", "library.c"],
            [
                "gcc",
                "-O1",
                "-g",
                "-I",
                request.config.rootpath / "include",
                "-o",
                "program",
                "program.c",
                "./libwork.so",
            ],
        ):
            subprocess.run(command, check=True, cwd=coz.folder)
        return coz.folder / "program"

    return build


def test_threads_that_it_creates_are_profiled(coz, prog):
    run = coz.run([prog(CREATES)], "-b", "MAIN", "-b", "%/libwork.so")
    assert run.status == 5, run.err
    assert run.warnings() == []
    totals = run.records("samples")[-1]
    assert totals["threads"] == 2
    assert sum(line["count"] for line in totals["lines"] if re.search(r"library\.c:", line["location"])) > 0


def test_threads_that_nobody_sees_begin_are_told(coz, prog):
    run = coz.run([prog(CREATES_UNSEEN)], "-b", "MAIN", "-b", "%/libwork.so")
    assert run.status == 5
    assert "threads that Coz did not see begin" in run.err
