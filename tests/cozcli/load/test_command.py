"""`coz amp`: its command line, and the sweep with runs that are made up."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cozcli.cli import main, parse
from cozcli.errors import CozError
from cozcli.load import command as amp
from cozcli.load import one_run, scalability
from cozcli.profile.profile import load_profile

MS = 1_000_000


def test_levels_have_base_load_among_them() -> None:
    assert parse(["amp", "--levels", "50,10%"]).levels == (0, 10, 50)
    assert parse(["amp"]).levels == tuple(range(0, 100, 10))


@pytest.mark.parametrize("text", ["100", "x", "", "-5", "10,,20"])
def test_what_is_no_level_is_refused(text: str) -> None:
    with pytest.raises(SystemExit):
        parse(["amp", "--levels", text])


def test_options_of_run_are_passed_on_and_others_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert parse(["amp", "--end-to-end", "--progress", "f"]).run_options == [
        "--end-to-end",
        "--progress",
        "f",
    ]
    with pytest.raises(SystemExit):
        parse(["amp", "--never-heard-of"])
    with pytest.raises(SystemExit):
        parse(["amp", "--arrival-speedup", "1ms"])
    assert "is not for a sweep" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        parse(["amp", "--speedups", "25,50"])
    assert "--speedups is for experiments on lines: add --lines" in capsys.readouterr().err
    assert parse(["amp", "--lines", "--speedups", "25,50"]).run_options == ["--speedups", "25,50"]


def test_no_program_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["amp"]) == 2
    assert "no program" in capsys.readouterr().err


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("5m", 300), ("1h", 3600), ("7", 7)])
def test_a_budget(text: str, seconds: float) -> None:
    assert parse(["amp", "--budget", text]).budget == seconds


class Runs:
    """In place of `coz run`: appends what a program that can take everything would leave.

    receivers: threads whose requests come on a schedule from outside, so that pauses for those of the others
    bring them forward, too.
    """

    def __init__(self, arrivals: int = 500, receivers: int = 1) -> None:
        self.speedups: list[int] = []
        self.arrivals = arrivals
        self.receivers = receivers

    def __call__(self, command: list[str], profile: str) -> subprocess.CompletedProcess[str]:
        delay = int(command[command.index("--arrival-speedup") + 1].removesuffix("ns"))
        self.speedups.append(delay)
        records = [{"type": "run", "format": "coz-profile", "version": 1}]
        records += [self.window(delay, number) for number in range(8)]
        with Path(profile).open("a") as file:
            file.writelines(json.dumps(record) + "\n" for record in records)
        return subprocess.CompletedProcess(command, 0, stderr="coz: 8 experiments\n")

    def window(self, delay: int, number: int) -> dict[str, Any]:
        count = self.arrivals
        between = max(4 * MS - (self.receivers - 1) * delay, 0)
        charge = min(delay, between)
        return {
            "type": "experiment",
            "kind": "none",
            "location": "none",
            "speedup": 0,
            "effective_duration": 1000 * MS,
            "arrival_speedup": delay,
            "arrivals": {"count": count, "clipped": 0, "charged": count * charge, "intervals": count,
                         "between": count * between},
            "points": [{"name": "done", "kind": "throughput", "visits": 100,
                        "elapsed": 100 * (between - charge) + 100 * number}],
        }  # fmt: skip


def test_each_level_is_run_until_intervals_are_tight(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = Runs()
    monkeypatch.setattr(amp, "run_once", runs)
    amp.Sweep(str(tmp_path / "amp.coz"), (0, 25, 50), 1e9, ([], ["prog"])).run()
    assert runs.speedups[0] == 0
    assert sorted(runs.speedups[1:3]) == [1 * MS, 2 * MS]
    assert sorted(runs.speedups[3:]) == [0, 1 * MS, 2 * MS]


@pytest.mark.parametrize("receivers", [2, 12])
def test_levels_are_adapted_where_several_threads_receive(
    receivers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = Runs(receivers=receivers)
    monkeypatch.setattr(amp, "run_once", runs)
    profile = tmp_path / "amp.coz"
    amp.Sweep(str(profile), (0, 25, 50), 1e9, ([], ["prog"])).run()
    tried = 2 if receivers == 2 else 3  # a first level that cannot be reached is followed by a quarter of it
    assert runs.speedups[:tried] == [0, MS, MS // 4][:tried]
    adapted = [round(level * MS / receivers) for level in range(3)]
    assert sorted(runs.speedups[tried : tried + 2]) == adapted[1:]
    assert sorted(runs.speedups[tried + 2 :]) == adapted
    assert f"{receivers}.0 times as high as planned" in capsys.readouterr().err
    (result,) = scalability.measure_scalability(load_profile([str(profile)]).runs)
    loads = {point.arrival_speedup: point.load for point in result.points}
    assert [loads[speedup] for speedup in adapted] == pytest.approx([0, 0.25, 0.5], abs=0.01)


def test_a_budget_that_is_used_up_ends_the_sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = Runs()
    monkeypatch.setattr(amp, "run_once", runs)
    amp.Sweep(str(tmp_path / "amp.coz"), (0, 25), 0.0, ([], ["prog"])).run()
    assert runs.speedups == [0]


def test_a_program_without_arrivals_is_not_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = Runs(arrivals=0)
    monkeypatch.setattr(amp, "run_once", runs)
    with pytest.raises(CozError, match="no requests arrived"):
        amp.Sweep(str(tmp_path / "amp.coz"), (0, 25), 1e9, ([], ["prog"])).run()
    assert runs.speedups == [0]


def test_ctrl_z_cannot_stop_a_run_before_we_can_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is blocked while a run is started; in the run itself, and in us, it is as it was before."""
    program = tmp_path / "cozcli/__main__.py"
    program.parent.mkdir()
    (program.parent / "__init__.py").touch()
    shown = "sys.argv[1:], signal.pthread_sigmask(signal.SIG_BLOCK, []), os.environ.get('PYTHONPATH')"
    program.write_text(f"import os, signal, sys; print('coz:', {shown}, file=sys.stderr)")
    monkeypatch.setenv("PYTHONPATH", "of the program")
    monkeypatch.setattr(one_run, "_ROOT", tmp_path)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, set())
    inherited = []
    start = subprocess.Popen

    def started(*arguments: Any, **options: Any) -> subprocess.Popen[str]:
        inherited.append(signal.pthread_sigmask(signal.SIG_BLOCK, set()) - before)
        return start(*arguments, **options)

    monkeypatch.setattr(subprocess, "Popen", started)
    done = one_run.run_once(["---", "a program"], "a profile")
    assert inherited == [{signal.SIGTSTP}]
    assert done.stderr == f"coz: {['run', '-o', 'a profile', '---', 'a program']} {before} of the program\n"
    assert signal.pthread_sigmask(signal.SIG_BLOCK, set()) == before


