#!/usr/bin/env python3
"""What does `coz bias` say about programs of Debian, and does it say the same under another seed?

Prints a row for each program and seed: the share of the variance that each factor has, with its interval, in
per cent, and the verdict. Needs a quiet machine, and mawk, dash, lua5.4 and gzip.
"""

from __future__ import annotations

import argparse

from bias_kernels import BUILD, study

MAWK = 'BEGIN { for (i = 0; i < 200000; ++i) count[i % 97] += length(i "x"); print count[5] }'
DASH = "i=0; while [ $i -lt 40000 ]; do i=$((i + 1)); done"
LUA = "local t = {} for i = 1, 400000 do t[i % 1000] = i * i end print(#t)"
KEYS = ("share", "low", "high")
#: Each runs for 20 to 50 ms at 4 GHz.
COMMANDS = {
    "mawk": ["mawk", MAWK],
    "dash": ["dash", "-c", DASH],
    "lua5.4": ["lua5.4", "-e", LUA],
    "gzip": ["gzip", "-c", str(BUILD / "numbers")],
}


def main() -> None:
    """Print the table, and for which programs the verdict is the same under all seeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--duration", default="150s")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--only", choices=COMMANDS, nargs="+", default=list(COMMANDS))
    options = parser.parse_args()
    BUILD.mkdir(parents=True, exist_ok=True)
    numbers = (b"%d %x\n" % (number, number * 16807 % 65537) for number in range(1_000_000))
    (BUILD / "numbers").write_bytes(b"".join(numbers)[:1_500_000])
    for name in options.only:
        verdicts = set()
        for seed in options.seeds:
            data = study(COMMANDS[name], options.duration, seed)
            shares = [
                f"{each['factor']} " + "{:.0f} [{:.0f}, {:.0f}]".format(*(100 * each[key] for key in KEYS))
                for each in data["factors"]
            ]
            places = [f"{each['factor']} {each['residue']}" for each in data["aliasing"]]
            print(name, seed, *shares, data["verdict"], *data["randomise"], *places, sep=" | ", flush=True)
            verdicts.add(data["verdict"])
        print(name, "same verdict" if len(verdicts) == 1 else "DIFFERENT VERDICTS", sep=" | ", flush=True)


if __name__ == "__main__":
    main()
