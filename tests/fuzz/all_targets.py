"""`make fuzz`: all targets side by side, for as long as it is told, at low priority.

Status 1 if there are findings.

What each found before is tried first. Inputs that reach new code are kept in build/fuzz/corpus, so that the
next run goes on from there; what fails, in build/fuzz/findings (tests/fuzz/README.md says what to do then).
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
from pathlib import Path

from seeds import make_seeds

ROOT = Path(__file__).resolve().parents[2]
FUZZ = ROOT / "build" / "fuzz"
FINDINGS = FUZZ / "findings"
#: Bytes of an input; seconds that one may take, under sanitizers on a busy machine; megabytes.
LONGEST, PATIENCE, MEMORY = 65536, 120, 4096


def command(name: str, seeds: Path, seconds: int, seed: int) -> list[str]:
    """How a native target is run: by libFuzzer if it was built, else by our driver."""
    guided = FUZZ / f"{name}_guided"
    corpus = FUZZ / "corpus" / name
    corpus.mkdir(parents=True, exist_ok=True)
    regressions = str(Path(__file__).parent / "regressions" / name)
    options = [f"-max_total_time={seconds}", f"-seed={seed}", f"-max_len={LONGEST}"]
    options.append(f"-artifact_prefix={FINDINGS}/{name}-")
    if not guided.exists():
        return [str(FUZZ / f"{name}_driven"), *options, str(seeds), regressions]
    options += [f"-timeout={PATIENCE}", f"-rss_limit_mb={MEMORY}", "-detect_leaks=0", "-print_final_stats=1"]
    return [str(guided), *options, str(corpus), str(seeds), regressions]


def main() -> int:
    """Status 1 if there are findings."""
    parser = argparse.ArgumentParser(description="Run all fuzz targets side by side.")
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1, 2**31))
    options = parser.parse_args()
    FINDINGS.mkdir(parents=True, exist_ok=True)
    before = set(FINDINGS.iterdir())
    seeds = make_seeds(FUZZ / "seeds")
    commands = {name: command(name, path, options.seconds, options.seed) for name, path in seeds.items()}
    script = str(Path(__file__).with_name("profiles.py"))
    commands["profiles"] = [sys.executable, script, f"--seconds={options.seconds}", f"--seed={options.seed}"]
    running = {}
    for name, words in commands.items():
        with (FUZZ / f"{name}.log").open("wb") as log:
            running[name] = subprocess.Popen(
                words, stdout=log, stderr=subprocess.STDOUT, preexec_fn=lambda: os.nice(19)
            )
    failed = [name for name, process in running.items() if process.wait() != 0]
    for name in commands:
        print(f"--- {name}: {'FINDINGS' if name in failed else 'nothing found'}, see {FUZZ / name}.log")
        print("\n".join((FUZZ / f"{name}.log").read_text(errors="replace").splitlines()[-8:]))
    for path in sorted(set(FINDINGS.iterdir()) - before):
        print(f"kept: {path}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