@pytest.mark.parametrize("is_deaf", [False, True], ids=["ends", "has to be killed"])
def test_an_interrupted_run_is_asked_to_end_before_it_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_deaf: bool
) -> None:
    program = tmp_path / "cozcli/__main__.py"
    program.parent.mkdir()
    (program.parent / "__init__.py").touch()
    seen = tmp_path / "seen"
    ending = "" if is_deaf else "; sys.exit()"
    program.write_text(
        "import os, signal, sys, time\n"
        "def take(number, frame):\n"
        f"    with open({str(seen)!r}, 'a') as file: print(number, file=file)\n"
        f"    time.sleep(0){ending}\n"
        "signal.signal(signal.SIGINT, take); signal.signal(signal.SIGTERM, take)\n"
        f"os.kill({os.getpid()}, signal.SIGUSR1)\n"
        "while True: time.sleep(1)\n"
    )
    monkeypatch.setattr(one_run, "_ROOT", tmp_path)
    monkeypatch.setattr(
        one_run, "_ENDINGS", ((None, 0.1), (signal.SIGINT, 5 - 4 * is_deaf), (signal.SIGTERM, 1.0))
    )
    started: list[subprocess.Popen[str]] = []
    start = subprocess.Popen
    monkeypatch.setattr(
        subprocess, "Popen", lambda *words, **more: started.append(start(*words, **more)) or started[0]
    )
    before = signal.signal(signal.SIGUSR1, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            one_run.run_once(["---", "a program"], "a profile")
    finally:
        signal.signal(signal.SIGUSR1, before)
    asked = [signal.SIGINT, signal.SIGTERM] if is_deaf else [signal.SIGINT]
    assert seen.read_text().split() == [str(int(number)) for number in asked]
    assert started[0].returncode == (-signal.SIGKILL if is_deaf else 0)


def test_an_interrupted_sweep_without_runs_shows_no_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> subprocess.CompletedProcess[str]:
        raise KeyboardInterrupt

    profile = str(tmp_path / "amp.coz")
    Runs()(["--arrival-speedup", "0ns"], profile)
    monkeypatch.setattr(amp, "run_once", interrupted)
    assert main(["amp", "-o", profile, "---", "prog"]) == 130
    assert main(["amp", "-o", str(tmp_path / "new.coz"), "---", "prog"]) == 130
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == "coz: stopped before anything was measured\n" * 2


def test_a_profile_has_one_name(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["amp", "-o", "amp.%p.coz", "---", "prog"])
    assert "leave it out" in capsys.readouterr().err


def failing(status: int, errors: str = "", adds: str = "") -> Any:
    """In place of `coz run`: ends with a status, after it has said `errors` and added to the profile."""

    def run_once(command: list[str], profile: str) -> subprocess.CompletedProcess[str]:
        with Path(profile).open("a") as file:
            file.write(adds)
        return subprocess.CompletedProcess(command, status, stderr=errors)

    return run_once


def test_a_program_that_cannot_start_is_not_swept_onto_an_earlier_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    profile = str(tmp_path / "amp.coz")
    Runs()(["--arrival-speedup", "0ns"], profile)
    monkeypatch.setattr(amp, "run_once", failing(127, "coz: error: ./nope: no such program.\n"))
    assert amp.Sweep(profile, (0, 25), 1e9, ([], ["./nope"])).run() == 127
    assert capsys.readouterr().err == "coz: error: ./nope: no such program.\n"


def test_a_first_run_that_measures_nothing_ends_the_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(amp, "run_once", failing(-11))
    with pytest.raises(CozError, match="status 139 and measured nothing") as error:
        amp.Sweep(str(tmp_path / "amp.coz"), (0, 25), 1e9, ([], ["prog"])).run()
    assert error.value.status == 139


def test_runs_that_fail_again_and_again_end_the_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = Runs()

    def run_once(command: list[str], profile: str) -> subprocess.CompletedProcess[str]:
        done = runs(command, profile)
        return subprocess.CompletedProcess(command, 3 if len(runs.speedups) > 2 else 0, stderr=done.stderr)

    monkeypatch.setattr(amp, "run_once", run_once)
    monkeypatch.setattr(amp.Sweep, "_is_tight", lambda _: False)
    with pytest.raises(CozError, match="3 runs at base load failed") as error:
        amp.Sweep(str(tmp_path / "amp.coz"), (0,), 1e9, ([], ["prog"])).run()
    assert (error.value.status, len(runs.speedups)) == (3, 5)


def test_a_program_that_always_fails_ends_the_sweep_soon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = Runs()

    def run_once(command: list[str], profile: str) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 3, stderr=runs(command, profile).stderr)

    monkeypatch.setattr(amp, "run_once", run_once)
    with pytest.raises(CozError, match="3 runs failed") as error:
        amp.Sweep(str(tmp_path / "amp.coz"), (0, 25, 50), 1e9, ([], ["prog"])).run()
    assert (error.value.status, len(runs.speedups)) == (3, 3)


