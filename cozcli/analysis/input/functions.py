"""Names of functions, as people write and read them."""

from __future__ import annotations

import re

#: Names of operators, whose signs and spaces are part of the name.
_OPERATOR = re.compile(
    r"\boperator *(\(\)|\[\]|(<=>|->\*?|<<=?|>>=?|[<>]=?)( (?=<))?|[a-z]\w*( ?\[\])?)",
)


def short_function(function: str) -> str:
    """A function without its parameters, and without the return type that names of templates begin with."""
    name = function.replace("(anonymous namespace)::", "").strip()
    begin = depth = 0
    for at, letter in enumerate(_OPERATOR.sub(lambda found: "x" * len(found[0]), name)):
        depth += (letter in "<{") - (letter in ">}")
        if depth == 0 and letter == " ":
            begin = at + 1
        elif depth == 0 and letter == "(":
            return name[begin:at] or name
    return name[begin:] or name
