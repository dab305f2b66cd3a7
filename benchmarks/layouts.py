#!/usr/bin/env python3
"""Are times normal, and what do layouts cost? STABILIZER's Table 1 and Figure 6, on programs of Debian.

    layouts.py FOLDER [--runs N] [--interval MS] [--seed N]

FOLDER: where examples/hardening/fetch.py has put the sources. Runs of a program take turns: with the one
layout that the linker chose; with functions moved at the start; moved again every MS; and with heap and
stacks moved, too. Runs take 30 to 80 ms, so that making layouts is much of what moving again costs.

Printed are, for each way, the p-value of Shapiro and Wilk's test of the logarithms of processor time, their
standard deviation, and the processor time against the first way, at the median of turns; at last how many of
the programs are not normal at 5 %, and how many differ in variance from the first way (Brown and Forsythe).
"""

import argparse
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
from scipy import stats

from cozcli.commands.options import natural
from cozcli.compare.design import Layout
from cozcli.compare.function_layouts import FunctionLayouts
from cozcli.compare.layouts import Arranger
from cozcli.compare.memory_layouts import memory_layouts
from cozcli.compare.suite.description import read_suite
from cozcli.compare.trial import Side, run
from cozcli.launch.layout_plan import plan_layout

WAYS = ("one layout", "moved", "moved again", "all moved")
SIGNIFICANT = 0.05


def sides_of(program: str, command: list[str], interval: int) -> list[Side]:
    """The ways to run a program, in the order of WAYS."""
    once, again = (FunctionLayouts(plan_layout(Path(command[0]), each)) for each in (0, interval))
    memory = memory_layouts("shuffle", True)
    ways: list[list[Arranger]] = [[], [once], [again], [again, *([memory] if memory else [])]]
    return [Side(program, command, arrangers=way) for way in ways]


def measure(sides: list[Side], runs: int, generator: random.Random) -> np.ndarray:
    """Logarithms of processor time, (ways, runs). A first turn does not count."""
    times = np.zeros((len(sides), runs + 1))
    for turn in range(runs + 1):
        order = list(range(len(sides)))
        generator.shuffle(order)
        for way in order:
            layout = Layout(0, seed=generator.getrandbits(63)) if sides[way].arrangers else None
            times[way, turn] = np.log(run(sides[way], layout).cpu)
    return times[:, 1:]


def build(folder: Path) -> dict[str, list[str]]:
    """The commands of the suite's programs, built as its baseline says."""
    commands = {}
    for program in read_suite(str(folder / "hardening.toml")).programs:
        cell = program.cells[0]
        subprocess.run(cell.build, shell=True, cwd=folder, check=True)
        first, *arguments = cell.command
        files = [str(folder / each) if (folder / each).is_file() else each for each in arguments]
        commands[program.name] = [str(folder / first), *files]
    return commands


def main() -> int:
    """The status of the process."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=natural, default=30, help="of each program in each way (%(default)s)")
    parser.add_argument("--interval", type=natural, default=20, metavar="MS", help="%(default)s ms")
    parser.add_argument("--seed", type=int, default=1, help="of orders and layouts (%(default)s)")
    options = parser.parse_args()
    folder = options.folder.resolve()
    generator = random.Random(options.seed)
    os.environ.setdefault("LC_ALL", "C")
    print(f"{'':12}" + "".join(f"{way:>25}" for way in WAYS))
    print(f"{'program':12}" + f"{'p':>9}{'sd':>8}{'time':>8}" * len(WAYS))
    normal, spread, costs = [], [], []
    for name, command in build(folder).items():
        times = measure(sides_of(name, command, options.interval), options.runs, generator)
        p = [float(stats.shapiro(each).pvalue) for each in times]
        cost = np.expm1(np.median(times - times[0], axis=1))
        normal.append(p)
        spread.append([float(stats.levene(times[0], each, center="median").pvalue) for each in times])
        costs.append(cost)
        cells = [
            f"{p[i]:9.3f}{100 * times[i].std(ddof=1):7.1f}%{100 * cost[i]:+7.1f}%" for i in range(len(WAYS))
        ]
        print(f"{name:12}" + "".join(cells), flush=True)
    print(f"{'median':12}" + "".join(f"{'':17}{100 * each:+7.1f}%" for each in np.median(costs, axis=0)))
    for what, values in (("not normal", normal), ("other variance", spread)):
        found = (np.array(values) < SIGNIFICANT).sum(axis=0)
        print(f"{what:15}" + "".join(f"{f'{each} of {len(values)}':>25}" for each in found)[3:])
    return 0


if __name__ == "__main__":
    sys.exit(main())
