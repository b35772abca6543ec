"""The comparisons of a suite: out of the records, on the terminal and on the page."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright
from synthetic_suite import entries, write

from polder_lab.report.chart.part import view_of
from polder_lab.report.compared import Comparison, Table, comparisons, even
from polder_lab.report.records import read

SCREENSHOTS = Path(__file__).resolve().parents[2] / "build" / "lab" / "screenshots"


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("suite") / "suite.jsonl")


@pytest.fixture(scope="module")
def found(records: Path) -> dict[str, Comparison]:
    return {one.key: one for one in comparisons(view_of(read([records])))}


def table(of: Comparison, measure: str) -> Table:
    return next(one for one in of.tables if one.measure.key == measure)


def test_ratios_are_of_rows_under_one_allocator_and_paired_by_round(found: dict[str, Comparison]) -> None:
    """The mood of the rounds changes by a factor of three: unpaired, no interval would be narrow."""
    time = table(found["reclaimers"], "time")
    columns = [(column.threads, column.subject) for column in time.columns]
    assert columns == [(threads, subject) for threads in (2, 8) for subject in ("system", "polder", "jemalloc")]
    lines = {line.label: line for line in time.lines}
    assert list(lines) == ["debra", "hp", "token-naive"], "what the others are set against stands on top"
    assert all(cell.ratio is None and cell.value for cell in lines["debra"].cells)
    for cell in lines["hp"].cells:
        assert cell.ratio == pytest.approx(1.0, abs=0.03)
        assert even(cell)
        assert cell.rounds == 7
    for cell in lines["token-naive"].cells:
        assert cell.ratio == pytest.approx(0.8, abs=0.03)
        assert cell.high is not None
        assert cell.high < 0.85


def test_each_measure_that_was_told_has_a_table(found: dict[str, Comparison]) -> None:
    keys = [one.measure.key for one in found["reclaimers"].tables]
    assert keys == ["time", "operation-99.9", "garbage", "memory", "freeing", "epochs"]
    assert table(found["drains"], "operation-99.9").lines[0].cells[0].ratio == pytest.approx(5_000 / 90_000)
    assert {column.threads for column in table(found["drains"], "time").columns} == {8}, "the rows at 2 threads are another comparison's"
    share = table(found["reclaimers"], "freeing")
    assert [(column.threads, column.subject) for column in share.columns] == [(2, "polder")], "of what nobody told there is no column"
    assert share.lines[1].cells[0].value == "12.5 %"


def test_time_is_of_the_pass_that_disturbs_nothing(found: dict[str, Comparison]) -> None:
    assert table(found["reclaimers"], "operation-99.9").lines[1].cells[1].value == "5.6 µs"
    assert table(found["reclaimers"], "epochs").lines[1].cells[1].value == "0", "what may be nothing is shown as it is"


@pytest.mark.parametrize(("figure", "count"), [("operation_p999_ns", "operations_timed"), ("free_p999_ns", "free_calls")])
def test_a_percentile_takes_so_many_calls_that_one_is_beyond_it(tmp_path: Path, figure: str, count: str) -> None:
    def measured(calls: int) -> set[str]:
        told = {"figures": {figure: 7_000, count: calls}}
        changed = [{**entry, **told} if entry["record"] == "run" and entry["pass"] == "time" else entry for entry in entries()]
        (tmp_path / "few.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in changed))
        (of, *_) = comparisons(view_of(read([tmp_path / "few.jsonl"])))
        return {one.measure.key for one in of.tables}

    assert f"{figure.partition('_')[0]}-99.9" in measured(1000)
    assert f"{figure.partition('_')[0]}-99.9" not in measured(999)


@pytest.mark.parametrize("first", [0, 6])
def test_what_failed_is_a_cell(tmp_path: Path, first: int) -> None:
    """From its first round on, or only in the last of seven."""
    changed = []
    for entry in entries():
        failed = entry["record"] == "run" and entry["row"] == "set:abtree.hp.at_once/2" and entry["subject"] == "polder"
        if failed and entry["pass"] == "time" and entry["round"] >= first:
            entry = {**entry, "ok": False, "trouble": "crashes: SIGSEGV", "seconds": None, "figures": {}}
        changed.append(json.dumps(entry))
    (tmp_path / "failed.jsonl").write_text("\n".join(changed) + "\n")
    (of, *_) = comparisons(view_of(read([tmp_path / "failed.jsonl"])))
    assert table(of, "time").lines[1].cells[1].trouble == "crashes: SIGSEGV"


@pytest.mark.long
def test_the_page_shows_them_and_their_measures(records: Path) -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.fail("the report is tested in Chromium, which is not installed: apt-get install chromium")
    command = [sys.executable, "-m", "polder_lab", "bench", "report", str(records)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
        )
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        wrong: list[str] = []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(Path(done.stdout.strip()).as_uri())
        of = page.locator("#c-reclaimers")
        shown = of.locator(".numbers:visible")
        expect(shown).to_have_count(1)
        assert "0.80" in shown.locator("tbody tr", has_text="token-naive").inner_text()
        of.get_by_text("Unreclaimed at the peak", exact=True).click()
        expect(shown).to_have_count(1)
        assert "20.0" in shown.locator("tbody tr", has_text="token-naive").inner_text()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        page.locator("#compared").screenshot(path=SCREENSHOTS / "compared.png")
        browser.close()
    assert wrong == []
