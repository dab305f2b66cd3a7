"""Waits for input that another thread of the program ends."""

import pytest


@pytest.mark.measured
@pytest.mark.parametrize("options", [(), ("--tree",)], ids=["", "tree"])
def test_who_ends_a_wait_for_input_gives_credit(coz, build, request, options):
    """By shutdown(), close(), or watching a file that is ready.

    Without, each would pay for the second that it waited: up to 0.75 s.
    """
    source = request.config.rootpath / "tests/programs/ended_waits.cpp"
    line = next(n for n, text in enumerate(source.read_text().splitlines(), 1) if "LINE compute" in text)
    options = (*options, "--fixed-line", f"{source}:{line}", "--fixed-speedup", 75)
    run = coz.run([build("ended_waits.cpp")], *options)
    assert run.status == 0, run.err
    took = {name: float(seconds) for name, seconds in map(str.split, run.out.splitlines())}
    assert took.keys() == {"accept", "recv", "read", "poll", "epoll_wait"}
    assert max(took.values()) < 0.3
    assert sum(record["delay"] for record in run.records("experiment")) > 1e9
