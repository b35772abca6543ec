"""The figures of the thesis's chapter 3: curves out of the rows of a suite, timelines that are recorded when asked for."""

from __future__ import annotations

import base64
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import Laboratory
from playwright.sync_api import expect, sync_playwright
from synthetic_suite import VARIANTS, write
from synthetic_timeline import Made, events, small, trees, written

from polder_lab import figure as figures
from polder_lab.complaint import Complaint
from polder_lab.figure import recorded
from polder_lab.figure.curves import Curves
from polder_lab.figure.recorded import Setup, Timeline
from polder_lab.launch import Launcher
from polder_lab.place import Place
from polder_lab.report import recorded_page
from polder_lab.report.chart.part import View, view_of
from polder_lab.report.records import read
from polder_lab.timeline import recording

SCREENSHOTS = Path(__file__).resolve().parents[2] / "build" / "lab" / "screenshots"


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("suite") / "suite.jsonl")


@pytest.fixture(scope="module")
def view(records: Path) -> View:
    return view_of(read([records]))


def curves(name: str) -> Curves:
    found = figures.find(name)
    assert isinstance(found, Curves)
    return found


def test_every_figure_of_the_chapter_is_there_or_is_no_measurement() -> None:
    names = {figure.name for figure in figures.EVERYTHING} | figures.NOT_HERE.keys()
    assert {f"thesis-3.{n}" for n in range(1, 17)} <= names
    assert figures.find("thesis-3.9b").name == "thesis-3.9", "a part is on the page of the whole"


def test_panels_hold_a_line_for_each_structure_and_allocator(view: View) -> None:
    chart = curves("thesis-3.1").draw(view)
    assert chart is not None
    assert {trace["yaxis"] for trace in chart["data"]} == {"y", "y2", "y3", "y4"}
    debra = {trace["name"]: trace for trace in chart["data"] if trace["yaxis"] == "y"}
    assert set(debra) == {f"{name}, {tree}" for name in ("system", "polder", "jemalloc") for tree in ("(a,b)-tree", "AVL tree")}
    of = debra["jemalloc, (a,b)-tree"]
    assert of["x"] == [2, 8]
    cost = VARIANTS["abtree.debra.at_once"][0] * 0.9
    assert of["y"][0] == pytest.approx(1 / (2 * cost), rel=0.2), "the median round's mood is 2"
    assert of["line"]["dash"] != debra["jemalloc, AVL tree"]["line"]["dash"]
    leaking = next(trace for trace in chart["data"] if trace["yaxis"] == "y4" and trace["name"] == "polder, (a,b)-tree")
    assert leaking["y"] == pytest.approx([VARIANTS["abtree.leaky.at_once"][3]] * 2, rel=1e-4)


def test_what_the_records_lack_is_said(records: Path, tmp_path: Path, view: View) -> None:
    without = write(tmp_path / "without.jsonl", without=["occ-avl.leaky"])
    short = view_of(read([without]))
    assert curves("thesis-3.1").draw(short) is None
    assert curves("thesis-3.1").lacks(short) == "the records have no row set:occ-avl.leaky.at_once"
    assert curves("thesis-3.2").draw(view) is None
    assert curves("thesis-3.2").lacks(view) == "the records have no tcmalloc and no tcmalloc-google"
    assert curves("thesis-3.8").command == ("./polder bench run --suite reclamation --only set:abtree.token-naive.at_once,"
                                            "set:abtree.debra.at_once --threads 1,2,8,32 --heaps polder,jemalloc")


def test_facts_of_a_recording(tmp_path: Path) -> None:
    three = written(tmp_path / "three", [Made(1, "main", events([("epoch advance", at, at, 0, 0) for at in (0.1, 0.2, 0.25)]))])
    told = dict(recorded.moves(recording.read([three])) + recorded.garbage(recording.read([trees(tmp_path / "trees")])))
    assert told["epoch advances"] == "3"
    assert told["longest time without one of the epoch advances"].startswith("750 ms, 75% of the recording"), "the end counts"
    early, late = told["in the first and in the last quarter of the epochs"].split(" and ")
    assert (early[0], late[0]) == ("4", "6"), "garbage that piles up is told"
    told_twice = [("unreclaimed", at, at, 7, held) for at, held in ((0.1, 100), (0.11, 300), (0.9, 1000))]
    passes = recording.read([written(tmp_path / "passes", [Made(1, "main", events([("token pass", 0.5, 0.5, 1, 0), *told_twice]))])])
    over_time = recorded_page.held_over_time(passes)
    assert over_time is not None
    heights = np.frombuffer(base64.b64decode(over_time["data"][1]["y"]["bdata"]))
    assert list(heights) == [200, 1000], "the mean of those that told at about the same time"
    low, high = recorded.closer(recording.read([small(tmp_path / "small")]))
    assert low <= 0.7 < 0.9 <= high, "around the longest batch"


