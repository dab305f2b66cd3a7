"""`coz compare` as a command: what it runs, refuses and prints. Programs are tiny shell scripts."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from argparse import ArgumentTypeError

import pytest
from synthetic import Line, Model, to_bytes

from cozcli import cli
from cozcli.compare import command, machine, messages, sides
from cozcli.compare import options as comparison_options
from cozcli.compare.collect import Plan, collect
from cozcli.compare.design import Layout, blocks
from cozcli.compare.gate import gate
from cozcli.compare.metrics import METRICS
from cozcli.compare.result import Estimate
from cozcli.compare.trial import PADDING, Side, Trial, environment_of, run
from cozcli.errors import CozError, Problem
from cozcli.launch.runtime_library import preload

if len(os.sched_getaffinity(0)) < 2:
    pytest.skip("coz compare wants two processors", allow_module_level=True)


@pytest.fixture
def script(tmp_path):
    """script(NAME, LINE...): an executable script of the shell."""

    def write(name, *lines):
        path = tmp_path / name
        path.write_text("\n".join(("#!/bin/sh", *lines)) + "\n")
        path.chmod(0o755)
        return str(path)

    return write


def compare(*arguments):
    """The command's status."""
    return cli.main(["compare", *arguments])


def test_both_forms_of_the_command_line():
    for words in (["sh", "-c", "x", "---", "vs", "env", "-i"], ["---", "sh", "-c", "x", "---", "env", "-i"]):
        own, program = cli.separate_program(["compare", "-n", "7", *words])
        options = cli.parse(own)
        a, b = sides.sides_of(options.a, program)
        assert (a.command[1:], b.command[1:], options.pairs) == (["-c", "x"], ["-i"], 7)
        assert os.path.isabs(a.command[0])


def test_two_hyphens_among_the_arguments_are_arguments():
    words = ["-n", "7", "sh", "-c", "x", "--", "y", "---", "vs", "env", "--", "z", "---"]
    for given in (words, ["-n", "7", "--", *words[2:]], ["---", *words[2:]]):
        own, program = cli.separate_program(["compare", *given])
        a, b = sides.sides_of(cli.parse(own).a, program)
        assert a.command[1:] == ["-c", "x", "--", "y"]
        assert b.command[1:] == ["--", "z", "---"]
    for before in (["bias", "--duration", "9s"], ["layout", "check", "--seeds", "1"]):
        for given, found in (
            (["p", "--", "x"], ["p", "--", "x"]),
            (["--", "p", "--", "x"], ["p", "--", "x"]),
            (["---", "p", "--", "---", "x"], ["p", "--", "---", "x"]),
            (["p", "---", "--", "x"], ["p", "---", "--", "x"]),
            ([], []),
        ):
            own, program = cli.separate_program([*before, *given])
            options = cli.parse(own)
            words = options.own if before[0] == "bias" else options.command_line
            assert sides.one_program(words, program) == found


@pytest.mark.parametrize("arguments", [[], ["true"], ["true", "---"], ["---", "true"], ["---", "vs", "true"]])
def test_one_program_is_not_enough(arguments, capsys):
    assert compare(*arguments) == 2
    assert "--- vs ./b" in capsys.readouterr().err


def test_missing_programs_and_inputs(capsys):
    assert compare("true", "---", "vs", "./missing") == 127
    assert "./missing is not an executable file" in capsys.readouterr().err
    assert compare("--input", "missing.txt", "true", "---", "vs", "true") == 2
    assert "missing.txt cannot be read" in capsys.readouterr().err


def test_an_input_that_can_be_read_once_is_refused(tmp_path, capsys):
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)
    for words in (
        ["compare", "--input", pipe, "true", "---", "vs", "true"],
        ["bias", "--input", pipe, "true"],
    ):
        assert cli.main(words) == 2
        assert "is a pipe or a socket" in capsys.readouterr().err
    for path, reason in ((pipe, "is a pipe"), ("missing.txt", "missing.txt cannot be read")):
        assert cli.main(["layout", "check", "--input", path, "true"]) == 2
        assert reason in capsys.readouterr().err


def test_what_may_not_be_executed_can_be_made_so(script, capsys):
    plain = script("plain", "exit 0")
    os.chmod(plain, 0o644)
    for arguments in (("compare", "true", "---", "vs", plain), ("bias", plain), ("layout", "check", plain)):
        assert cli.main(list(arguments)) == 126, arguments
        assert f"chmod +x {plain}" in capsys.readouterr().err


