#!/usr/bin/env python3
"""Checks the architecture rules of the C++ code, which libcoz/README.md and linetable/README.md state.

1. Layers: a folder includes only itself, common/, and folders before it in the lists below.
2. Globals: variables with static storage that can change are only in the files listed here.
3. Kernel calls: only the folders and files listed here call the kernel.

Prints one line per violation, as file:line: what is wrong, and what to do; exits with 1 if there is any.
With --graph it prints which folder includes which, and how often.
"""

import argparse
import collections
import pathlib
import re
import sys

RUNTIME = [
    "kernel",
    "unwind",
    "symbols",
    "target",
    "delay",
    "progress",
    "load",
    "thread",
    "sampling",
    "patch",
    "profile_log",
    "experiment",
    "signals",
    "lifecycle",
    "interpose",
]
HELPER = ["machine", "elf", "table", "symbols", "dwarf", "plan", "query", "cache", "layout", "accesses", ""]

#: Folder of the repository → its folders, lower layers first. The last one, "", is the folder itself.
LAYERS = {"common": [""], "libcoz": RUNTIME, "libheap": [""], "liblayout": [""], "linetable": HELPER}

#: Folders that another part may include, too: the unwinder is a library of its own.
SHARED = {("linetable", "libcoz", "unwind")}

#: Files of the runtime with variables that can change and live as long as the process.
GLOBALS = {
    "libcoz/thread/session.h": "the session, and the state of the calling thread",
    "libcoz/lifecycle/runtime.cpp": "the runtime, and whether it has been started",
    "libcoz/lifecycle/runtime.h": "the runtime",
    "libcoz/lifecycle/forked_start.cpp": "what waits for a child to be profiled",
    "libcoz/lifecycle/forked_start.h": "what waits for a child to be profiled",
    "libcoz/lifecycle/point_totals.cpp": "what counts, and where each thread does",
    "libcoz/lifecycle/point_totals.h": "the points whose visits are counted",
    "libcoz/lifecycle/last_thread.cpp": "the main thread's signal mask, for the thread that calls exit",
    "libcoz/signals/program_signals.cpp": "the program's use of our signals",
    "libcoz/signals/sample_handler.cpp": "what the sample handler calls",
    "libcoz/kernel/real.cpp": "addresses of libc's functions",
    "libcoz/kernel/own_thread.h": "the number of our threads",
    "libcoz/sampling/sample_cost.cpp": "the event in use, which a forked child closes",
    "libcoz/interpose/entry.cpp": "what macros of the header hold",
    "libcoz/interpose/futex.cpp": "where syscall() passes other calls",
    "libcoz/interpose/openmp.cpp": "the parallel region that each thread is in",
    "libcoz/interpose/openmp_waits.cpp": "what each thread waits for",
    "libcoz/interpose/openmp_tool.cpp": "what OpenMP's library calls",
    "libcoz/kernel/openmp_library.cpp": "addresses of OpenMP functions",
    "libcoz/interpose/signal_actions.cpp": "a message that is given once",
    "libcoz/interpose/small_stack.h": "a message that is given once",
    "libheap/base_allocator.cpp": "the program's allocator, and blocks from before it is known",
    "libheap/interpose.cpp": "each thread's part of the heap, and their number",
    "libheap/stacks.cpp": "the program's main, and the number of stacks",
    "libheap/start.cpp": "what the library does in this process",
    "liblayout/process.cpp": "the program, while its code cannot be executed",
}

