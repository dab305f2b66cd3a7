"""Every text about a problem of `coz view`: what happened, what follows, what to do. See messages.py."""

from __future__ import annotations

from cozcli.errors import Problem


def not_our_page(path: str) -> Problem:
    """Something else is where the page is to go."""
    return Problem(
        f"{path} is there already, and is not a page of coz view; it was left as it is.",
        "choose another name with -o FILE, or overwrite it with --force.",
    )


def page_large(size: int) -> Problem:
    """It works, but is slow to load and to send."""
    return Problem(
        f"the page has {size / 1e6:.1f} MB, which browsers take a while to read.",
        "--top N leaves out all but the N highest-ranking results; --no-source leaves out the source.",
    )


def template_missing(reason: str) -> Problem:
    """The installation is incomplete."""
    return Problem(
        f"the template of the page cannot be read ({reason}), so that no page can be made.",
        "install coz again; in a checkout: git checkout cozcli/reports/page_template.html, or make viewer.",
    )


def not_opened(path: str) -> Problem:
    """There is a display, but nothing to show the page with."""
    return Problem(
        "no browser could be started, so that the page was only written.",
        f"open {path} in a browser; --no-open spares the attempt.",
    )