def test_a_load_that_the_program_does_not_stand_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = Runs()

    def run_once(command: list[str], profile: str) -> subprocess.CompletedProcess[str]:
        done = runs(command, profile)
        return subprocess.CompletedProcess(
            command, 139 if runs.speedups[-1] == 2 * MS else 0, stderr=done.stderr
        )

    monkeypatch.setattr(amp, "run_once", run_once)
    monkeypatch.setattr(amp.Sweep, "_is_tight", lambda _: len(runs.speedups) > 20)
    sweep = amp.Sweep(str(tmp_path / "amp.coz"), (0, 25, 50), 1e9, ([], ["prog"]))
    assert sweep.run() == 0
    assert set(sweep._planned) == {0, 25}  # whose intervals must be tight
    assert runs.speedups.count(2 * MS) == amp.MAX_FAILURES
    told = capsys.readouterr().err
    assert "a run at a load of 50 % ended with status 139" in told
    assert "3 runs at a load of 50 % failed" in told


def test_a_second_sweep_has_the_levels_of_the_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Base load is measured anew, and differs by chance."""
    profile = tmp_path / "amp.coz"
    first = Runs()
    monkeypatch.setattr(amp, "run_once", first)
    amp.Sweep(str(profile), (0, 25, 50), 1e9, ([], ["prog"])).run()
    half = profile.read_text()
    monkeypatch.setattr(amp.Sweep, "_interval", lambda _: 4.03 * MS)
    second = Runs()
    monkeypatch.setattr(amp, "run_once", second)
    amp.Sweep(str(profile), (0, 25, 50), 1e9, ([], ["prog"])).run()
    assert set(second.speedups) == set(first.speedups)
    assert profile.read_text().startswith(half)


def test_the_time_between_arrivals_is_that_of_this_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Earlier runs in the file may be another program's."""
    profile = tmp_path / "amp.coz"
    other = Runs(arrivals=1000)
    other(["--arrival-speedup", "0ns"], str(profile))
    profile.write_text(profile.read_text().replace(f'"between": {4000 * MS}', f'"between": {8 * MS}'))
    runs = Runs()
    monkeypatch.setattr(amp, "run_once", runs)
    amp.Sweep(str(profile), (0, 25), 1e9, ([], ["prog"])).run()
    assert runs.speedups[:2] == [0, MS]