#: Folders and files of the runtime that may call the kernel.
KERNEL_CALLERS = (
    "common/",
    "liblayout/process.cpp",
    "libcoz/kernel/",
    "libcoz/signals/",
    "libcoz/lifecycle/",
    "libcoz/interpose/",
    "libcoz/thread/session.h",
    "libcoz/unwind/checked_memory.cpp",
    "libcoz/symbols/loader_listing.cpp",
    "libcoz/symbols/module_thread.cpp",
    "libcoz/symbols/modules.cpp",
    "libcoz/symbols/table_service.cpp",
    "libcoz/progress/point_counters.cpp",
    "libcoz/sampling/sample_source.cpp",
    "libcoz/sampling/sample_source_threads.cpp",
    "libcoz/sampling/sample_cost.cpp",
    "libcoz/patch/code_memory.cpp",
    "libcoz/profile_log/profile_writer.cpp",
    "libheap/start.cpp",
)
#: Functions of libc that are system calls, or little more.
KERNEL_FUNCTIONS = (
    "syscall|raw_syscall|prctl|ioctl|fcntl|sysconf|dl_iterate_phdr|open|openat|fopen|opendir|close|read"
    "|write|pread|pwrite|readv|writev|lseek|fsync|ftruncate|unlink|rename|stat|fstat|lstat|fstatat|access"
    "|readlink|dup|dup2|dup3|pipe|pipe2|eventfd|poll|ppoll|epoll_wait|socket|connect|bind|accept|send"
    "|sendto|sendmsg|recv|recvfrom|recvmsg|mmap|munmap|mremap|mprotect|madvise|getpid|gettid|fork|vfork"
    "|execve|waitpid|kill|tgkill|pthread_kill|sched_yield|sched_getaffinity|sigaction|sigprocmask"
    "|pthread_sigmask|sigaltstack|sigsuspend|clock_gettime|clock_nanosleep|nanosleep|usleep|sleep"
    "|timer_create|timer_settime|setitimer"
)
KERNEL_CALL = re.compile(rf"(?<![\w.>:])(?P<global>::)?(?P<name>{KERNEL_FUNCTIONS})\(")
DECLARES = re.compile(r"^\s*(?!(?:return|else|do|case)\b)(?:[\w:<>,]+[\s*&]+)+$")

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def without_comments(text: str) -> str:
    """The same text, line for line, without comments and the contents of strings."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^(\s]*)\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'',
        re.DOTALL,
    )

    def blank(match: re.Match[str]) -> str:
        found = match[0]
        if found.startswith(("/", "R")):
            return "\n" * found.count("\n")
        return found[0] + found[-1]

    # A separator inside a number (1'000) is not the begin of a character.
    return pattern.sub(blank, re.sub(r"(?<=\d)'(?=\d)", "", text))


def folder_of(path: str) -> tuple[str, str]:
    """Top folder and layer of a file."""
    top, _, rest = path.partition("/")
    return top, rest.rpartition("/")[0].partition("/")[0]


def resolve(root: pathlib.Path, source: str, included: str) -> str | None:
    """The included file as a path in the repository; None if it is outside the layered folders."""
    top = source.partition("/")[0]
    for candidate in (included, f"{top}/{included}"):
        if candidate.partition("/")[0] in LAYERS and (root / candidate).is_file():
            return candidate
    for other in LAYERS:
        if (root / other / included).is_file():
            return f"{other}/{included}"
    return None


def check_include(source: str, target: str) -> str | None:
    """What is wrong with that include; None if nothing."""
    (top, layer), (target_top, target_layer) = folder_of(source), folder_of(target)
    if target_top == "common" or (top, target_top, target_layer) in SHARED:
        return None
    if top != target_top:
        return f"{top}/ must not include {target}: what both need belongs in common/"
    order = LAYERS[top]
    for name in (layer, target_layer):
        if name not in order:
            return f"{top}/{name}/ is not in the layer list of scripts/check_layers.py: add it at its place"
    if order.index(target_layer) > order.index(layer):
        return (
            f"{top}/{layer}/ must not include {target}, which is in a higher layer: "
            "move the code, or hand it in from above"
        )
    return None


def declared(code: str) -> set[str]:
    """Functions named like system calls that this code declares: members, mostly."""
    return {
        match["name"]
        for line in code.splitlines()
        for match in KERNEL_CALL.finditer(line)
        if DECLARES.match(line[: match.start()])
    }


def declared_in_header(path: pathlib.Path) -> set[str]:
    """The same, of the header that belongs to this source."""
    header = path.with_suffix(".h")
    return declared(without_comments(header.read_text(encoding="utf-8"))) if header.is_file() else set()


def find_kernel_calls(code: str, own: set[str]) -> list[tuple[int, str]]:
    """Line and name of each system call. `own`: functions that have such a name, but are not libc's."""
    own = own | declared(code)
    return [
        (number, match["name"])
        for number, line in enumerate(code.splitlines(), 1)
        for match in KERNEL_CALL.finditer(line)
        if match["global"] or match["name"] not in own
    ]


