"""A stand-in for the runtime, the helper and a program, with which `coz run` is tested."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

RUNTIME = r"""
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
/* Writes what a test wants written, as the runtime would: only in the process that is profiled. */
__attribute__((constructor)) static void begin(void) {
  const char* process = getenv("COZ_PROCESS");
  if (!process || atoi(process) != getpid()) return;
  FILE* f = fopen(getenv("COZ_OUTPUT"), "a");
  if (f && getenv("FAKE_RECORDS")) fputs(getenv("FAKE_RECORDS"), f);
  if (f) fclose(f);
}
"""

HELPER = r"""#!{python}
import json, os, sys
answers = json.loads(os.environ.get("FAKE_HELPER", "{{}}"))
if "FAKE_CALLS" in os.environ:
    open(os.environ["FAKE_CALLS"], "a").write(" ".join(sys.argv) + "\n")
if sys.argv[1] == "build":
    status, answer = answers.get("build", [0, {{"table": "/t", "binary": sys.argv[-1], "warnings": []}}])
else:
    chosen = [{{"kind": option[2:], "wanted": text, "nearest": [],
                "found": [{{"location": "/src/" + text, "function": "f", "in_scope": True}}]}}
              for option, text in zip(sys.argv, sys.argv[1:]) if option in ("--line", "--function")]
    status, answer = answers.get("scope", [0, {{"lines": 3, "functions": 2, "files": [],
                                               "all_files": ["/src/a.c"], "chosen": chosen}}])
print(json.dumps(answer))
sys.exit(status)
"""

PROGRAM = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void say(const char* text) { if (write(1, text, strlen(text)) < 0) _exit(9); }
static void on(int n) {
  say(n == SIGTERM ? "got 15\n" : n == SIGUSR1 ? "got 10\n" : "got 2\n");
  if (n == SIGTERM) _exit(33);
}
int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  if (!strcmp(what, "exit")) return atoi(argv[2]);
  if (!strcmp(what, "raise")) { raise(atoi(argv[2])); return 0; }
  if (!strcmp(what, "cat")) { int c; while ((c = getchar()) != EOF) putchar(c); return 0; }
  if (!strcmp(what, "environment")) { puts(getenv(argv[2]) ? getenv(argv[2]) : "(none)"); return 0; }
  if (!strcmp(what, "dispositions")) {
    struct sigaction a; sigset_t m;
    for (int n = 1; n < 32; n++)
      if (!sigaction(n, 0, &a) && a.sa_handler != SIG_DFL) printf("%d changed\n", n);
    sigprocmask(SIG_BLOCK, 0, &m);
    for (int n = 1; n < 32; n++) if (sigismember(&m, n)) printf("%d blocked\n", n);
    return 0;
  }
  if (!strcmp(what, "leave")) {
    sigset_t m; int n;
    sigemptyset(&m); sigaddset(&m, SIGINT); sigprocmask(SIG_BLOCK, &m, 0);
    say("ready\n");
    return sigwait(&m, &n);
  }
  if (!strcmp(what, "wait")) {
    signal(SIGTERM, on); signal(SIGUSR1, on); signal(SIGINT, on);
    say("ready\n");
    for (;;) pause();
  }
  return 0;
}
"""

RECORDS = (
    '{"type":"run","format":"coz-profile","version":1,"program":"/p"}\n'
    '{"type":"experiment","block":0,"location":"/src/a.c:3","speedup":0,"effective_duration":9,"points":[]}\n'
)


Start = Callable[..., "subprocess.Popen[str]"]


def finish(process: subprocess.Popen[str], text: str = "") -> tuple[int, str, str]:
    out, error = process.communicate(text, timeout=60)
    return process.returncode, out, error
