"""Timelines: what the recorder writes is read, damaged files are told, and the page, the pictures and the trace show it."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from conftest import Laboratory
from playwright.sync_api import Browser, Page, expect, sync_playwright
from synthetic_timeline import KINDS, NUMBER, Made, events, small, trees, written

from polder_lab.complaint import Complaint
from polder_lab.timeline import drawing, thin, words
from polder_lab.timeline.recording import EVENT, HEADER, TALLY, THREAD, Recording, read, within
from polder_lab.timeline.share import Share, freeing, shares, unreclaimed

ROOT = Path(__file__).resolve().parents[2]
SCREENSHOTS = ROOT / "build" / "lab" / "screenshots"


def of(found: list[Share], kind: str) -> Share:
    return next(one for one in found if one.kind == kind)


# ---- the reader


def test_a_recording_is_read_as_it_was_written(tmp_path: Path) -> None:
    made = read([small(tmp_path / "a")])
    assert len(made) == 9
    assert made.seconds == pytest.approx(1.0)
    assert [(t.pid, t.tid, t.name) for t in made.threads] == [(4711, 100, "main"), (4711, 101, "worker")]
    assert [(kind.name, kind.form) for kind in made.kinds] == list(KINDS)
    post = int(np.flatnonzero(made.named("post"))[0])
    assert (made.begin[post], made.end[post]) == (pytest.approx(0.42), pytest.approx(0.43))
    assert (made.label[post], made.count[post], made.row[post]) == (7, 4096, 0)
    assert list(made.row) == [0] * 6 + [1] * 3
    source = made.sources[0]
    assert source.command == "./trees --threads 4"
    assert source.ns_per_tick == pytest.approx(0.5)


@pytest.mark.parametrize("way", ["on request", "at the end"])
def test_what_the_recorder_writes_is_read(tmp_path: Path, recorder: Path, way: str) -> None:
    subprocess.run([recorder, tmp_path / "real", "1" if way == "on request" else "0"], check=True, timeout=60)
    made = read([tmp_path / "real"])
    made = made.only(np.argsort(made.row, kind="stable"))
    assert [t.name for t in made.threads] == [recorder.name, "worker"]
    assert [made.kinds[at].name for at in made.kind] == ["batch free", "epoch advance", "unreclaimed"] + ["refill"] * 5
    assert list(made.label) == [7, 8, 8, 0, 1, 2, 3, 4]
    assert list(made.count[:3]) == [3_000_000_000_000, 0, 12]
    assert 0.02 <= made.end[0] - made.begin[0] <= made.seconds
    assert made.threads[1].lost["refill"].count == 4
    assert made.threads[1].full_at is not None
    assert made.threads[0].lost == {}
    assert made.sources[0].command.startswith(str(recorder))


@pytest.fixture(scope="module")
def recorder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("recorder") / "recorded"
    source = ROOT / "src"
    names = ("timeline", "timeline_file", "pages", "clock", "loaded_symbol", "ended_thread")
    files = [source / "polder" / "os" / "linux" / f"{name}.cpp" for name in names]
    flags = ["-std=c++20", "-O1", "-D_GNU_SOURCE", f"-I{source}", "-pthread"]
    subprocess.run(["c++", *flags, Path(__file__).with_name("recorded.cpp"), *files, "-o", program], check=True, timeout=110)
    return program


def test_the_recorder_s_kinds_are_those_that_have_words_here() -> None:
    source = (ROOT / "src" / "polder" / "os" / "timeline_format.hpp").read_text()
    told = re.findall(r'\{"([a-z ]+)", form::([a-z]+)\}', source)
    assert told == list(KINDS)
    assert {name for name, _ in told} == set(words.MEANINGS)


def test_several_files_become_one_picture(tmp_path: Path) -> None:
    heap = written(tmp_path / "heap", [Made(101, "worker", events([("refill", 0.1, 0.2, 3, 64)]), full_at=0.5)], 2.0)
    made = read([small(tmp_path / "program"), heap])
    assert len(made) == 10
    assert [t.tid for t in made.threads] == [100, 101]
    assert made.seconds == pytest.approx(2.0)
    refill = int(np.flatnonzero(made.named("refill"))[0])
    assert (made.row[refill], made.label[refill]) == (1, 3)
    assert made.threads[1].full_at == pytest.approx(0.5)
    other = written(tmp_path / "other", [Made(101, "child", events([]))], pid=4712)
    assert [(t.pid, t.tid) for t in read([heap, other]).threads] == [(4711, 101), (4712, 101)]


def test_a_window_cuts_what_reaches_beyond_it(tmp_path: Path) -> None:
    part = within(read([small(tmp_path / "a")]), 0.15, 0.45)
    freed = part.named("batch free")
    assert list(part.begin[freed]) == [pytest.approx(0.15), pytest.approx(0.4)]
    assert list(part.end[freed]) == [pytest.approx(0.2), pytest.approx(0.45)]
    assert part.named("post").sum() == 1
    assert of(shares(part, 0.3, False), "batch free").share == pytest.approx(0.1 / 0.6)


def test_what_reaches_beyond_the_recording_is_cut(tmp_path: Path) -> None:
    """Begun in a recording before it, or by a thread that was about to end it when the recording ended."""
    told = [("operation", -0.0004, 0.25, 1, 1), ("operation", 0.75, 3.0, 2, 1), ("operation", 1.1, 1.2, 3, 1)]
    made = read([written(tmp_path / "a", [Made(100, "main", events(told), full_at=1.1)])])
    assert list(made.begin) == [0, pytest.approx(0.75), pytest.approx(1.0)]
    assert list(made.end) == [pytest.approx(0.25), pytest.approx(1.0), pytest.approx(1.0)]
    assert made.threads[0].full_at == pytest.approx(1.0)
    assert of(shares(made, 1.0, True), "operation").share == pytest.approx(0.5)


# ---- what is wrong with a file


def spoilt(file: Path, at: int, value: bytes) -> Path:
    whole = bytearray(file.read_bytes())
    whole[at : at + len(value)] = value
    file.write_bytes(whole)
    return file


def made_a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


FIRST_THREAD = HEADER.size + 32 * len(KINDS)
FIRST_EVENT = FIRST_THREAD + 2 * (THREAD.size + 2 * TALLY.itemsize * len(KINDS))
TROUBLES: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (Path.unlink, "No such file"),
    "empty": (lambda f: f.write_bytes(b""), "is no timeline"),
    "another file": (lambda f: f.write_text("#!/bin/sh\n" * 99), "is no timeline"),
    "a folder": (made_a_folder, "Is a directory"),
    "newer": (lambda f: small(f) and spoilt(f, 8, b"\x02"), "newer version 2"),
    "not finished": (lambda f: spoilt(f, 12, b"\x00"), "not finished: process 4711"),
    "cut in the header": (lambda f: f.write_bytes(f.read_bytes()[:100]), "cut short"),
    "cut in the kinds": (lambda f: f.write_bytes(f.read_bytes()[: HEADER.size + 40]), "cut short"),
    "cut in the events": (lambda f: f.write_bytes(f.read_bytes()[:-1]), "cut short"),
    "too long": (lambda f: f.write_bytes(f.read_bytes() + b"x"), "1 bytes follow its end"),
    "no such kind": (lambda f: spoilt(f, FIRST_EVENT + 30, b"\xff"), "no kind that it names"),
    "no such form": (lambda f: spoilt(f, HEADER.size + 31, b"\x09"), "the form 9"),
    "another thread": (lambda f: spoilt(f, FIRST_EVENT + 28, b"\x01"), "another thread"),
    "backwards": (lambda f: spoilt(f, FIRST_EVENT + 8, bytes(8)), "ends before it begins"),
    "after the end": (lambda f: spoilt(f, FIRST_EVENT, b"\xff" * 16), "an event begins after its end"),
    "full after the end": (lambda f: spoilt(f, FIRST_THREAD + 24, b"\xff" * 8), "a buffer was full after its end"),
    "no time": (lambda f: spoilt(f, 56, bytes(8)), "ends before it begins"),
    "more events than there are": (lambda f: spoilt(f, HEADER.size + 32 * len(KINDS) + 14, b"\xff"), "cut short"),
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_damaged_file_is_told_in_one_line(tmp_path: Path, laboratory: Laboratory, trouble: str) -> None:
    file = small(tmp_path / "it")
    assert len(read([file])) == 9
    spoil, told = TROUBLES[trouble]
    spoil(file)
    with pytest.raises(Complaint, match=re.escape(told)):
        read([file])
    done = laboratory("timeline", file)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("polder: ")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "it.html").exists()


def test_wrong_use_is_told_in_one_line(tmp_path: Path, laboratory: Laboratory) -> None:
    file = small(tmp_path / "it")
    for arguments, told in (
        (("--png", "picture.jpg"), "--png wants a name that ends in .png"),
        (("--from", "3"), "after the end"),
        (("--from", "0.5", "--to", "0.2"), "is no window"),
        (("--out", tmp_path / "no" / "where.html"), f"--out: there is no folder {tmp_path / 'no'}"),
        (("--png", tmp_path / "no" / "where.png"), f"--png: there is no folder {tmp_path / 'no'}"),
        (("--perfetto", tmp_path / "no" / "where.json"), f"--perfetto: there is no folder {tmp_path / 'no'}"),
        (("--out", tmp_path), f"--out: {tmp_path} is a folder"),
    ):
        done = laboratory("timeline", file, *arguments)
        assert (done.returncode, told in done.stderr, done.stderr.count("\n")) == (2, True, 1), done.stderr
        assert not (tmp_path / "no").exists()


@pytest.mark.parametrize("folder", ["/", ".", "", ".."])
def test_a_folder_is_no_recording(laboratory: Laboratory, folder: str) -> None:
    done = laboratory("timeline", folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"polder: cannot read {folder or '.'}: Is a directory\n"


def test_the_row_of_dots_is_told_where_there_is_one(tmp_path: Path, laboratory: Laboratory) -> None:
    written(tmp_path / "none", [Made(100, "main", events([("refill", 0.1, 0.2, 0, 1)]))])
    small(tmp_path / "some")
    for name, there in (("none", False), ("some", True)):
        assert laboratory("timeline", tmp_path / name).returncode == 0
        assert ("The row at the bottom" in (tmp_path / f"{name}.html").read_text()) == there


def test_a_file_s_name_need_not_be_utf_8(tmp_path: Path, laboratory: Laboratory) -> None:
    done = laboratory("timeline", small(tmp_path / os.fsdecode(b"q\xff.tl")))
    assert done.returncode == 0, done.stderr
    assert "q?.tl" in (tmp_path / os.fsdecode(b"q\xff.tl.html")).read_text()


def test_a_recording_is_not_counted_twice(tmp_path: Path, laboratory: Laboratory) -> None:
    file = small(tmp_path / "it")
    (tmp_path / "link").symlink_to(file)
    shutil.copy(file, tmp_path / "copy")
    for other in ("it", "link", "copy"):
        done = laboratory("timeline", file, tmp_path / other)
        assert done.returncode == 2
        assert done.stderr == f"polder: {tmp_path / other} and {file} are one recording: its events would count twice\n"


@pytest.mark.parametrize("option", ["--out", "--perfetto"])
def test_what_is_made_overwrites_no_recording(tmp_path: Path, laboratory: Laboratory, option: str) -> None:
    file = small(tmp_path / "it")
    before = file.read_bytes()
    (tmp_path / "link").symlink_to(file)
    for target in ("it", "link"):
        done = laboratory("timeline", file, option, tmp_path / target)
        assert done.returncode == 2
        assert done.stderr == f"polder: {tmp_path / target} is a recording that is to be drawn: it would be overwritten\n"
        assert file.read_bytes() == before


# ---- figures


def test_shares_are_of_all_threads_time(tmp_path: Path) -> None:
    found = shares(read([small(tmp_path / "a")]), 1.0, True)
    freed = of(found, "batch free")
    assert [freed.events, freed.seconds, freed.share] == pytest.approx([3, 0.4, 0.2])
    assert [freed.median, freed.longest, freed.count] == pytest.approx([0.1, 0.2, 3010])
    assert of(found, "post").share == pytest.approx(0.005)
    assert of(found, "epoch advance").share == 0
    assert freeing(found) == pytest.approx(0.2)
    assert words.headline(found) == "20.0% of the threads' time went into freeing"
    assert words.headline([of(found, "post")]) == ""


def test_what_was_lost_or_only_counted_is_in_the_shares_and_told(tmp_path: Path) -> None:
    thread = Made(
        100,
        "main",
        events([("batch free", 0.0, 0.1, 1, 5)]),
        lost={"batch free": (40, 0.2)},
        brief={"operation": (7, 0.05)},
        full_at=0.5,
        interrupted=3,
    )
    made = read([written(tmp_path / "a", [thread], at_least_ns=1000, lost_elsewhere=9)])
    found = shares(made, 1.0, True)
    freed = of(found, "batch free")
    assert [freed.events, freed.lost, freed.share] == pytest.approx([1, 40, 0.3])
    assert [of(found, "operation").brief, of(found, "operation").seconds] == pytest.approx([7, 0.05])
    assert made.lost == 40 + 3 + 9
    told = " ".join(words.warnings(made))
    for word in ("40 events were lost", "1 of 1 threads", "0.500 s", "3 events of signal handlers", "9 events were lost of threads"):
        assert word in told
    facts = dict(words.facts(made))
    assert (facts["lost"], facts["only counted"]) == ("52", "7 shorter than 1 µs")
    assert of(shares(made, 1.0, False), "batch free").share == pytest.approx(0.1)


def test_unreclaimed_objects_are_averaged_over_threads(tmp_path: Path) -> None:
    found = unreclaimed(read([small(tmp_path / "a")]))
    assert found is not None
    assert list(found.epoch) == [2, 3]
    assert list(found.mean) == [200, 500]
    assert list(found.most) == [300, 500]
    assert list(found.threads) == [2, 1]
    twice = events([("unreclaimed", 0.1, 0.1, 4, 10), ("unreclaimed", 0.2, 0.2, 4, 50)])
    last = unreclaimed(read([written(tmp_path / "b", [Made(1, "a", twice)])]))
    assert last is not None
    assert list(last.mean) == [50]
    assert unreclaimed(read([written(tmp_path / "c", [Made(1, "a", events([]))])])) is None


def ink(boxes: thin.Boxes, rows: int) -> list[float]:
    return [float((boxes.end - boxes.begin)[boxes.row == row].sum()) for row in range(rows)]


def test_a_thinned_plot_has_as_much_ink(tmp_path: Path) -> None:
    made = read([trees(tmp_path / "a", threads=4, events_a_thread=30_000)])
    freed = made.only(made.named("batch free"))
    all_of_them, few = thin.boxes(freed, made.seconds, 10**9), thin.boxes(freed, made.seconds, 12_000)
    assert (len(all_of_them), all_of_them.merged) == (len(freed), 0)
    assert len(few) < 13_000
    assert few.merged > 30_000
    assert int(few.events.sum()) == len(freed)
    assert ink(few, 4) == pytest.approx(ink(all_of_them, 4))
    assert few.count.sum() == freed.count.sum()
    # What begins in a column may end in the next, and no later.
    short = few.events > 1
    assert ((few.end - few.begin)[short] < 2 * few.column).all()
    long = np.sort((freed.end - freed.begin)[freed.end - freed.begin >= few.column])
    assert len(long) > 3
    assert np.isin(long, few.end - few.begin).all()


def test_dots_that_are_left_out_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = read([trees(tmp_path / "a", threads=4, events_a_thread=3000)])
    assert drawing.draw(made, 0, made.seconds).left_out == []
    monkeypatch.setattr(thin.marks, "__defaults__", (100,))
    told = drawing.draw(made, 0, made.seconds).left_out
    assert len(told) == 1
    assert re.match(r"epoch advance: \d+ of 1,000 dots", told[0])


def numbers(packed: dict[str, str]) -> list[float]:
    """What plotly makes of it."""
    kinds = {"f8": np.float64, "f4": np.float32}
    return [round(float(n), 6) for n in np.frombuffer(base64.b64decode(packed["bdata"]), kinds[packed["dtype"]])]


def test_boxes_and_dots_stand_where_they_belong(tmp_path: Path) -> None:
    made = read([small(tmp_path / "a")])
    data = drawing.draw(made, 0, made.seconds).timeline["data"]
    first = next(trace for trace in data if trace["name"] == "batch free")
    assert first["fillcolor"] == drawing.EPOCH_COLOURS[1]
    assert numbers(first["x"])[:7] == [0.1, 0.1, 0.15, 0.2, 0.2, 0.15, 0.1]
    assert numbers(first["y"])[:7] == [-0.38, 0.38, 0.38, 0.38, -0.38, -0.38, -0.38]
    second = [trace for trace in data if trace["name"] == "batch free"][1]
    assert second["fillcolor"] == drawing.EPOCH_COLOURS[2]
    assert {round(y) for y in numbers(second["y"]) if y == y} == {0, 1}
    dots = [trace for trace in data if trace["name"] == "token pass"]
    assert [(numbers(trace["x"]), numbers(trace["y"])) for trace in dots] == [([0.95], [1]), ([0.95], [drawing.PROJECTED])]


# ---- what comes of it


def test_the_trace_for_perfetto_has_every_event(tmp_path: Path, laboratory: Laboratory) -> None:
    done = laboratory("timeline", small(tmp_path / "it"), "--perfetto", tmp_path / "it.json")
    assert done.returncode == 0, done.stderr
    told = json.loads((tmp_path / "it.json").read_text())["traceEvents"]
    assert {e["tid"]: e["args"]["name"] for e in told if e["name"] == "thread_name"} == {100: "main", 101: "worker"}
    intervals = [e for e in told if e["ph"] == "X"]
    assert [(e["name"], e["ts"], e["dur"]) for e in intervals if e["tid"] == 101] == [("batch free", 700000.0, 200000.0)]
    assert intervals[0]["args"] == {"epoch": 1, "objects": 1000}
    assert [(e["name"], e["ts"], e["s"]) for e in told if e["ph"] == "i"] == [
        ("epoch advance", 250000.0, "t"),
        ("token pass", 950000.0, "t"),
    ]
    counters = [(e["name"], e["args"]) for e in told if e["ph"] == "C"]
    assert counters[0] == ("unreclaimed 100", {"objects": 300})
    assert len(intervals) + len(counters) + 2 == 9


@pytest.mark.long
def test_pictures(tmp_path: Path, laboratory: Laboratory) -> None:
    done = laboratory("timeline", small(tmp_path / "it"), "--svg", tmp_path / "it.svg", "--png", tmp_path / "it.png")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "it.png").read_bytes().startswith(b"\x89PNG")
    drawn = ElementTree.parse(tmp_path / "it.svg").getroot()
    text = " ".join(found for found in drawn.itertext())
    for told in ("20.0% of the threads' time", "worker 101", "main 100", "all threads", "batch free", "epoch advance", "objects"):
        assert told in text, told
    colours = {path.get("style", "") for path in drawn.iter() if path.tag.endswith("path")}
    for step in (1, 2):  # the epochs' colours
        red, green, blue = (int(drawing.EPOCH_COLOURS[step][at : at + 2], 16) for at in (1, 3, 5))
        assert any(f"fill: rgb({red}, {green}, {blue})" in style for style in colours)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.fail("the page is tested in Chromium, which is not installed: apt-get install chromium")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
        )
        yield launched
        launched.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Ends with a look at what happened meanwhile."""
    opened = browser.new_context(viewport={"width": 1200, "height": 1400}, color_scheme="light").new_page()
    wrong: list[str] = []
    opened.on("console", lambda message: wrong.append(f"{message.type}: {message.text}") if message.type in ("error", "warning") else None)
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("request", lambda asked: None if asked.url.startswith(("file:", "data:", "blob:")) else wrong.append(asked.url))
    yield opened
    opened.context.close()
    assert wrong == []