def test_a_metric_that_is_none_names_those_of_points_too(capsys):
    with pytest.raises(SystemExit):
        compare("--metric", "foo", "true", "---", "vs", "true")
    assert "progress:NAME, latency:NAME" in capsys.readouterr().err


def test_one_pair_was_replaced_and_two_were():
    assert "1 pair in which" in messages.disturbed(1, 0, 0.1).text
    assert "was replaced by another" in messages.disturbed(1, 0, 0.1).text
    assert "were replaced by others" in messages.disturbed(2, 0, 0.1).text


def test_failing_runs_are_refused_with_their_last_words(script, capsys):
    broken = script("broken", "echo no such table >&2", "exit 3")
    assert compare("true", "---", "vs", broken) == 2
    assert re.search(
        r"B \(.*broken\) ended with status 3; its last words: no such table", capsys.readouterr().err
    )
    assert compare("--", script("killed", "kill -9 $$"), "---", "true") == 2
    assert "was killed by SIGKILL" in capsys.readouterr().err
    assert compare("--", script("killed", "kill -40 $$"), "---", "true") == 2
    assert "was killed by signal 40" in capsys.readouterr().err


def test_other_output_is_refused(script, capsys):
    one, other, random_ = script("one", "echo 1"), script("two", "echo 2"), script("random", "echo $$")
    assert compare("--check-output", "-n", "6", one, "---", "vs", other) == 2
    assert "A and B did not print the same" in capsys.readouterr().err
    assert compare("--check-output", "-n", "6", random_, "---", "vs", random_) == 2
    assert "depends on time or chance" in capsys.readouterr().err
    assert compare("--check-output", "-n", "6", one, "---", "vs", one) == 0


def test_twice_the_work_is_slower_in_every_form(script, capsys):
    work = "i=0; while [ $i -lt {} ]; do i=$((i+1)); done"
    a, b = script("a", work.format(10000)), script("b", work.format(40000))
    words = ["-n", "8", "--metric", "cpu", "--metric", "memory", "--control", a, "---", "vs", b]
    assert compare("--json", *words) == 0
    data = json.loads(capsys.readouterr().out)
    cpu, memory = data["comparisons"]
    assert set(cpu) >= {"metric", "ratio", "low", "high", "verdict", "pairs", "p"}
    assert set(cpu) >= {"probability_faster", "minimum_detectable"}
    assert (cpu["metric"], cpu["verdict"], cpu["pairs"]) == ("cpu", "slower", 8)
    assert 1 < cpu["low"] < cpu["ratio"] < cpu["high"]
    assert 0.7 < memory["ratio"] < 1.4  # places in memory make it vary by 5 %
    assert memory["a"] > 100_000
    assert len(data["controls"]) == 2
    assert len(data["blocks"]) == 8
    assert len(data["blocks"][0]) == 3
    assert compare(*words) == 0
    text = capsys.readouterr().out
    assert re.search(r"^B is slower: it takes [0-9.]+ % more processor time \[", text, re.MULTILINE)
    assert "processor time, A against A" in text
    assert compare("--markdown", "-n", "6", a, "---", "vs", b) == 0
    assert "| ---: |" in capsys.readouterr().out
    assert compare("--csv", "-n", "6", a, "---", "vs", b) == 0
    header, row = capsys.readouterr().out.splitlines()
    assert header.startswith("ratio,low,high,verdict,pairs,p,probability_faster,minimum_detectable,metric")
    assert ",slower,6," in row
    assert compare("-n", "6", "--gate", "slower > 5%", a, "---", "vs", b) == 1
    assert "coz: gate: slower > 5%" in capsys.readouterr().err
    assert compare("-n", "6", "--gate", "faster", a, "---", "vs", b) == 0


def estimate_of(verdict, low, high):
    """An estimate, as gates see it."""
    return Estimate((low + high) / 2, low, high, verdict, 30, 0.01, 0.5, 0.01)


def test_gates():
    slower = estimate_of("slower", 1.02, 1.04)
    assert gate("slower").fails(slower)
    assert gate("slower > 1%").fails(slower)
    assert gate("slower>1.5 %").fails(slower)
    assert not gate("slower > 3%").fails(slower)
    assert gate("not faster").fails(slower)
    assert not gate("faster > 1%").fails(slower)
    assert gate("faster > 1%").fails(estimate_of("faster", 0.95, 0.98))
    assert not gate("inconclusive").fails(slower)
    alike = estimate_of("equivalent", 1.002, 1.004)
    assert gate("slower > 0%").fails(alike)
    assert not gate("slower").fails(alike)
    assert not gate("slower > 0%").fails(estimate_of("slower", 0.999, 1.004))
    for wrong in ("", "slow", "equivalent > 1%", "not slower > 1%", "slower 1%"):
        with pytest.raises(ArgumentTypeError, match="is not a condition"):
            gate(wrong)


