"""What all tests start from."""

import os
import signal
from collections.abc import Iterator

import pytest

#: Words, separated by spaces, of what must be there: a test that is skipped for want of it fails (.ci/run).
REQUIRED = os.environ.get("COZ_TEST_REQUIRE", "").split()

#: Ignored in what nohup or a script's background job starts, and then in all programs that tests start.
_OF_A_TERMINAL = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)

for _number in _OF_A_TERMINAL:
    if signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, signal.default_int_handler if _number == signal.SIGINT else signal.SIG_DFL)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    """Where all that tests need is installed, none may pass by not being run."""
    report = (yield).get_result()  # type: ignore[misc]
    if not report.skipped or not isinstance(report.longrepr, tuple):
        return
    reason = report.longrepr[2]
    if any(word in reason for word in REQUIRED):
        report.outcome = "failed"
        report.longrepr = f"{reason}; COZ_TEST_REQUIRE says that it is there"


def pytest_configure(config: pytest.Config) -> None:
    """The tiers of tests/README.md."""
    for marker in (
        "measured: compares with a number what a disturbed machine may change; runs alone",
        "first: the tests of the whole that `make check` runs",
        "long: one of many similar cases, or a long measurement; only `make test-long` runs it",
    ):
        config.addinivalue_line("markers", marker)