def shown(page: Page, file: Path) -> None:
    page.goto(file.as_uri())
    expect(page.locator('.plot[data-chart="timeline"] .main-svg').first).to_be_visible()


def test_the_page_draws_answers_and_asks_nobody(tmp_path: Path, laboratory: Laboratory, page: Page) -> None:
    done = laboratory("timeline", small(tmp_path / "it"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-2:] == ["20.0% of the threads' time went into freeing", str(tmp_path / "it.html")]
    shown(page, tmp_path / "it.html")
    expect(page.locator("header")).to_contain_text("20.0% of the threads' time went into freeing")
    expect(page.locator("header .warning")).to_have_count(0)
    expect(page.locator(".left-out")).to_have_count(0)
    expect(page.locator('.plot[data-chart="timeline"] .scatterlayer .trace')).to_have_count(7)  # two epochs, post, two kinds of dots twice
    expect(page.locator('.plot[data-chart="epochs"] .scatterlayer .trace')).to_have_count(2)
    rows = page.locator("#shares tbody tr")
    expect(rows.filter(has_text="batch free")).to_contain_text("20.00%")
    expect(page.locator(".kinds")).to_contain_text("batch free, in the colour of its epoch")
    x_range = "() => document.querySelector('.plot').layout.xaxis.range"
    whole = page.evaluate(x_range)
    box = page.locator('.plot[data-chart="timeline"] .nsewdrag').first.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 62, steps=5)
    page.mouse.up()
    zoomed = page.evaluate(x_range)
    assert zoomed[0] == pytest.approx(0.3, abs=0.03)
    assert zoomed[1] == pytest.approx(0.6, abs=0.03)
    assert whole == [0, pytest.approx(1.0)]
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / "timeline.png", full_page=True)


