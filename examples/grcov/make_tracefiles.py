"""Write lcov tracefiles as a continuous integration has them: one for each test executable of a project.

    make_tracefiles.py SOURCES OUT [TRACEFILES [FILES]]

SOURCES is a folder with Rust sources; FILES of them (4000) make up the project, and each of TRACEFILES (400)
tracefiles covers those that one test executable is linked from: the most used third of them mostly, the rest
more rarely. Lines and names of functions are those of the sources; which lines ran how often is drawn at
random, from a fixed seed. The names of the files are copied to OUT/src, where grcov looks them up; the
tracefiles are OUT/tracefiles/NNNN.info.
"""

import random
import re
import sys
from pathlib import Path

FUNCTION = re.compile(r"^\s*(?:pub(?:\([^)]*\))? )?(?:const )?(?:async )?(?:unsafe )?fn (\w+)")


def record(path: str, text: str, chance: random.Random) -> tuple[str, list[tuple[int, int]], list[str]]:
    """A file's head in all tracefiles, its lines that can run, and its functions' mangled names."""
    head, lines, names = [f"SF:{path}"], [], []
    crate = path.split("/", 1)[0].replace("-", "_")
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        found = FUNCTION.match(line)
        if found:
            inside = True
            name = f"_ZN{len(crate)}{crate}{len(found[1])}{found[1]}17h{chance.getrandbits(64):016x}E"
            head.append(f"FN:{number},{name}")
            names.append(name)
            lines.append((number, 0))
        elif inside and line.strip() and not line.lstrip().startswith("//") and len(line.strip()) > 2:
            lines.append((number, len(names) - 1))
    return "\n".join(head), lines, names


def tracefile(records: list[tuple[str, list[tuple[int, int]], list[str]]], chance: random.Random) -> str:
    """One executable's counts of calls and lines."""
    out = []
    for head, lines, names in records:
        calls = [chance.choice((0, 0, 1, 3, 17, 254, 8191)) for _ in names]
        out.append(head)
        out += [f"FNDA:{count},{name}" for count, name in zip(calls, names, strict=True)]
        out += [f"DA:{line},{calls[function] * (1 + line % 3)}" for line, function in lines]
        out.append("end_of_record")
    return "\n".join(out) + "\n"


def main() -> None:
    """As the module says."""
    sources, out = Path(sys.argv[1]), Path(sys.argv[2])
    wanted = int(sys.argv[3]) if len(sys.argv) > 3 else 400
    files = int(sys.argv[4]) if len(sys.argv) > 4 else 4000
    chance = random.Random(20)
    traces = out / "tracefiles"
    traces.mkdir(parents=True, exist_ok=True)
    records = []
    for source in sorted(sources.rglob("*.rs")):
        text = source.read_text(encoding="utf-8", errors="replace")
        made = record(str(source.relative_to(sources)), text, chance)
        if made[2] and len(text) < 200_000:
            records.append(made)
            copy = out / "src" / source.relative_to(sources)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.touch()
    chance.shuffle(records)
    del records[files:]
    common, rare = records[: len(records) // 3], records[len(records) // 3 :]
    for number in range(wanted):
        linked = [r for r in common if chance.random() < 0.3] + [r for r in rare if chance.random() < 0.05]
        (traces / f"{number:04}.info").write_text(
            tracefile(linked, chance), encoding="ascii", errors="replace"
        )
    print(f"{len(records)} source files, {wanted} tracefiles in {traces}")


main()
