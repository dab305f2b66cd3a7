"""One thing that was looked at, and what is to be said of it."""

from __future__ import annotations

from typing import NamedTuple

from cozcli.errors import Problem

OK, WARNING, PROBLEM = "ok", "warning", "problem"


class Finding(NamedTuple):
    """`level`: ok; warning (a profile comes, but less good or in need of something); problem (none comes)."""

    level: str
    subject: str
    text: str
    remedy: str = ""


def of_problem(level: str, subject: str, problem: Problem) -> Finding:
    """What another part of coz would say, in its words."""
    return Finding(level, subject, problem.text, problem.hint)