#: What begins a statement that declares no variable, or none that can change.
HARMLESS = re.compile(
    r"^(using|typedef|static_assert|friend|template|namespace|return|goto|break|continue"
    r"|public|private|protected|case|default|asm|__asm__|extern|COZ_\w+|\[\[)\b|^enum\b[^=]*[^:]:[^:]"
)
CONSTANT = re.compile(r"\bconstexpr\b|\bconst\b(?![^=;{(]*\*(?!\s*const))")
STATIC = re.compile(r"\b(static|thread_local)\b")
ACCESS = re.compile(r"^((public|private|protected):\s*)+")
STORAGE = re.compile(r"^((static|inline|thread_local|const|constexpr|constinit)\s+)+")
ATTRIBUTE = re.compile(r"__attribute__\s*\(\(.*?\)\)\)?|alignas\([^)]*\)|\[\[.*?\]\]")
TYPE_KEYWORD = re.compile(r"\b(enum\s+class|enum\s+struct|class|struct|enum|union)\b")
#: Type and name of a variable.
NAMED = r"[\w:<>,*&\s\[\]]+\s[*&]*\w[\w:]*"
#: A pointer to a function or an array.
POINTER = re.compile(r"^[\w:,*&\s]+\(\s*(?:\w+::)*\*\s*(?P<const>const\b)?\s*\w+(\[[^\]]*\])*\s*\)\s*[(\[]")
#: What begins the value of a variable, and not the list of a function's parameters.
VALUE = re.compile(
    r"^\s*([-+!~&*({\[\d\"']|(nullptr|true|false|sizeof|this)\b|k[A-Z]\w*\s*($|[^\w\s:*&])"
    r"|(?!(void|bool|char|short|int|long|float|double|unsigned|signed|auto|const)\b)"
    r"([\w:]+\s*([({+\-/|]|\.(?!\.))|(?!\w*_t\b)[a-z_][a-z0-9_]*\s*(,|$)))"
)


def find_globals(text: str) -> list[tuple[int, str]]:
    """Variables that can change at namespace scope, static members and static locals: line, declaration."""
    found = []
    # For each open brace: "namespace", "initialiser", "other", or the type that it defines.
    scopes: list[str] = []
    statement, line, started = "", 1, 1
    code = re.sub(r"(?m)^\s*#(.*\\\n)*.*$", lambda m: "\n" * m[0].count("\n"), text)
    for char in code:
        if char == "\n":
            line += 1
        if not statement.strip():
            started = line
        if char == "{":
            head = statement.strip()
            if re.match(r"^(inline\s+)?namespace\b|^extern \"\"?$", head):
                scopes.append("namespace")
                statement = ""
            else:
                scopes.append("initialiser" if is_initialised(head) else defined_type(head) or "other")
                statement = statement if scopes[-1] == "initialiser" else ""
        elif char == "}":
            kind = scopes.pop() if scopes else "other"
            if kind not in ("initialiser", "namespace", "other"):
                statement, started = kind, line  # variables of the type may follow
            elif kind != "initialiser":
                statement = ""
        elif char == ";":
            if "initialiser" not in scopes:
                if is_variable(statement.strip(), scopes):
                    found.append((started, " ".join(statement.split())))
                statement = ""
        else:
            statement += char
    return found


def without_arguments(declaration: str) -> str:
    """The same without the arguments of templates."""
    while (shorter := re.sub(r"<[^<>]*>", "", declaration)) != declaration:
        declaration = shorter
    return declaration


def without_value(declaration: str) -> str:
    """What stands before the first = that is not in parentheses."""
    depth = 0
    for index, char in enumerate(declaration):
        depth += (char == "(") - (char == ")")
        if char == "=" and depth == 0:
            return declaration[:index].strip()
    return declaration.strip()


def is_initialised(head: str) -> bool:
    """True if the brace after this text begins the value of a variable, not a block or the body of a type."""
    head = STORAGE.sub("", ACCESS.sub("", head))
    if not head or re.match(r"^(else|do|try|template|extern)\b", head):
        return False
    if TYPE_KEYWORD.match(head) and "=" not in head:
        rest = without_arguments(ATTRIBUTE.sub("", TYPE_KEYWORD.sub("", head, count=1)))
        return bool(re.match(r"^\s*\w[\w:]*[\s*&]+(?!final$)\w+\s*$", rest))
    return "(" not in head.partition("=")[0] and bool(re.match(rf"^{NAMED}", head))


