"""The one exception that reaches a user, and the text it carries."""

from __future__ import annotations

from typing import NamedTuple

#: Status for anything refused or unreadable; the statuses of `env` and shells for the two others.
STATUS_REFUSED = 2
STATUS_NOT_EXECUTABLE = 126
STATUS_NOT_FOUND = 127
#: Interrupted (SIGINT) before there was a result, as in shells.
STATUS_INTERRUPTED = 130


class Problem(NamedTuple):
    """Something a user must be told: what happened and what follows (`text`), what to do (`hint`)."""

    text: str
    hint: str = ""


class CozError(Exception):
    """Ends the command with a message; only `cli.main` catches it.

    Built from a `Problem` (always one of `cozcli.messages`) and the exit status.
    """

    def __init__(self, problem: Problem, status: int = STATUS_REFUSED) -> None:
        super().__init__(problem.text)
        self.problem = problem
        self.status = status


def reason_of(error: Exception) -> str:
    """Why: of the system's errors without number and path."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
