"""Alignments as a program that compares genes reads them: `make_alignments.py SEQUENCES SITES COPIES FILE`.

Each is a random tree: one of the sequences that there are splits into two, and both change a little. They are
written one after the other, in PHYLIP's format.
"""

import random
import sys
from collections.abc import Iterator
from pathlib import Path


def changed(sequence: str, rate: float, rng: random.Random) -> str:
    """The sequence with each site drawn anew at this rate."""
    return "".join(rng.choice("ACGT") if rng.random() < rate else site for site in sequence)


def alignment(number: int, sites: int, rng: random.Random) -> Iterator[str]:
    """The lines of one alignment."""
    sequences = ["".join(rng.choice("ACGT") for _ in range(sites))]
    while len(sequences) < number:
        parent = sequences.pop(rng.randrange(len(sequences)))
        sequences += [changed(parent, rng.uniform(0.01, 0.1), rng) for _ in range(2)]
    yield f" {number} {sites}\n"
    for index, sequence in enumerate(sequences[:number]):
        yield f"s{index:<9d}{sequence}\n"


def main() -> None:
    """The command line."""
    number, sites, copies = map(int, sys.argv[1:4])
    rng = random.Random(1)
    with Path(sys.argv[4]).open("w") as out:
        for _ in range(copies):
            out.writelines(alignment(number, sites, rng))


if __name__ == "__main__":
    main()