def defined_type(head: str) -> str | None:
    """The type whose body begins after this text, as it would begin a declaration; None if none does."""
    head = ATTRIBUTE.sub("", ACCESS.sub("", head))
    keyword = TYPE_KEYWORD.search(head)
    if keyword is None or HARMLESS.match(head[: keyword.start()].strip()) or "(" in head:
        return None
    return f"{head[: keyword.start()]}struct Type"


def is_variable(declaration: str, scopes: list[str]) -> bool:
    """True if this declares a variable that lives as long as the process and can change."""
    declaration = ACCESS.sub("", declaration)
    is_static = bool(STATIC.search(declaration))
    if not is_static and any(scope != "namespace" for scope in scopes):
        return False
    if not declaration or HARMLESS.match(declaration) or "operator" in declaration:
        return False
    declaration = without_value(without_arguments(ATTRIBUTE.sub("", declaration)))
    if pointer := POINTER.match(declaration):
        return not pointer["const"] and "constexpr" not in declaration
    if CONSTANT.search(declaration):
        return False
    if TYPE_KEYWORD.match(declaration):
        declaration = TYPE_KEYWORD.sub("", declaration, count=1).strip()
    if constructed := re.match(rf"^{NAMED}\s*\((?P<arguments>.*)\)$", declaration, re.DOTALL):
        return bool(VALUE.match(constructed["arguments"]))
    return bool(re.match(rf"^{NAMED}(\[[^\]]*\])*$", declaration))


def main() -> int:
    """Checks the repository, or another folder like it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--graph", action="store_true", help="print which folder includes which")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    options = parser.parse_args()
    root: pathlib.Path = options.root

    problems: list[str] = []
    used: set[str] = set()  # entries of the lists that are needed
    edges: collections.Counter[tuple[str, str]] = collections.Counter()
    sources = sorted(p for top in LAYERS for p in (root / top).rglob("*") if p.suffix in (".h", ".cpp"))
    for path in sources:
        source = str(path.relative_to(root))
        raw = path.read_text(encoding="utf-8")
        for number, text in enumerate(raw.splitlines(), 1):
            match = INCLUDE.match(text)
            target = resolve(root, source, match[1]) if match else None
            if target is None:
                continue
            if folder_of(source) != folder_of(target):
                edges["/".join(folder_of(source)).rstrip("/"), "/".join(folder_of(target)).rstrip("/")] += 1
            if problem := check_include(source, target):
                problems.append(f"{source}:{number}: {problem}")
        code = without_comments(raw)
        if source.startswith("linetable/"):
            continue  # an ordinary program
        for number, declaration in find_globals(code):
            used.add(source)
            if source not in GLOBALS:
                problems.append(
                    f"{source}:{number}: global variable ({declaration[:60]}): make it a member of what uses "
                    "it, or list the file in scripts/check_layers.py, with a reason"
                )
        for number, name in find_kernel_calls(code, declared_in_header(path)):
            entry = next((p for p in KERNEL_CALLERS if source.startswith(p)), None)
            used.add(entry or "")
            if entry is None:
                problems.append(
                    f"{source}:{number}: {name}() calls the kernel: put it behind a function in "
                    "libcoz/kernel/, or list the file in scripts/check_layers.py"
                )
    for entry in sorted({*GLOBALS, *KERNEL_CALLERS} - used):
        if (root / entry).is_file():
            problems.append(f"scripts/check_layers.py:1: {entry} is listed without need: remove it")
    if options.graph:
        by_source: dict[str, list[str]] = collections.defaultdict(list)
        for (source, target), count in sorted(edges.items()):
            by_source[source].append(f"{target} ({count})")
        in_order = [f"{top}/{layer}".rstrip("/") for top, order in LAYERS.items() for layer in order]
        for name in [*in_order, *sorted(set(by_source) - set(in_order))]:
            print(f"{name:24} {', '.join(by_source.get(name, [])) or '-'}")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