def test_blocks_are_complete_balanced_and_repeatable():
    def first(number, **options):
        return [turns for turns, _ in zip(blocks(2, 5, **options), range(number), strict=False)]

    orders = [tuple(turn.side for turn in turns) for turns in first(200)]
    assert set(orders) == {(0, 1), (1, 0)}
    assert orders.count((0, 1)) == 100
    assert len(set(orders[::2])) == 2
    assert first(200) == first(200)
    sizes = {turn.layout.environment for turns in first(200) for turn in turns}
    assert all(size % 16 == 0 for size in sizes)
    assert min(sizes) < 400
    assert max(sizes) > 7800
    assert {turn.layout for turns in first(9, layouts=False) for turn in turns} == {None}


def test_a_trial_has_its_own_environment_input_and_signals(script, tmp_path):
    seen = tmp_path / "seen"
    given = tmp_path / "given"
    given.write_text("input\n")
    line = f'grep SigIgn /proc/self/status > {seen}; echo "${{#{PADDING}}} $X $(cat)" >> {seen}'
    side = Side("A", [script("show", line)], {"X": "x"})
    (turn,) = next(blocks(1, 3))
    trial = run(side, turn.layout, str(given))
    ignored, rest = seen.read_text().splitlines()
    assert int(ignored.split()[1], 16) & (1 << signal.SIGPIPE - 1) == 0
    assert rest == f"{turn.layout.environment} x input"
    assert trial.wall > 0
    assert trial.cpu > 0
    run(side, None, str(given))
    assert seen.read_text().splitlines()[1] == "0 x input"


def test_arrangers_add_to_the_environment_of_runs_with_a_layout(script, tmp_path):
    class Mover:
        def arrange(self, environment, layout):
            environment["MOVED"] = str(layout.seed)
            preload(environment, tmp_path / "first.so")
            preload(environment, tmp_path / "second.so")

    side = Side("A", ["/bin/true"], {"LD_PRELOAD": "theirs.so"}, arrangers=[Mover()])
    found = environment_of(side, Layout(32, seed=7))
    assert found["MOVED"] == "7"
    assert found["LD_PRELOAD"] == f"theirs.so:{tmp_path}/first.so:{tmp_path}/second.so"
    assert environment_of(side, None)["LD_PRELOAD"] == "theirs.so"
    seeds = [turn.layout.seed for _, turns in zip(range(4), blocks(2, 1), strict=False) for turn in turns]
    assert len(set(seeds)) == 8


def test_builds_of_the_same_program_take_turns(script, tmp_path, capsys):
    seen = tmp_path / "seen"
    for seed in range(6):
        script(f"a.{seed}", f"echo {seed} >> {seen}")
    script("few.1", "true")
    words = ["-n", "20", f"{tmp_path}/a.{{seed}}", "---", "vs", "true"]
    assert compare("--json", *words) == 0
    assert json.loads(capsys.readouterr().out)["builds"] == [6, 1]
    assert len(set(seen.read_text().split())) > 3
    assert compare(f"{tmp_path}/few.{{seed}}", "---", "vs", "true") == 2
    said = capsys.readouterr().err
    assert "1 executable file matches" in said
    assert "--shuffle-sections" in said


def test_a_program_that_is_built_anew_meanwhile_is_no_longer_the_same(script, capsys):
    path = script("a", "true")
    script("a", f"echo >> {path}")
    assert compare("-n", "6", path, "---", "vs", "true") == 2
    assert "was written anew while it was compared" in capsys.readouterr().err


def test_prediction_stands_beside_the_measurement(tmp_path, capsys):
    profile = tmp_path / "a.coz"
    profile.write_bytes(to_bytes(Model([Line("/s/a.c:1", lambda s: 0.5 * s)]).records(60)))
    words = ["-n", "6", "true", "---", "vs", "true"]
    assert compare("--profile", str(profile), "--line", "a.c:1", *words) == 0
    text = capsys.readouterr().out
    assert re.search(r"^Predicted for .*a\.c:1: 25 % faster saves [0-9.-]+ % \[", text, re.MULTILINE)
    assert compare("--json", "--profile", str(profile), "--line", "a.c:1", *words) == 0
    prediction = json.loads(capsys.readouterr().out)["prediction"]
    assert [effect["speedup"] for effect in prediction["effects"]] == [0.25, 0.5, 0.75, 1.0]
    assert compare("--profile", str(profile), "--line", "b.c:1", *words) == 2
    assert "b.c:1" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        compare("--profile", str(profile), *words)
    assert "go together" in capsys.readouterr().err


