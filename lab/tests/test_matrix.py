"""The overview's numbers, on records whose truth is known."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from synthetic import experiment

from polder_lab.interval import geometric_mean
from polder_lab.report.chart.heat import map_of
from polder_lab.report.chart.part import View, view_of
from polder_lab.report.look import looks
from polder_lab.report.matrix import BEST_PEER, MEASURES, Matrix, base_of, bases, build
from polder_lab.report.peers_text import show
from polder_lab.report.records import read

TRUTH = {"system": 2.0, "polder": 1.0, "jemalloc": 1.5}
ROWS = {"larson/2": 1.0, "mixed/2": 10.0, "redis": 3.0}


@pytest.fixture
def view(tmp_path: Path) -> View:
    """Rounds differ by a factor that all share, so that only pairing finds the exact ratios; one subject fails on one row."""
    told = experiment()
    told["subjects"] = [s for s in told["subjects"] if s["name"] in TRUTH]
    told["rows"] = [r for r in told["rows"] if r["id"] in ROWS]
    lines = [told]
    for row, size in ROWS.items():
        for name, factor in TRUTH.items():
            for number in range(8):
                fails = (row, name) == ("redis", "jemalloc")
                lines.append(
                    {
                        "record": "run",
                        "pass": "time",
                        "round": number,
                        "row": row,
                        "subject": name,
                        "ok": not fails,
                        "trouble": "crashes: Aborted" if fails else None,
                        "seconds": None if fails else size * factor * (1 + number / 3),
                        "operations": None,
                        "peak_rss": None if fails else 1000 * factor,
                        "minor_faults": 0,
                        "major_faults": 0,
                    }
                )
    file = tmp_path / "a.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return view_of(read([file]))


def ratios(matrix: Matrix | None) -> dict[tuple[str, str], float | None]:
    assert matrix is not None
    return {
        (line.label, name): cell.ratio
        for group in matrix.groups
        for line in group.lines
        for name, cell in zip(matrix.names, line.cells, strict=True)
    }


def test_ratios_are_to_the_best_of_the_row(view: View) -> None:
    found = ratios(build(view, MEASURES[0], "best"))
    for row in ("Larson ×2", "Mixed ×2"):
        assert {name: found[(row, name)] for name in TRUTH} == pytest.approx({"system": 2.0, "polder": 1.0, "jemalloc": 1.5})


def test_the_best_has_nobody_ahead_of_it() -> None:
    """A subject of two moods has the lowest median here, but by the paired ratios, which are shown, the steady one leads."""
    moody = dict(enumerate([84.0, 21.0, 19.0, 27.0, 77.0, 18.0]))
    steady = dict(enumerate([25.0, 28.0, 24.0, 26.0, 31.0, 27.0]))
    slow = dict(enumerate([45.0, 40.0, 46.0, 43.0, 51.0, 43.0]))
    assert base_of({"moody": moody, "slow": slow, "steady": steady, "absent": {}}, "best") == "steady"


def test_ratios_to_the_best_peer(view: View) -> None:
    """Which is never ours, however good; where one fails, another is the best."""
    assert bases(view) == ["best", "best-peer", "system"]
    found = ratios(build(view, MEASURES[0], BEST_PEER))
    assert {name: found[("Larson ×2", name)] for name in TRUTH} == pytest.approx({"system": 4 / 3, "polder": 2 / 3, "jemalloc": 1.0})
    assert {name: found[("redis", name)] for name in ("system", "polder")} == pytest.approx({"system": 1.0, "polder": 0.5})
    assert bases(View(view.records, view.looks, ["system", "polder"])) == ["best", "system"]


def test_ratios_to_the_system(view: View) -> None:
    found = ratios(build(view, MEASURES[0], "system"))
    assert found[("Larson ×2", "polder")] == pytest.approx(0.5)
    assert found[("redis", "system")] == pytest.approx(1.0)


def test_a_failure_is_shown_and_makes_a_mean_partial(view: View) -> None:
    matrix = build(view, MEASURES[0], "best")
    assert matrix is not None
    cell = next(line.cells[matrix.names.index("jemalloc")] for group in matrix.groups for line in group.lines if line.label == "redis")
    assert (cell.ratio, cell.trouble, cell.text) == (None, "crashes: Aborted", "✕")
    mean = matrix.means[-1].cells[matrix.names.index("jemalloc")]
    assert mean.rows == "2 of 3 rows"
    assert "jemalloc" not in matrix.overall


def test_a_partial_mean_is_marked_and_counted_in_the_picture_too(view: View) -> None:
    matrix = build(view, MEASURES[0], "best")
    assert matrix is not None
    assert matrix.lacking == "* Not over all rows, since some failed or were not measured: jemalloc 2 of 3."
    drawn = map_of(matrix)
    (plot,) = drawn["data"]
    labels = drawn["layout"]["yaxis"]["ticktext"]
    means = dict(zip(plot["x"], plot["text"][labels.index("all rows")], strict=True))
    assert {name: means[name].endswith("*") for name in TRUTH} == {"system": False, "polder": False, "jemalloc": True}
    assert labels[-1] == "* not over all rows"
    whole = build(View(view.records, view.looks, ["system", "polder"]), MEASURES[0], "best")
    assert whole is not None
    assert (whole.lacking, "*" in str(map_of(whole))) == ("", False)


def test_a_partial_mean_is_marked_and_counted_on_the_terminal(view: View, capsys: pytest.CaptureFixture[str]) -> None:
    show(view.records.files[0], Console(width=200))
    told = capsys.readouterr().out
    assert "jemalloc 2 of 3." in told
    assert next(line for line in told.splitlines() if line.startswith("all rows")).count("*") == 1


def test_who_fails_in_the_last_round_is_neither_a_number_nor_the_best(view: View) -> None:
    view.records.runs = [
        replace(run, ok=False, trouble="hangs: ended after 60 s") if (run.row, run.subject, run.round) == ("mixed/2", "polder", 7) else run
        for run in view.records.runs
    ]
    matrix = build(view, MEASURES[0], "best")
    assert matrix is not None
    at = matrix.names.index("polder")
    cell = next(line.cells[at] for group in matrix.groups for line in group.lines if line.label == "Mixed ×2")
    assert (cell.ratio, cell.trouble) == (None, "hangs: ended after 60 s")
    assert ratios(matrix)[("Mixed ×2", "jemalloc")] == pytest.approx(1.0), "of those that hold out it is the best"
    assert matrix.means[-1].cells[at].rows == "2 of 3 rows"


def test_who_crashes_before_its_time_is_taken_failed_and_was_not_left_out(view: View) -> None:
    """A short experiment looks at memory first: a heap that crashes there has no run of the pass time at all."""
    records = view.records
    mine = next(run for run in records.runs if (run.row, run.subject) == ("mixed/2", "polder"))
    records.runs = [run for run in records.runs if (run.row, run.subject) != ("mixed/2", "polder")]
    records.runs.append(replace(mine, instrument="memory", ok=False, trouble="crashes: SIGSEGV"))
    matrix = build(view, MEASURES[0], "best")
    assert matrix is not None
    at = matrix.names.index("polder")
    cell = next(line.cells[at] for group in matrix.groups for line in group.lines if line.label == "Mixed ×2")
    assert (cell.trouble, cell.text) == ("crashes: SIGSEGV", "✕")


def test_means_are_those_of_the_column(view: View) -> None:
    matrix = build(view, MEASURES[0], "best")
    assert matrix is not None
    found = ratios(matrix)
    for name in ("system", "polder"):
        column = [r for (_, of), r in found.items() if of == name and r]
        assert matrix.means[-1].cells[matrix.names.index(name)].ratio == pytest.approx(geometric_mean(column))


def test_intervals_and_medians_are_told(view: View) -> None:
    matrix = build(view, MEASURES[0], "best")
    assert matrix is not None
    cell = matrix.groups[0].lines[0].cells[0]
    assert cell.rounds == 8
    assert cell.low == pytest.approx(2.0)
    assert cell.high == pytest.approx(2.0)
    assert cell.value == "4.33 s"


def test_what_was_not_measured_has_no_matrix(view: View) -> None:
    assert build(view, next(m for m in MEASURES if m.key == "latency"), "best") is None


def test_a_row_of_too_few_calls_has_dashes_and_does_not_vanish(tmp_path: Path) -> None:
    told = experiment()
    told["subjects"] = [s for s in told["subjects"] if s["name"] in TRUTH]
    told["rows"] = [r for r in told["rows"] if r["id"] in ("larson/2", "mixed/2")]
    made = {"record": "run", "pass": "latency", "round": 0, "ok": True, "trouble": None}
    lines = [told, *({**made, "row": row, "subject": name,
                      "latency": {"malloc": {"count": calls, "buckets": [[9, 10, calls]], "worst_ns": 10}}}
                     for row, calls in (("larson/2", 5000), ("mixed/2", 31)) for name in TRUTH)]
    file = tmp_path / "few.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    matrix = build(view_of(read([file])), next(m for m in MEASURES if m.key == "latency"), "best")
    found = ratios(matrix)
    assert {found["Larson ×2", name] for name in TRUTH} == {1.0}
    assert {found["Mixed ×2", name] for name in TRUTH} == {None}
    assert matrix is not None
    assert {cell.text for cell in matrix.groups[-1].lines[-1].cells} == {"–"}


def test_no_two_subjects_look_alike() -> None:
    names = ["system", "polder", "jemalloc", *(f"lib{n}" for n in range(30))]
    found = looks(names)
    assert len({(one.colour, one.marker) for one in found.values()}) == len(names)
    assert found["polder"] == looks(["polder"])["polder"]
