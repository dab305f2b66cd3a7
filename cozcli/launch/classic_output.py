"""A profile in the classic form: measured into a file of our own form beside it, and converted at the end.

If that fails, or `coz run` is killed, what was measured is still in that file; the next run to the same
output adds to it, and converts all.
"""

from __future__ import annotations

import os

from cozcli.errors import CozError, Problem, reason_of
from cozcli.launch import messages
from cozcli.launch.preflight import APPEND, HEAD, is_classic
from cozcli.messages import cannot_write
from cozcli.output_file import resolve
from cozcli.profile.fields import OWN_PROFILE


class ClassicOutput:
    """`measured`: the file to measure into."""

    def __init__(self, name: str, form: str) -> None:
        """See that the file can be added to; it is not made yet.

        Raises:
            CozError: it is something else than a classic profile.
        """
        self._name = name
        self._form = form
        try:
            self._path = resolve(name)
            head = self._head()
        except (OSError, ValueError) as error:
            raise CozError(cannot_write(name, reason_of(error))) from None
        if head.startswith(OWN_PROFILE):
            raise CozError(messages.run.output_of_other_form(name, form))
        if head and not is_classic(head):
            raise CozError(messages.run.output_not_a_profile(name))
        self.measured = self._path.with_name(f"{self._path.name}.measured")

    def _head(self) -> bytes:
        if self._path.is_dir():
            raise CozError(messages.run.output_is_directory(self._name))
        if not self._path.exists():
            return b""
        if not self._path.is_file():
            raise CozError(messages.run.output_not_a_file(self._name))
        with self._path.open("rb") as stream:
            return stream.read(HEAD)

    def finish(self) -> list[Problem]:
        """Convert what was measured; if that fails, what to do about it."""
        from cozcli.profile.convert import append_classic  # for which the program did not wait

        if not self.measured.exists() or self.measured.stat().st_size == 0:
            return []
        try:
            descriptor = os.open(self._path, APPEND, 0o666)
            try:
                append_classic(self.measured, descriptor, self._form)
            finally:
                os.close(descriptor)
        except (OSError, CozError) as error:
            return [messages.run.not_converted(self._name, str(self.measured), self._form, reason_of(error))]
        return []
