"""The page in a headless Chromium, from a file: it draws, it answers, it asks the network for nothing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright
from synthetic import write

SCREENSHOTS = Path(__file__).resolve().parents[2] / "build" / "lab" / "screenshots"
WIDE = ViewportSize(width=1200, height=900)
PHONE = ViewportSize(width=390, height=844)


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("records") / "made-up.jsonl")


@pytest.fixture(scope="module")
def chromium() -> str:
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.fail("the report is tested in Chromium, which is not installed: apt-get install chromium")
    return found


@pytest.fixture(scope="module")
def report(records: Path) -> Path:
    done = subprocess.run(
        [sys.executable, "-m", "polder_lab", "bench", "report", str(records)], capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
        )
        yield launched
        launched.close()


@pytest.fixture
def page(browser: Browser, report: Path, request: pytest.FixtureRequest) -> Iterator[Page]:
    """Ends with a look at what happened meanwhile."""
    size: ViewportSize
    scheme: Literal["light", "dark"]
    size, scheme = getattr(request, "param", (WIDE, "light"))
    context = browser.new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce")
    opened = context.new_page()
    wrong: list[str] = []
    opened.on("console", lambda message: wrong.append(f"{message.type}: {message.text}") if message.type in ("error", "warning") else None)
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on(
        "request", lambda asked: None if asked.url.startswith(("file:", "data:", "blob:")) else wrong.append(f"asked for {asked.url}")
    )
    opened.goto(report.as_uri())
    yield opened
    context.close()
    assert wrong == []


def cell(page: Page, row: str, subject: str) -> str:
    heads = page.locator("#matrix thead button").all_inner_texts()
    line = page.locator("#matrix tbody tr", has=page.get_by_role("link", name=row, exact=True))
    return line.locator("td").nth(heads.index(subject)).inner_text()


def drawn(page: Page, key: str) -> None:
    """Scrolls to a chart and waits until it is there."""
    plot = page.locator(f'.plot[data-chart="{key}"]').first
    plot.scroll_into_view_if_needed()
    expect(plot.locator(".main-svg").first).to_be_visible()


def test_the_header_tells_what_was_measured(page: Page) -> None:
    header = page.locator("header.top")
    for told in (
        "7 workloads and 5 programs",
        "9 allocators",
        "10 rounds",
        "Linux 6.1.0-18-amd64",
        "madvise",
        "g++ (Debian",
        "0123456789ab",
        "with uncommitted changes",
        "Noisy machine",
        "hoard",
        "pgbench is not installed",
    ):
        expect(header).to_contain_text(told)
    page.locator(".troubles summary").click()
    expect(page.locator(".troubles")).to_contain_text("Segmentation fault")


def test_the_matrix_switches_sorts_and_hides(page: Page) -> None:
    time = cell(page, "Larson ×2", "polder")
    assert cell(page, "Larson ×2", "broken") == "✕"
    page.locator("#matrix-controls").get_by_text("Peak memory", exact=True).click()
    memory = cell(page, "Larson ×2", "polder")
    assert memory != time
    page.locator("#matrix-controls").get_by_text("system", exact=True).click()
    assert cell(page, "Larson ×2", "system") == "1.00"
    page.locator("#matrix-controls").get_by_text("in groups").click()
    page.locator("#matrix thead button", has_text="tbb").click()
    column = page.locator("#matrix thead button").all_inner_texts().index("tbb")
    shown = page.locator("#matrix tbody tr:not(.means):not(.group)").evaluate_all(
        f"lines => lines.map(l => parseFloat(l.cells[{column + 1}].textContent))"
    )
    assert shown == sorted(shown)
    assert len(shown) == 25
    page.locator(".chip", has_text="jemalloc").click()
    assert "jemalloc" not in page.locator("#matrix thead button").all_inner_texts()


def test_a_cell_tells_median_interval_and_rounds(page: Page) -> None:
    page.locator("#matrix td").nth(3).hover()
    for told in ("ratio", "95 %", "median", "10 paired rounds"):
        expect(page.locator("#tip")).to_contain_text(told)
    page.locator("#matrix td.trouble").first.hover()
    expect(page.locator("#tip")).to_contain_text("Segmentation fault")


def test_the_matrix_is_walked_with_the_keyboard(page: Page) -> None:
    page.locator("#matrix td").first.focus()
    first = page.locator("#tip").inner_text()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert page.locator("#tip").inner_text() != first
    page.keyboard.press("Enter")
    page.wait_for_url("**#w-threadtest")


def test_every_kind_of_chart_is_there_and_answers_the_pointer(page: Page) -> None:
    for key in (
        "overall",
        "speed-up:larson",
        "threads-memory:larson",
        "over-time:{row}",
        "percentiles:{row}:{call}",
        "ccdf:{row}:{call}",
        "tradeoff:{row}",
        "time:{row}",
        "memory:{row}",
        "figure:scalloc-6a",
    ):
        drawn(page, key)
    drawn(page, "speed-up:mixed")
    plot = page.locator('.plot[data-chart="speed-up:mixed"]').first
    point = plot.locator(".scatterlayer .point").first.bounding_box()
    assert point
    page.mouse.move(point["x"] + point["width"] / 2, point["y"] + point["height"] / 2)
    expect(plot.locator(".hoverlayer .hovertext").first).to_contain_text("paired rounds")
    assert plot.locator(".errorbar").count() > 0


def test_a_workload_s_section_follows_its_choice(page: Page) -> None:
    section = page.locator("#w-larson")
    section.scroll_into_view_if_needed()
    for told in ("ends and leaves its slots", "Shows:", "Larson and Krishnan 1998", "rounds=240"):
        expect(section).to_contain_text(told)
    drawn(page, "time:{row}")
    numbers = section.locator(".numbers:visible")
    before = numbers.inner_text()
    assert "99.99 %" in before
    assert "crashes" in before
    section.locator(".choice").get_by_text("8", exact=True).click()
    expect(numbers).to_have_count(1)
    assert numbers.inner_text() != before


def test_a_hidden_allocator_leaves_the_charts(page: Page) -> None:
    drawn(page, "speed-up:larson")
    lines = page.locator('.plot[data-chart="speed-up:larson"]').first.locator(".scatterlayer .trace")
    before = lines.count()
    page.locator(".chip", has_text="tbb").click()
    expect(lines).to_have_count(before - 1)


@pytest.mark.parametrize("page", [(WIDE, "dark")], indirect=True)
def test_charts_follow_the_theme(page: Page) -> None:
    drawn(page, "overall")
    ground = "() => document.querySelector('.plot[data-chart=overall]')._fullLayout.paper_bgcolor"
    dark = page.evaluate(ground)
    page.emulate_media(color_scheme="light")
    page.wait_for_function(f"was => ({ground})() !== was", arg=dark)


@pytest.mark.parametrize("page", [(PHONE, "light"), (WIDE, "light"), (WIDE, "dark")], indirect=True, ids=["phone", "light", "dark"])
def test_nothing_sticks_out_and_a_screenshot_is_kept(page: Page, request: pytest.FixtureRequest) -> None:
    assert page.evaluate("document.documentElement.scrollWidth") <= page.evaluate("innerWidth")
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.locator("#overview").scroll_into_view_if_needed()
    drawn(page, "overall")
    page.evaluate("document.querySelector('#overview').scrollIntoView()")
    file = SCREENSHOTS / f"report-{request.node.callspec.id}.png"
    page.screenshot(path=file)
    assert file.stat().st_size > 20_000


@pytest.mark.long
def test_pictures_are_drawn(records: Path, chromium: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "polder_lab",
            "bench",
            "report",
            str(records),
            "--out",
            str(tmp_path / "r.html"),
            "--png",
            str(tmp_path / "p"),
            "--svg",
            str(tmp_path / "s"),
            "--chart",
            "overview-time",
            "--chart",
            "speed-up-larson",
        ],
        capture_output=True,
        text=True,
        timeout=110,
    )
    assert done.returncode == 0, done.stderr
    for name in ("overview-time", "speed-up-larson"):
        assert (tmp_path / "p" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert "polder" in (tmp_path / "s" / "overview-time.svg").read_text()
    assert len(list((tmp_path / "p").iterdir())) == 2


@pytest.mark.long
def test_a_page_without_everything_still_opens(browser: Browser, tmp_path: Path) -> None:
    """One pass, one row, and cut off."""
    whole = write(tmp_path / "whole.jsonl", skip=("latency", "memory", "calls", "instructions")).read_text().splitlines()
    runs = [line for line in whole if '"row": "mixed/2"' in line and '"round": 0' in line]
    (tmp_path / "part.jsonl").write_text("\n".join([whole[0], *runs, runs[0][:80]]))
    done = subprocess.run(
        [sys.executable, "-m", "polder_lab", "bench", "report", str(tmp_path / "part.jsonl")], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    page = browser.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto((tmp_path / "part.html").as_uri())
    for told in ("has not ended", "1 line of the records could not be read", "intervals from 6 rounds on"):
        expect(page.locator("header.top")).to_contain_text(told)
    expect(page.locator("#matrix")).to_contain_text("Mixed ×2")
    page.locator("#matrix td").first.hover()
    expect(page.locator("#tip")).to_contain_text("no interval")
    assert wrong == []
    page.close()