def test_levels_of_an_earlier_sweep_need_not_be_tight(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = str(tmp_path / "amp.coz")
    monkeypatch.setattr(amp, "run_once", Runs())
    sweep = amp.Sweep(profile, (0, 25), 1e9, ([], ["prog"]))
    sweep.run()
    sizes = []
    monkeypatch.setattr(scalability, "measure_scalability", lambda runs: sizes.append(len(runs)) or ())
    later = amp.Sweep(profile, (0, 25), 1e9, ([], ["prog"]))
    Runs()(["--arrival-speedup", "0ns"], profile)
    later._is_tight()
    sweep._is_tight()
    assert sizes == [1, 5]


def test_a_warning_with_other_figures_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = Runs()
    windows = ("1 window", "20 in 419 ms"), ("2 windows", "7 in 1.2 s"), ("2 windows", "7 in 1.2 s")

    def run_once(command: list[str], profile: str) -> subprocess.CompletedProcess[str]:
        number, visits = windows[len(runs.speedups) % 3]
        line = f"a.c:{4 + len(runs.speedups) // 3}"
        runs(command, profile)
        errors = f"coz: warning: {line}: {number} held too few visits ({visits}).\n"
        return subprocess.CompletedProcess(command, 0, stderr=errors)

    monkeypatch.setattr(amp, "run_once", run_once)
    amp.Sweep(str(tmp_path / "amp.coz"), (0, 25, 50), 1e9, ([], ["prog"])).run()
    assert capsys.readouterr().err.splitlines() == [
        f"coz: warning: a.c:{line}: 1 window held too few visits (20 in 419 ms)." for line in (4, 5)
    ]


def test_a_process_that_outlives_a_run_does_not_hold_up_the_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It keeps the standard error of the run open."""
    pid = tmp_path / "pid"
    run = (
        "import subprocess, sys; left = subprocess.Popen(['sleep', '60']); "
        f"open({str(pid)!r}, 'w').write(str(left.pid)); "
        "print('50 %\\rcoz: error: x', file=sys.stderr); print('other', file=sys.stderr)"
    )
    monkeypatch.setattr(one_run, "_RUN", (sys.executable, "-c", run))
    done = one_run.run_once([], str(tmp_path / "p.coz"))
    assert (done.returncode, done.stderr) == (0, "coz: error: x\n")
    os.kill(int(pid.read_text()), signal.SIGTERM)