@pytest.fixture
def made(tmp_path: Path, root: Path, build: Path, monkeypatch: pytest.MonkeyPatch, launcher: Launcher) -> tuple[Timeline, Place, Launcher]:
    amortized = Setup("amortized", ("system",), {"reclaimer": "debra", "drain": "amortized"}, 50)
    at_once = Setup("at once", ("system",), {"reclaimer": "debra", "drain": "at_once"}, 50, recorded=False)
    paper = figures.RECORDED[0].paper
    figure = Timeline("thesis-3.5", paper, "3.5", "Amortized", "It says.", (amortized, at_once), "Two cores.", zoom=True)
    monkeypatch.setenv("FAKE_BENCH_TIMELINE", str(trees(tmp_path / "made.timeline", events_a_thread=200)))
    return figure, Place(root, build), Launcher(launcher.program, launcher.scratch)


def test_a_recorded_figure_draws_measures_and_says_both(made: tuple[Timeline, Place, Launcher], tmp_path: Path) -> None:
    figure, place, launcher = made
    said: list[str] = []
    (shown,) = recorded.record(figure, place, launcher, tmp_path, said.append)
    assert shown.recording.sources[0].path == tmp_path / "thesis-3.5.timeline"
    assert dict(shown.facts)["batches"] == "528"
    compared = {one.what: one for one in recorded.compare(figure, place, launcher, 1, said.append)}
    assert compared["operations a second"].ratio.value == pytest.approx(2.0)
    assert compared["unreclaimed at the peak"].ratio.value == pytest.approx(1.5)
    assert compared["operations a second"].rounds == 6
    page = tmp_path / "figure.html"
    page.write_text(recorded_page.render(figure, [shown], list(compared.values()), {"cpu": "Example", "cores": 2}, place), encoding="utf-8")
    look_at(page)


def test_a_recording_under_a_heap_that_does_not_serve_is_none(made: tuple[Timeline, Place, Launcher], tmp_path: Path) -> None:
    figure, place, launcher = made
    library = tmp_path / "a folder" / "libmine.so"
    library.parent.mkdir()
    shutil.copy(place.build / "lib" / "libpolder.so", library)
    astray = replace(figure, setups=(replace(figure.setups[0], heaps=(str(library),)),))
    with pytest.raises(Complaint, match="not served"):
        recorded.record(astray, place, launcher, tmp_path, lambda _: None)


def look_at(file: Path) -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.fail("pages are tested in Chromium, which is not installed: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu",
                                                                            "--disable-background-networking", "--no-first-run"])
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        wrong: list[str] = []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(file.as_uri())
        for key in ("timeline-0", "closer-0", "epochs-0"):
            plot = page.locator(f'.plot[data-chart="{key}"]')
            plot.scroll_into_view_if_needed()
            expect(plot.locator(".main-svg").first).to_be_visible()
        expect(page.locator("#ratios")).to_contain_text("2.00")
        expect(page.locator("#side-1")).to_contain_text("share of the threads' time in freeing")
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=SCREENSHOTS / "recorded-figure.png", full_page=True)
        browser.close()
    assert wrong == []


def test_wrong_use_of_a_recorded_figure(records: Path, build: Path, laboratory: Laboratory) -> None:
    done = laboratory("figure", "thesis-3.5", "--records", str(records), "--build", str(build))
    assert (done.returncode, "makes itself" in done.stderr) == (2, True)
    done = laboratory("figure", "thesis-3.16", "--build", str(build), extra={"FAKE_BENCH_HAS_SET": "1"})
    assert (done.returncode, "with the parameter range" in done.stderr) == (2, True)


def test_the_page_of_curves(records: Path, tmp_path: Path, laboratory: Laboratory) -> None:
    out = tmp_path / "figure.html"
    done = laboratory("figure", "thesis-3.8a", "--records", str(records), "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert "100000 keys" in done.stderr
    assert "its peak memory is enormous" in out.read_text()
