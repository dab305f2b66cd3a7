"""Makes the pictures of docs/commands/view.md, where there is Chromium, after `make test-viewer`:

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

from cozcli.analysis.analyse import analyse
from cozcli.profile.profile import load_profile
from cozcli.reports.page import PageProfile, render_page

#: Name, size, colours, which page, and the fragment of what is shown.
PICTURES = (
    ("view-1280-light", 1280, 860, "light", "lines", ""),
    ("view-1280-dark", 1280, 860, "dark", "lines", "#line=server.cpp:40"),
    ("view-1280-compare", 1280, 860, "light", "compared", "#line=server.cpp:40"),
    ("view-1280-load", 1280, 860, "light", "load", ""),
    ("view-400-light", 400, 800, "light", "lines", ""),
    ("view-400-dark", 400, 800, "dark", "lines", "#line=server.cpp:18"),
)
#: A real sweep of load, of examples/producer_consumer.
SWEEP = Path(__file__).resolve().parents[1] / "golden/amp.coz"


def main(folder: Path) -> None:
    before, after = (PageProfile(f"{n}.coz", showcase.analysis(n == "after")) for n in ("before", "after"))
    load = PageProfile(SWEEP.name, analyse(load_profile([str(SWEEP)])))
    shown = {"lines": [before], "compared": [before, after], "load": [load]}
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        pages = {}
        for what, profiles in shown.items():
            pages[what] = Path(name) / f"{what}.html"
            pages[what].write_text(render_page(profiles, showcase.sources()), encoding="utf-8")
        chromium = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for file, width, height, colours, what, fragment in PICTURES:
            take(browser, pages[what].as_uri() + fragment, (width, height), colours, folder / f"{file}.png")


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