@pytest.mark.long
def test_a_page_of_many_events_says_what_it_leaves_out(tmp_path: Path, laboratory: Laboratory, page: Page) -> None:
    file = trees(tmp_path / "it", threads=16, events_a_thread=12_000)
    done = laboratory("timeline", file)
    assert done.returncode == 0, done.stderr
    assert "drawn together" in done.stderr
    shown(page, tmp_path / "it.html")
    expect(page.locator(".left-out").first).to_contain_text("drawn together")
    expect(page.locator("#shares tbody tr").first).to_contain_text("64,000")


def test_losses_stand_at_the_top_and_in_the_rows(tmp_path: Path, laboratory: Laboratory, page: Page) -> None:
    thread = Made(100, "main", events([("refill", 0.0, 0.1, 1, 5)]), lost={"refill": (40, 0.2)}, full_at=0.5)
    done = laboratory("timeline", written(tmp_path / "it", [thread]))
    assert done.returncode == 0, done.stderr
    assert "40 events were lost" in done.stderr
    shown(page, tmp_path / "it.html")
    expect(page.locator("header .warning")).to_contain_text("40 events were lost")
    expect(page.locator(".kinds")).to_contain_text("buffer full")


def test_large_files_are_read_whole(tmp_path: Path) -> None:
    """As much as 32 threads of 100,000 events, in some seconds."""
    many = np.zeros(100_000, EVENT)
    many["start"] = 1_000_000 + np.arange(100_000) * 100
    many["end"] = many["start"] + 50
    many["kind"] = NUMBER["refill"]
    made: Recording = read([written(tmp_path / "a", [Made(tid, "w", many) for tid in range(32)], 0.006)])
    assert len(made) == 3_200_000
    found = drawing.draw(made, 0.0, made.seconds)
    assert sum(len(trace["x"]["bdata"]) for trace in found.timeline["data"]) < 8 * 8 * 2 * thin.MOST_BOXES * 4 / 3
    assert of(shares(made, made.seconds, True), "refill").events == 3_200_000
