"""Paths, and the browser; tests are skipped where there is none."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
for folder in (HERE, HERE.parents[1], HERE.parent / "cozcli"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    playwright_api = pytest.importorskip(
        "playwright.sync_api", reason="playwright is missing; make test-viewer installs it"
    )
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        pytest.skip("there is no Chromium")
    with playwright_api.sync_playwright() as playwright:
        # Its sandbox needs rights that root and containers have not.
        running = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Opens a page from a file, without a network. What goes wrong in the page fails the test."""
    contexts, troubles = [], []

    def trouble(kind: str) -> Callable[[Any], None]:
        return lambda event: troubles.append(
            f"{kind}: {getattr(event, 'text', None) or getattr(event, 'url', event)}"
        )

    def refused(request: Any) -> None:
        if not request.url.startswith(("file:", "data:")):
            troubles.append(f"request: {request.url}")

    def open_page(content: str, fragment: str = "", width: int = 1280, **options: Any) -> Any:
        file = tmp_path / "page.html"
        file.write_text(content, encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": 800}, offline=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", trouble("error"))
        page.on("console", trouble("console"))
        page.on("dialog", lambda dialog: (troubles.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", refused)
        page.goto(file.as_uri() + fragment)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []
