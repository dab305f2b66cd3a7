"""The page in headless Chromium, from a file, with the network off."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import showcase
from page_data import HOSTILE, analysis_of, five_hundred_lines, hostile_lines

from cozcli.analysis.analyse import analyse
from cozcli.analysis.result import Mark
from cozcli.profile.profile import load_profile
from cozcli.reports.page import VERSION, PageProfile, render_page

Show = Callable[..., Any]

#: Types into the search, and waits until the browser has drawn what is left.
TIME_FILTERS = """async () => {
  const search = document.getElementById("search");
  const times = [];
  for (const text of ["h", "ha", "hash", "hash q", "", "zzz", "parse", ".cpp", "cpp:1", ""]) {
    const start = performance.now();
    search.value = text;
    search.dispatchEvent(new Event("input"));
    document.body.getBoundingClientRect();
    const done = performance.now();
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    times.push([done - start, performance.now() - start]);
  }
  return times;
}"""


@pytest.fixture(scope="module")
def showcase_page() -> str:
    return render_page([PageProfile("before.coz", showcase.analysis(after=False))], showcase.sources())


@pytest.fixture(scope="module")
def compared_page() -> str:
    profiles = [PageProfile(f"{after}.coz", showcase.analysis(after)) for after in (False, True)]
    return render_page(profiles, showcase.sources())


def rows(page: Any) -> list[str]:
    found: list[str] = page.locator(".row .line").all_inner_texts()
    return found


def selected(page: Any) -> str:
    text: str = page.locator('.row[aria-selected="true"] .line').inner_text()
    return text


def test_five_hundred_lines_are_interactive(show: Show, capsys: pytest.CaptureFixture[str]) -> None:
    content = render_page([PageProfile("profile.coz", five_hundred_lines())], {})
    page = show(content)
    assert page.locator("#count").inner_text() == "500 results"
    # Only what is in view is in the document.
    assert 5 < page.locator(".row").count() < 40
    times = page.evaluate(TIME_FILTERS)
    load = page.evaluate("performance.getEntriesByType('navigation')[0].domComplete")
    with capsys.disabled():
        print(f"\n500 lines, 20 speedups: page {len(content) / 1000:.0f} kB, complete after {load:.0f} ms")
        longest = [max(column) for column in zip(*times, strict=True)]
        print(f"filter: {longest[0]:.1f} ms at most, {longest[1]:.1f} ms until drawn")
    page.fill("#search", "hash")
    assert page.locator("#count").inner_text() == "200 of 500 results"
    page.locator("#list").focus()
    page.keyboard.press("End")
    assert page.locator('.row[aria-selected="true"]').get_attribute("aria-posinset") == "200"
    page.keyboard.press("Home")
    assert page.locator('.row[aria-selected="true"]').get_attribute("aria-posinset") == "1"


def test_hostile_names_run_nothing_and_are_shown(show: Show) -> None:
    sources = {
        "/x/</script><script>alert(1)</script>.c": {"changed": [False, False], "parts": {"1": list(HOSTILE)}}
    }
    page = show(render_page([PageProfile(HOSTILE[0], analysis_of(hostile_lines(), 40))], sources))
    assert page.locator("#count").inner_text() == f"{len(HOSTILE)} results"
    assert any("</script><script>alert(1)" in text for text in rows(page))
    for index in range(len(HOSTILE)):
        page.locator(".row").nth(index).click()
        assert page.locator("#detail h2").count() == 1
    page.click("#about-button")
    assert "</script>" in page.locator("#about").inner_text()
    assert page.evaluate("document.scripts.length") == 2
    assert page.locator("img, iframe, object").count() == 0
    shown = page.locator("body").inner_text()
    assert not {"\u202e", "\u2028", "\x07", "\x1b"} & set(shown)


def test_the_policy_runs_no_other_script(browser: Any, tmp_path: Any, showcase_page: str) -> None:
    """Were something to get through after all, it would not run."""
    file = tmp_path / "page.html"
    inserted = '<img src="x" onerror="document.title = 1"><script>document.title = 2</script>'
    file.write_text(showcase_page.replace("<main>", f"<main>{inserted}"), encoding="utf-8")
    context = browser.new_context(offline=True)
    page = context.new_page()
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text))
    page.goto(file.as_uri())
    page.wait_for_timeout(100)
    title = page.title()
    context.close()
    assert "imageserver" in title
    assert sum("Content Security Policy" in text for text in refused) >= 2


def test_keys(show: Show, showcase_page: str) -> None:
    page = show(showcase_page)
    first = selected(page)
    page.keyboard.press("ArrowDown")
    assert page.locator(".row").nth(1).get_attribute("aria-selected") == "true"
    page.keyboard.press("k")
    assert selected(page) == first
    page.keyboard.press("/")
    page.keyboard.type("checksum")
    assert rows(page) == ["server.cpp:40"]
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "list"
    assert page.locator("#detail h2").inner_text() == "server.cpp:40"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "detail"
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") == "list"
    page.keyboard.press("Escape")
    assert len(rows(page)) > 5
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#help").is_visible()


def test_the_panel_has_everything(show: Show, showcase_page: str) -> None:
    page = show(showcase_page, "#server.cpp:40")
    text = page.locator("#detail").inner_text()
    assert "“request” would take" in text
    assert "more time" in text
    assert "contention: making this line faster makes the program slower" in text
    assert "imageserver::http::etag" in text
    assert page.locator(".code.marked .number").inner_text() == "40"
    assert "sum * 31" in page.locator(".code.marked").inner_text()
    # A point at each speedup, and the baseline in the table only.
    assert page.locator("#detail .point").count() == page.locator(".points tbody tr").count() - 1
    assert page.locator("#detail .point").count() > 10


def test_curves_are_orange_just_where_there_is_contention(show: Show, showcase_page: str) -> None:
    page = show(showcase_page)
    orange = page.locator(".row:has(.series.harm) .line").all_inner_texts()
    assert orange == page.locator(".row:has(.tag.contention) .line").all_inner_texts()
    assert "server.cpp:40" in orange


def test_points_that_were_not_measured_are_drawn_in_another_way(show: Show) -> None:
    analysis = showcase.analysis(after=False)
    first, *others = analysis.results
    results = (replace(first, is_modelled=True, marks=(Mark.CORES,)), *others)
    page = show(render_page([PageProfile("x", replace(analysis, results=results))], {}))
    points = page.locator("#detail .point")
    assert page.locator("#detail .point .modelled").count() == points.count() > 5
    assert "not measured" in points.first.locator("title").text_content()
    assert "open diamonds" in page.locator("#detail .legend").inner_text()
    page.locator(".row").nth(1).click()
    assert page.locator("#detail .point circle").count() > 5
    assert page.locator("#detail .modelled").count() == 0


def test_filters_and_order(show: Show, showcase_page: str) -> None:
    page = show(showcase_page)
    page.select_option("#point", "transaction (latency)")
    assert page.locator("#count").inner_text().startswith("2 of")
    page.click("#clear")
    page.select_option("#order", "contention")
    assert rows(page)[0] == "server.cpp:40"
    page.select_option("#order", "maximum")
    assert rows(page)[0] == "codec/jpeg_decoder.cpp:412"
    # No load levels here, and nothing to compare with.
    assert not page.locator("#load").is_visible()
    assert page.locator("option[data-compare]").count() == 0


def test_load_levels_are_a_filter(show: Show) -> None:
    content = render_page([PageProfile("x", analysis_of(hostile_lines()[:2], 40))], {})
    document = _data_of(content)
    for load, result in zip(("0%", "20%"), document["profiles"][0]["results"], strict=True):
        result["load"] = load
    page = show(_with_data(content, document))
    page.select_option("#load", "20%")
    assert page.locator("#count").inner_text() == "1 of 2 results"
    assert "load 20%" in page.locator(".row").inner_text()


def test_links_name_the_line(show: Show, showcase_page: str) -> None:
    page = show(showcase_page)
    page.locator(".row").nth(2).click()
    name = selected(page)
    fragment = page.evaluate("location.hash")
    again = show(showcase_page, fragment)
    assert selected(again) == name
    again.evaluate("location.hash = 'log.cpp:51'")
    again.wait_for_function("document.querySelector('#detail h2').textContent === 'log.cpp:51'")


def test_two_profiles_are_overlaid(show: Show, compared_page: str) -> None:
    page = show(compared_page, "#server.cpp:40")
    assert page.locator("#detail .large .series").count() == 2
    assert page.locator("#detail .large .series.other .fit").count() == 1
    summary = page.locator("#detail .summary").inner_text()
    assert "A: If server.cpp:40" in summary
    assert "B: If server.cpp:40" in summary
    assert "less time" in summary.split("B:")[1]
    page.select_option("#order", "change")
    assert rows(page)[0] == "server.cpp:40"


@pytest.mark.parametrize("width", [400, 800])
def test_narrow_windows_show_list_or_panel(show: Show, showcase_page: str, width: int) -> None:
    page = show(showcase_page, width=width)
    assert not page.locator("#detail").is_visible()
    page.locator(".row").first.click()
    assert page.locator("#detail").is_visible()
    assert not page.locator("#list").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.click(".back")
    assert page.locator("#list").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("width", [400, 500, 900, 1400])
def test_a_list_of_any_width_has_intervals_and_names(show: Show, showcase_page: str, width: int) -> None:
    page = show(showcase_page, width=width)
    intervals = page.locator("#list .row .interval")
    assert intervals.count() >= 5
    assert all(interval.is_visible() for interval in intervals.all())
    clipped = "all => all.filter(e => e.scrollWidth > e.clientWidth).length"
    assert width < 500 or page.locator("#list .row .line").evaluate_all(clipped) == 0
    # Nothing is taller than its row.
    outside = "all => all.filter(e => e.offsetHeight > e.parentElement.clientHeight).length"
    assert page.locator("#list .row .numbers").evaluate_all(outside) == 0


def test_colours_follow_the_system_until_chosen(show: Show, showcase_page: str) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    dark = show(showcase_page, color_scheme="dark")
    light = show(showcase_page, color_scheme="light")
    first = light.evaluate(background)
    assert dark.evaluate(background) != first
    dark.click("#theme")
    assert dark.evaluate(background) == first
    dark.reload()
    assert dark.evaluate(background) == first


def test_the_printer_gets_all_lines(show: Show, showcase_page: str) -> None:
    page = show(showcase_page)
    in_view = page.locator(".row").count()
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".row").count() == 16 > 0
    assert not page.locator("#toolbar").is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator(".row").count() == in_view


def test_a_page_of_another_version_says_so(browser: Any, tmp_path: Any, showcase_page: str) -> None:
    file = tmp_path / "page.html"
    other = showcase_page.replace(f'"version":{VERSION},', '"version":9,', 1)
    assert other != showcase_page
    file.write_text(other, encoding="utf-8")
    page = browser.new_page()
    page.goto(file.as_uri())
    assert "another version" in page.locator("#failure").inner_text()
    page.close()


def test_load_is_shown_where_it_was_amplified(show: Show, request: pytest.FixtureRequest) -> None:
    golden = request.path.parents[1] / "golden"
    alone = show(render_page([PageProfile("amp.coz", analyse(load_profile([str(golden / "amp.coz")])))], {}))
    assert alone.locator("#detail h2").inner_text() == "Under load"
    assert "It flattens at a load of 34%" in alone.locator("#detail .summary").inner_text()
    assert alone.locator("#detail .point").count() == 5
    assert alone.locator(".saturation rect").count() == 1
    profile = PageProfile("lines.coz", analyse(load_profile([str(golden / "amp-lines.coz")])))
    page = show(render_page([profile], {}))
    page.keyboard.press("l")
    assert "Lines that change most" in page.locator("#detail").inner_text()
    assert page.locator(".levels .fit").count() == 2
    page.locator(".opener").first.click()
    assert "Under other loads" in page.locator("#detail").inner_text()
    both = show(render_page([profile, profile], {}), "#view=load")
    assert both.locator("#detail .large .fit").count() == 2
    content = render_page([profile], {})
    document = _data_of(content)
    base = document["profiles"][0]["scaling"][0]["levels"][0]
    base["quantiles"] = [{"q": 0.99, "value": 2e6, "low": 1e6, "high": 3e6}]
    table = show(_with_data(content, document), "#view=load").locator("#detail table", has_text="p99")
    assert table.locator("td").all_inner_texts()[:2] == [base["name"], "2 ms ±50.0 %"]


def _data_of(page: str) -> Any:
    start = page.index('id="data">') + len('id="data">')
    return json.loads(page[start : page.index("</script>", start)])


def _with_data(page: str, document: Any) -> str:
    start = page.index('id="data">') + len('id="data">')
    return (
        page[:start] + json.dumps(document).replace("<", "\\u003c") + page[page.index("</script>", start) :]
    )
