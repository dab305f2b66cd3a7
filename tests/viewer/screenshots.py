"""Makes the pictures of docs/viewing.md, where there is Chromium, after `make test-viewer`:

PYTHONPATH=.:tests/cozcli build/viewer-venv/bin/python tests/viewer/screenshots.py docs/images
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import showcase
from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from cozcli.reports.page import PageProfile, render_page

#: Name, size, colours, whether compared, and the fragment of the line shown.
PICTURES = (
    ("view-1280-light", 1280, 860, "light", False, ""),
    ("view-1280-dark", 1280, 860, "dark", False, "#line=server.cpp:40"),
    ("view-1280-compare", 1280, 860, "light", True, "#line=server.cpp:40"),
    ("view-400-light", 400, 800, "light", False, ""),
    ("view-400-dark", 400, 800, "dark", False, "#line=server.cpp:18"),
)


def main(folder: Path) -> None:
    before, after = (PageProfile(f"{n}.coz", showcase.analysis(n == "after")) for n in ("before", "after"))
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        pages = {}
        for compared in (False, True):
            pages[compared] = Path(name) / f"{compared}.html"
            chosen = [before, after] if compared else [before]
            pages[compared].write_text(render_page(chosen, showcase.sources()), encoding="utf-8")
        chromium = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for file, width, height, colours, compared, fragment in PICTURES:
            take(
                browser, pages[compared].as_uri() + fragment, (width, height), colours, folder / f"{file}.png"
            )


def take(browser: Browser, address: str, size: tuple[int, int], colours: str, output: Path) -> None:
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]}, color_scheme=colours, offline=True
    )
    page = context.new_page()
    page.goto(address)
    page.wait_for_timeout(200)
    page.screenshot(path=output)
    context.close()
    # A third of the size, and nobody can tell.
    Image.open(output).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(output, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