def plan(**changes):
    """A plan for programs that do nothing."""
    usual = Plan(10, None, METRICS["cpu"], 1, layouts=True, warm_ups=0, stdin=os.devnull, check_output=False)
    return usual._replace(**changes)


@pytest.fixture
def trials(monkeypatch):
    """Simulated runs: what each takes is decided by a function of the side."""

    def simulate(take):
        monkeypatch.setattr("cozcli.compare.collect.run", lambda side, *_: take(side))

    return simulate


SIDES = [Side("A", ["a"]), Side("B", ["b"])]


def test_precision_ends_it_early_but_not_before_twelve_pairs(trials):
    generator = random.Random(1)
    trials(lambda side: Trial(generator.gauss(1, 0.01), 1, 1, 0))
    assert len(collect(SIDES, plan(pairs=100, precision=0.2), lambda _: None).blocks) == 12
    some = len(collect(SIDES, plan(pairs=100, precision=0.004), lambda _: None).blocks)
    assert 12 < some < 100
    assert len(collect(SIDES, plan(pairs=20, precision=0.0001), lambda _: None).blocks) == 20


def test_disturbed_pairs_are_replaced_but_not_for_ever(trials):
    generator = random.Random(1)
    trials(lambda side: Trial(1, 1, 1, 0.2 if generator.random() < 0.1 else 0))
    some = collect(SIDES, plan(pairs=40), lambda _: None)
    assert 0 < some.replaced < 20
    assert (len(some.blocks), some.disturbed) == (40, 0)
    trials(lambda side: Trial(1, 1, 1, 0.2))
    always = collect(SIDES, plan(pairs=10), lambda _: None)
    assert (always.replaced, len(always.blocks), always.disturbed) == (5, 10, 10)


def test_ctrl_c_keeps_whole_pairs(trials):
    left = [1.0] * 15

    def take(side):
        if not left:
            raise KeyboardInterrupt
        return Trial(left.pop(), 1, 1, 0)

    trials(take)
    found = collect(SIDES, plan(), lambda _: None)
    assert (len(found.blocks), found.interrupted) == (7, True)


@pytest.mark.parametrize("metric", ["cpu", "memory"])
def test_ctrl_c_ends_the_program_and_says_what_there_is(script, tmp_path, metric):
    """The command is signalled alone, as by a supervisor, and takes its program with it."""
    pid = tmp_path / "pid"
    words = [script("quick", "true"), "---", "vs", script("slow", f"echo $$ > {pid}", "exec sleep 60")]
    process = subprocess.Popen(
        [sys.executable, "-m", "cozcli", "compare", "--metric", metric, *words],
        stderr=subprocess.PIPE,
        text=True,
    )
    # Its packages alone take long to load on a busy machine.
    while process.poll() is None and not (pid.exists() and pid.read_text().strip()):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "stopped after 0 pairs" in said
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_a_start_is_short_by_the_metric_that_decides(capsys):
    words = ["-n", "6", "sleep", "0.03", "---", "vs", "sleep", "0.03"]
    for metric, is_short in (("wall", False), ("memory", False), ("cpu", True)):
        assert compare("--metric", metric, *words) == 0
        assert ("the start of a process" in capsys.readouterr().err) == is_short, metric


def test_a_failure_in_the_layout_of_the_files_leaves_the_result(monkeypatch):
    def fail(*_):
        raise CozError(Problem("it failed.", ""))

    monkeypatch.setattr(command, "measured", fail)
    monkeypatch.setattr(command, "function_layouts_of", lambda side: side)
    found, doubt = command._fixed(SIDES, plan(), 12)
    assert found is None
    assert "is not known: it failed." in doubt.text


def test_processors(monkeypatch, capsys):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    assert compare("true", "---", "vs", "true") == 2
    assert "there is one processor only" in capsys.readouterr().err
    with pytest.raises(CozError, match="may not run on processor 3"):
        machine.choose_processors([0, 3])
    assert comparison_options._processors("1,3-5") == [1, 3, 4, 5]
    with pytest.raises(ArgumentTypeError):
        comparison_options._processors("5-3")


@pytest.mark.parametrize("words", [["-n", "5"], ["--precision", "0%"], ["--margin", "x"], ["--layout", "x"]])
def test_impossible_options(words, capsys):
    with pytest.raises(SystemExit) as error:
        compare(*words, "true", "---", "vs", "true")
    assert error.value.code == 2
    assert words[0] in capsys.readouterr().err
