"""The suite of structures: how far from its order elements come out, in a pass of its own, in the charts and in the catalogue."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from conftest import Laboratory
from playwright.sync_api import Page, expect, sync_playwright
from synthetic_structures import entries, write

from polder_lab.command.catalogue import COLUMNS
from polder_lab.report import page
from polder_lab.report.chart import labels, of_structures
from polder_lab.report.chart.part import Chart, view_of
from polder_lab.report.compared import comparisons
from polder_lab.report.records import Records, read
from polder_lab.report.standing import Standings, measured_in, standings

SCREENSHOTS = Path(__file__).resolve().parents[2] / "build" / "lab" / "screenshots"
Entries = list[dict[str, Any]]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("structures") / "structures.jsonl")


@pytest.fixture(scope="module")
def records(file: Path) -> Records:
    return read([file])


@pytest.fixture(scope="module")
def found(records: Records) -> list[Standings]:
    return standings(records)


# Measuring.


@pytest.fixture
def run(polder: Laboratory, tmp_path: Path) -> Callable[..., Entries]:
    def call(*more: str) -> Entries:
        done = polder("bench", "run", "--suite", "structures", "--quick", "--heaps", "polder", "--rounds", "2", "--name", "it", "--out",
                      str(tmp_path), *more, extra={"FAKE_BENCH_HAS_HAND_OVER": "1"})
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in (tmp_path / "it.jsonl").read_text().splitlines()]

    return call


def test_each_structure_is_looked_at_once_under_the_system(run: Callable[..., Entries]) -> None:
    told = run()
    looked = [(r["row"], r["subject"]) for r in told if r["record"] == "run" and r["pass"] == "quality"]
    rows = [row["id"] for row in told[0]["rows"]]
    assert sorted(looked) == sorted((row, "system") for row in rows if "preallocated" not in row)
    assert {row.split(".")[0] for row, _ in looked} == {f"hand_over:{name}" for name in ("ms-queue", "spsc-ring", "lru-dq", "treiber-stack",
                                                                                       "bag", "tbb-queue")}
    assert any("preallocated" in row for row in rows)
    assert all("lateness_mean" not in r["figures"] for r in told if r["record"] == "run" and r["pass"] == "time")


def test_what_is_for_fewer_threads_is_left_out_and_named(run: Callable[..., Entries]) -> None:
    told = run("--pass", "quality", "--rounds", "1")
    rows = [row["id"] for row in told[0]["rows"]]
    assert [row for row in rows if "spsc-ring.debra" in row] == ["hand_over:spsc-ring.debra.heap/2"]
    why = {r["what"]: r["why"] for r in told if r["record"] == "absent"}
    assert why["hand_over:spsc-ring.debra.heap/8"] == "hand_over: this structure is for fewer threads that put at once"


# What is made of it.


def test_lateness_is_a_table(records: Records) -> None:
    tables = {one.key: {table.measure.key: table for table in one.tables} for one in comparisons(view_of(records))}
    lines = {line.label: line.cells[0].value for line in tables["relaxed-queues"]["lateness"].lines}
    assert lines == {"unbounded-kfifo": "12.5", "lru-dq": "0.5"}
    assert {line.label: line.cells[0].value for line in tables["queues"]["k"].lines}["tbb-queue"] == "9"
    assert set(tables["reclaimed"]) == {"time", "memory"}


def test_standings(found: list[Standings]) -> None:
    assert [one.key for one in found] == ["queues", "relaxed-queues", "stacks", "relaxed-stacks", "pools"], "not that of reclamation"
    relaxed = {(one.name, one.threads): one for one in found[1].all}
    assert {name for name, _ in relaxed} == {"ms-queue", "unbounded-kfifo", "lru-dq"}, "with what they are set against"
    assert relaxed["ms-queue", 2].ratio is None
    kfifo = relaxed["unbounded-kfifo", 8]
    assert kfifo.ratio is not None
    assert kfifo.ratio.value == pytest.approx(400 / 160, rel=0.02), "of throughput: more is better"
    assert kfifo.throughput.value == pytest.approx(1 / (160e-9 * 8 * 0.5 * 2), rel=0.02), "under polder, in the median round"
    assert kfifo.quality is not None
    assert (kfifo.quality.lateness, kfifo.quality.k, kfifo.quality.promised, kfifo.quality.as_stack) == (12.5, 60, 63, False)
    assert {one.name for one in found[0].all if one.is_rival} == {"tbb-queue"}


def named(chart: Chart | None) -> dict[str, dict[str, Any]]:
    assert chart is not None
    return {note["text"].removeprefix("<b>").removesuffix("</b>"): note for note in chart["layout"]["annotations"]}


def test_throughput_against_threads(found: list[Standings]) -> None:
    chart = of_structures.against_threads(found[0])
    assert chart is not None
    across = {trace["name"]: trace["x"] for trace in chart["data"]}
    assert across == {"ms-queue": [2, 8], "lcrq": [2, 8], "spsc-ring": [2], "tbb-queue": [2, 8]}
    anchors = {name: note["xanchor"] for name, note in named(chart).items()}
    assert anchors == {"ms-queue": "left", "lcrq": "left", "tbb-queue": "left", "spsc-ring": "right"}, "beside the end that it has"


def test_throughput_against_lateness(found: list[Standings]) -> None:
    chart = of_structures.against_lateness(found, False, 8)
    columns = {name: note["xref"] for name, note in named(chart).items()}
    assert columns == {"ms-queue": "x", "lcrq": "x", "tbb-queue": "x2", "unbounded-kfifo": "x2", "lru-dq": "x2"}
    stacks = named(of_structures.against_lateness(found, True, 2))
    assert set(stacks) == {"treiber-stack", "k-stack", "bag"}, "a pool is where it is nearer to"
    assert "spsc-ring" in named(of_structures.against_lateness(found, False, 2))


def test_what_it_shows(found: list[Standings]) -> None:
    said = of_structures.what_it_shows(found, False, 8)
    assert "lcrq is the fastest with 625 k operations" in said.replace("622 k", "625 k").replace("626 k", "625 k")
    assert "Of the 3 where elements were late, 1 is faster; unbounded-kfifo the most, by a factor of 1.2" in said
    assert "at a mean lateness of 12.5." in said


def test_a_page_of_queues_alone_has_no_stacks(tmp_path: Path) -> None:
    told = [one for one in entries() if any(name in one.get("row", "lcrq") for name in ("ms-queue", "lcrq", "kfifo"))]
    told[0]["comparisons"] = [one for one in told[0]["comparisons"] if "queues" in one["key"]]
    file = tmp_path / "queues.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in told))
    made = page.render(page.make(view_of(read([file]))))
    assert 'data-chart="lateness:queues:{row}"' in made
    assert 'data-chart="lateness:stacks:{row}"' not in made


def test_names_keep_apart_and_near() -> None:
    assert labels.spread([1.0, 5.0], 1, 0, 10) == [1.0, 5.0]
    assert labels.spread([5.0, 5.0, 5.0], 1, 0, 10) == [4.0, 5.0, 6.0]
    assert labels.spread([9.9, 0.0, 10.0], 1, 0, 10) == pytest.approx([9.0, 0.0, 10.0])
    crowd = {f"structure-{n}": (300.0 + n % 3, 100.0 + n % 4) for n in range(12)}
    places = labels.beside(crowd, 600, 400)
    boxes = []
    for name, (dx, dy) in places.items():
        left = crowd[name][0] + dx - (labels.LETTER * len(name) if dx < 0 else 0)
        boxes.append((left, left + labels.LETTER * len(name), crowd[name][1] + dy - 6, crowd[name][1] + dy + 6))
    assert not [pair for pair in combinations(boxes, 2) if labels.overlap(*pair)]
    assert all(left >= 0 and right <= 600 and top >= 0 for left, right, top, _ in boxes)


# The page.


def crowded(path: Path) -> Path:
    """Forty strict queues as fast as each other nearly, and twelve late ones in a heap."""
    made = entries()
    first, runs = made[0], made[1:]
    rows, lines = {row["id"]: row for row in first["rows"]}, {one["key"]: one["lines"] for one in first["comparisons"]}
    for pattern, key, count in (("lcrq", "queues", 40), ("unbounded-kfifo", "relaxed-queues", 12)):
        for n in range(count):
            name = f"{pattern}-number-{n}"
            lines[key].append({**next(line for line in lines[key] if line["label"] == pattern), "label": name,
                               "of": f"hand_over:{name}.debra.heap"})
            for threads in (2, 8):
                old = f"hand_over:{pattern}.debra.heap/{threads}"
                first["rows"].append({**rows[old], "id": f"hand_over:{name}.debra.heap/{threads}", "preset": f"{name}.debra.heap"})
                for r in [r for r in runs if r["row"] == old and (r["round"] == 0)]:
                    slower = {"seconds": r["seconds"] * (1 + n / 400)}
                    made.append({**r, **slower, "row": first["rows"][-1]["id"]})
    path.write_text("".join(json.dumps(entry) + "\n" for entry in made))
    return path


def no_name_on_another(page: Page, plot: str) -> int:
    texts = page.locator(f'[data-chart="{plot}"] .annotation-text')
    boxes = [box for i in range(texts.count()) if (box := texts.nth(i).bounding_box())]
    for a, b in combinations(boxes, 2):
        across = min(a["x"] + a["width"], b["x"] + b["width"]) - max(a["x"], b["x"])
        down = min(a["y"] + a["height"], b["y"] + b["height"]) - max(a["y"], b["y"])
        assert across <= 1 or down <= 2, (plot, a, b)
    return len(boxes)


@pytest.mark.long
def test_the_page_shows_them_and_no_name_lies_on_another(tmp_path: Path) -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.fail("the report is tested in Chromium, which is not installed: apt-get install chromium")
    command = [sys.executable, "-m", "polder_lab", "bench", "report", str(crowded(tmp_path / "crowd.jsonl"))]
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
        of = page.locator("#lateness")
        of.scroll_into_view_if_needed()
        expect(of.locator(".plot[data-drawn]")).to_have_count(2)
        expect(of.locator("p.findings:visible")).to_have_count(2)
        assert no_name_on_another(page, "lateness:queues:{row}") == 57
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        of.screenshot(path=SCREENSHOTS / "lateness.png")
        of.get_by_text("2", exact=True).click()
        expect(of.locator("p.findings:visible").first).to_contain_text("spsc-ring is the fastest")
        assert no_name_on_another(page, "lateness:queues:{row}") == 58
        threads = page.locator('[data-chart="structures-threads:queues"]')
        threads.scroll_into_view_if_needed()
        expect(threads).to_have_attribute("data-drawn", "yes")
        assert no_name_on_another(page, "structures-threads:queues") == 44
        threads.screenshot(path=SCREENSHOTS / "structures-threads.png")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        browser.close()
    assert wrong == []


# The catalogue.


def test_the_catalogue_has_what_was_measured(polder: Laboratory, file: Path) -> None:
    done = polder("list", "structures", "--markdown", "--records", str(file))
    assert done.returncode == 0, done.stderr
    head, _, *lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines() if line.startswith("|")]
    rows = {line[0].strip("`"): dict(zip(head, line, strict=True)) for line in lines}
    assert rows["lru-dq"]["throughput, 2 threads"].startswith("0.50 (")
    assert rows["lru-dq"]["lateness, k, 8 threads"] == "0.5, 3 of 7"
    assert rows["ms-queue"]["throughput, 8 threads"].startswith("1 (")
    assert rows["ms-queue"]["lateness, k, 8 threads"] == "0, 0"
    assert rows["bag"]["lateness, k, 2 threads"] == "300, 4000"
    assert rows["spsc-ring"]["throughput, 8 threads"] == "–"
    assert "Measured 2026-11-23 on Example, 2 cores" in done.stdout
    assert "under polder: half of the threads put" in done.stdout


@pytest.mark.parametrize("registry", ["drains", "structures"])
def test_each_heading_of_the_catalogue_stands_apart_from_its_text(polder: Laboratory, registry: str) -> None:
    lines = [line for line in polder("list", registry).stdout.splitlines() if line.startswith("  ")]
    assert lines
    for line in lines:
        assert any(line.startswith(f"  {heading} ") for heading in COLUMNS[registry]), line


def test_the_catalogue_takes_the_newest_records_of_structures(polder: Laboratory, root: Path) -> None:
    assert "throughput" not in polder("list", "structures", "--markdown").stdout
    folder = root / "results"
    folder.mkdir(exist_ok=True)
    try:
        write(folder / "mine.jsonl")
        (folder / "other.jsonl").write_text('{"record": "experiment", "settings": {"suite": ""}}\n')
        assert "3 of 7" in polder("list", "structures").stdout
    finally:
        for name in ("mine", "other"):
            (folder / f"{name}.jsonl").unlink(missing_ok=True)


def test_records_of_something_else_are_refused(polder: Laboratory, tmp_path: Path, file: Path) -> None:
    lines = [line for line in file.read_text().splitlines() if '"pass": "quality"' not in line]
    (tmp_path / "old.jsonl").write_text("\n".join(lines) + "\n")
    done = polder("list", "structures", "--records", str(tmp_path / "old.jsonl"))
    assert done.returncode == 2
    assert "no structures that were looked at for their quality" in done.stderr


def test_machine_and_command_are_named(file: Path) -> None:
    how = measured_in(file).how
    assert "./polder bench run --suite structures --quick" in how
    assert "commit 0123456789" in how
    assert "Other processes" not in how


def test_a_noisy_machine_is_named(file: Path, tmp_path: Path) -> None:
    noise = '{"record": "noise", "at": 1, "others_share": 0.42, "spin_spread": 0}'
    (tmp_path / "noisy.jsonl").write_text(f"{file.read_text()}{noise}\n")
    assert "Other processes used up to 42% of the machine" in measured_in(tmp_path / "noisy.jsonl").how
