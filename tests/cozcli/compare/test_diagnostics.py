"""What surrounds a comparison: tests of its assumptions, runs of hyperfine, pictures."""

import json
import math

import numpy as np
import pytest
from scipy import stats

from cozcli import cli
from cozcli.compare.diagnostics import as_json, diagnose
from cozcli.compare.hyperfine import estimate_unpaired


def pairs_of(a, b):
    """Pairs of times whose logarithms are a and b."""
    return list(zip(np.exp(a), np.exp(b), strict=True))


def test_diagnostics_are_those_of_scipy_on_logarithms():
    generator = np.random.default_rng(1)
    a, b = generator.normal(0, 0.01, 30), generator.normal(0.02, 0.05, 30)
    found = diagnose(pairs_of(a, b))
    assert found.brown_forsythe == pytest.approx(stats.levene(a, b, center="median").pvalue)
    assert found.brown_forsythe < 0.05
    assert found.shapiro_pairs == pytest.approx(stats.shapiro(b - a).pvalue)
    assert (found.t, found.t_p) == pytest.approx(tuple(stats.ttest_ind(b, a)))
    skewed = diagnose(pairs_of(generator.exponential(1, 30), b))
    assert skewed.shapiro_a < 0.05 < skewed.shapiro_b
    assert set(diagnose([(1.0, 1.0)] * 6)) == {1.0, 0.0}
    assert json.dumps(as_json(diagnose([(1.0, 2.0)] * 6)), allow_nan=False)


def test_unpaired_intervals_hold_the_truth():
    """95 %; of 1,000 a share below 93 % has a probability of 0.3 %."""
    generator = np.random.default_rng(2)
    held = 0
    for _ in range(1000):
        a, b = np.exp(generator.normal(0, 0.02, 12)), np.exp(generator.normal(0.03, 0.02, 15))
        found = estimate_unpaired(a, b, 0.01)
        held += found.low <= math.exp(0.03) <= found.high
    assert held / 1000 > 0.93


@pytest.fixture
def hyperfine(tmp_path):
    """hyperfine(TIMES...): a file of its JSON."""

    def write(*times):
        path = tmp_path / "runs.json"
        results = [{"command": f"prog {i}", "times": list(each)} for i, each in enumerate(times)]
        path.write_text(json.dumps({"results": results}))
        return str(path)

    return write


def test_runs_of_hyperfine_are_compared_with_a_warning(hyperfine, tmp_path, capsys):
    times = [1 + 0.01 * i for i in range(10)]
    path = hyperfine(times, [1.3 * time for time in times])
    assert cli.main(["compare", "--import-hyperfine", path, "--json"]) == 0
    output = capsys.readouterr()
    assert "not in random order" in output.err
    data = json.loads(output.out)
    (found,) = data["comparisons"]
    assert (found["metric"], found["verdict"], data["paired"]) == ("wall", "slower", False)
    assert found["ratio"] == pytest.approx(1.3, rel=0.01)
    for form in ([], ["--csv"], ["--markdown"]):
        assert cli.main(["compare", "--import-hyperfine", path, *form]) == 0
        assert "slower" in capsys.readouterr().out
    document = tmp_path / "imported.json"
    document.write_text(output.out)
    picture = tmp_path / "imported.svg"
    assert cli.main(["plot", "-o", str(picture), str(document)]) == 0
    assert "wall" in picture.read_text()


