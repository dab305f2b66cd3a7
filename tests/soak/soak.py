"""A server under load and experiments for as long as is wanted: `soak.py SECONDS` (docs/real_programs.md).

Two redis-servers, one plain and one under `coz run --stop-after SECONDS`, get the same bursts of requests
in turns. Prints the profiled one's memory and speed over time; then, when profiling has ended, the speed
of both in turns. Status 1 when memory grew by 1 MB or more after the first minute (or fifth of the time),
or speed is more than 3 % off.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
IN_PLACE = ROOT / "tests/real_programs/in_place.py"
REQUESTS = 20_000  # in a burst
ROUNDS = 30  # of bursts in turns, after the end of profiling
MAX_GROWTH_KB = 1000
MAX_LOSS = 0.03


class Server:
    """A redis-server without persistence, on a socket of its own; `before` comes before its command."""

    def __init__(self, folder: Path, name: str, before: list[str]) -> None:
        self.socket = folder / f"{name}.sock"
        options = ["--port", "0", "--unixsocket", str(self.socket), "--save", "", "--daemonize", "no"]
        server = shutil.which("redis-server")
        if server is None or shutil.which("redis-benchmark") is None:
            sys.exit(
                "soak: redis-server or redis-benchmark is missing; on Debian: apt-get install redis-server"
            )
        with (folder / f"{name}.log").open("w") as log:
            self.process = subprocess.Popen([*before, server, *options], stdout=log, stderr=log, cwd=folder)
        deadline = time.monotonic() + 60
        while not self.socket.exists():
            if self.process.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"soak: the server did not start: {(folder / f'{name}.log').read_text()}")
            time.sleep(0.1)

    def burst(self) -> float:
        """Requests a second of processor time of the server; other load on the machine counts less so."""
        before = self.processor_time()
        subprocess.run(
            [
                "redis-benchmark",
                "-s",
                str(self.socket),
                "-q",
                "-t",
                "set,get",
                "-n",
                str(REQUESTS),
                "-c",
                "8",
                "-r",
                "999",
            ],
            stdout=subprocess.DEVNULL,
            check=True,
        )
        return 2 * REQUESTS / (self.processor_time() - before)

    def processor_time(self) -> float:
        """Of all its threads, in seconds, from the scheduler's nanoseconds."""
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9

    def rss(self) -> int:
        """In kB."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))

    def end(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=30)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("seconds", type=float, help="how long experiments are made")
    seconds = parser.parse_args().seconds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        coz = [
            "/usr/bin/python3",
            str(IN_PLACE),
            "-o",
            str(folder / "soak.coz"),
            "--granularity",
            "function",
            "--progress",
            "processCommand",
            "--stop-after",
            f"{seconds:.0f}s",
            "---",
        ]
        plain, profiled = Server(folder, "plain", []), Server(folder, "profiled", coz)
        try:
            growth = _under_experiments(profiled, seconds)
            experiments = (folder / "soak.coz").read_text().count('"type":"experiment"')
            ratio = _in_turns(plain, profiled)
        finally:
            plain.end()
            profiled.end()
    print(
        f"experiments {experiments}; growth {growth} kB; requests per second of processor time, to plain: {ratio:.3f}"  # noqa: E501
    )
    return 0 if experiments and growth < MAX_GROWTH_KB and abs(1 - ratio) <= MAX_LOSS else 1


def _under_experiments(server: Server, seconds: float) -> int:
    """How much the memory grew, in kB, after the first minute."""
    begin = time.monotonic()
    early = min(60.0, seconds / 5)
    first, next_line = None, 0.0
    print("   s   RSS kB   requests per s of processor time")
    while (passed := time.monotonic() - begin) < seconds:
        speed = server.burst()
        rss = server.rss()
        if first is None and passed >= early:
            first = rss
        if passed >= next_line:
            print(f"{passed:5.0f} {rss:8} {speed:8.0f}", flush=True)
            next_line = passed + seconds / 20
        time.sleep(0.5)
    time.sleep(2)  # the profiling began a little later than the clock here
    return server.rss() - (first if first is not None else server.rss())


def _in_turns(plain: Server, profiled: Server) -> float:
    ratios = []
    for number in range(ROUNDS):
        order = (plain, profiled) if number % 2 else (profiled, plain)
        speeds = {server: server.burst() for server in order}
        ratios.append(speeds[profiled] / speeds[plain])
    quarters = statistics.quantiles(ratios, n=4)
    print(
        f"after the end, profiled to plain: median {quarters[1]:.3f}, quartiles {quarters[0]:.3f} to {quarters[2]:.3f}"  # noqa: E501
    )
    return statistics.median(ratios)


if __name__ == "__main__":
    sys.exit(main())