def test_gates_and_pictures_of_imported_runs(hyperfine, tmp_path, capsys):
    times = [1 + 0.01 * i for i in range(10)]
    words = ["compare", "--import-hyperfine", hyperfine(times, [1.3 * time for time in times])]
    picture = tmp_path / "found.svg"
    assert cli.main([*words, "--gate", "slower > 5%", "--gate", "faster", "--plot", str(picture)]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == "coz: gate: slower > 5%: prog 1"
    assert "Ratio, 95 %" in picture.read_text()
    assert cli.main([*words, "--gate", "faster"]) == 0
    capsys.readouterr()
    for more in (["--metric", "wall"], ["--control"], ["--precision", "1%"], ["--t-test"], ["-n", "6"]):
        with pytest.raises(SystemExit):
            cli.main([*words, *more])
        assert f"leave out {more[0].replace('-n', '--pairs')}\n" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        cli.main([*words, "true", "---", "vs", "true"])
    assert "starts no programs" in capsys.readouterr().err


def test_runs_of_hyperfine_without_a_time_are_told(hyperfine, capsys):
    """It subtracts the start of a shell, down to 0."""
    assert cli.main(["compare", "--import-hyperfine", hyperfine([1.0] * 9 + [0.0], [1.0] * 10)]) == 2
    assert "runs of prog 0 that took no time" in capsys.readouterr().err
    assert cli.main(["compare", "--import-hyperfine", hyperfine([10**400] * 10, [1.0] * 10)]) == 2
    assert "is not what hyperfine" in capsys.readouterr().err


def test_a_damaged_comparison_is_not_drawn(tmp_path, capsys):
    document = tmp_path / "damaged.json"
    document.write_text('{"format": "coz-comparison", "programs": {}, "comparisons": [], "metrics": []}')
    assert cli.main(["plot", "-o", str(tmp_path / "x.svg"), str(document)]) == 2
    assert "is damaged" in capsys.readouterr().err


def test_other_files_are_no_runs_of_hyperfine(hyperfine, tmp_path, capsys):
    for text, reason in (("{}", "is not what hyperfine"), ("x", "is not what hyperfine")):
        path = tmp_path / "other.json"
        path.write_text(text)
        assert cli.main(["compare", "--import-hyperfine", str(path)]) == 2
        assert reason in capsys.readouterr().err
    assert cli.main(["compare", "--import-hyperfine", hyperfine([1.0] * 3, [1.0] * 9)]) == 2
    assert "6 runs each" in capsys.readouterr().err
    assert cli.main(["compare", "--import-hyperfine", "missing.json"]) == 2
    capsys.readouterr()
    path = tmp_path / "failing.json"
    runs = {"command": "prog", "times": [1.0] * 9, "exit_codes": [0] * 8 + [139]}
    path.write_text(json.dumps({"results": [runs, runs]}))
    assert cli.main(["compare", "--import-hyperfine", str(path)]) == 2
    assert "runs of prog that failed" in capsys.readouterr().err


def test_comparisons_and_suites_are_drawn(tmp_path, capsys):
    picture = tmp_path / "found.svg"
    words = ["-n", "6", "--t-test", "--plot", str(picture), "true", "---", "vs", "true"]
    assert cli.main(["compare", *words]) == 0
    assert "Student's t-test" in capsys.readouterr().out
    assert "QQ plot" in picture.read_text()
    suite = tmp_path / "bench.toml"
    suite.write_text("[treatments.first]\n[treatments.second]\n[programs.nothing]\ncommand = 'true'\n")
    assert cli.main(["compare", "--suite", str(suite), "-n", "6", "--json"]) == 0
    document = tmp_path / "suite.json"
    document.write_text(capsys.readouterr().out)
    assert cli.main(["plot", "-o", str(picture), str(document)]) == 0
    assert "first again (control)" in picture.read_text()
    document.write_text(document.read_text()[:300])
    capsys.readouterr()
    assert cli.main(["plot", "-o", str(picture), str(document)]) == 2
    assert "is damaged" in capsys.readouterr().err


def test_pictures_that_cannot_be_drawn_are_refused_before_anything_runs(tmp_path, capsys):
    seen = tmp_path / "seen"
    words = ["touch", str(seen), "---", "vs", "true"]
    for path in ("found.txt", str(tmp_path / "missing" / "found.png")):
        assert cli.main(["compare", "--plot", path, *words]) == 2
    assert not seen.exists()
