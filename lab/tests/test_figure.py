"""The figures of the papers: what the registry says is there, and the command is honest about what is not."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import Laboratory
from synthetic import write

from polder_lab import figure as figures
from polder_lab import suite as suites
from polder_lab.complaint import Complaint
from polder_lab.figure import thesis
from polder_lab.figure.curves import Curves
from polder_lab.figure.part import Figure
from polder_lab.report.chart.part import View, view_of
from polder_lab.report.records import read

WORKLOADS = Path(__file__).resolve().parents[2] / "bench" / "workload"
NAMES = [figure.name for figure in figures.ALL]
RECORDED = [figure.name for figure in figures.RECORDED]


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("records") / "made-up.jsonl", skip=("latency", "memory"))


@pytest.fixture(scope="module")
def view(records: Path) -> View:
    return view_of(read([records]))


def drawn(name: str) -> Figure:
    found = figures.find(name)
    assert isinstance(found, Figure)
    return found


def test_names_are_unique_and_tell_the_paper() -> None:
    assert len({*NAMES, *RECORDED}) == len(NAMES) + len(RECORDED)
    for figure in figures.EVERYTHING:
        assert figure.name.startswith(figure.paper.short.lower() + "-")
        assert figure.statement.endswith(".")


@pytest.mark.parametrize("figure", figures.ALL, ids=NAMES)
def test_its_preset_exists(figure: Figure) -> None:
    """In the sources, so that nothing must be built; a sweep takes several. Curves are drawn from the rows of a suite."""
    if isinstance(figure, Curves):
        assert figure.suite in {suite.name for suite in suites.ALL}
        return
    source = WORKLOADS / f"{figure.workload}.hpp"
    if not source.exists():
        return
    presets = set(re.findall(r'^\s*\{"([a-z0-9-]+)",', source.read_text(), re.MULTILINE))
    if figure.sweep:
        assert len([preset for preset in presets if preset.startswith(figure.presets)]) > 2, f"{figure.workload} has {presets}"
        return
    assert presets & set(figure.presets), f"{figure.workload} has {presets}"


def test_the_paper_s_preset_goes_before_the_default(view: View) -> None:
    found = drawn("scalloc-6a").select(view)
    assert found is not None
    assert found.preset == "scalloc"
    assert [row.threads for row in found.rows] == [1, 2, 4, 8]


def test_speed_up_is_over_one_thread_of_the_system(view: View) -> None:
    chart = drawn("scalloc-6a").draw(view)
    assert chart is not None
    lines = {trace["name"]: dict(zip(trace["x"], trace["y"], strict=True)) for trace in chart["data"]}
    assert lines["system"][1] == pytest.approx(1.0)
    assert lines["polder"][1] > 1
    assert lines["mimalloc"][2] > lines["mimalloc"][1]
    assert all(len(trace["error_y"]["array"]) == len(trace["x"]) for trace in chart["data"])


def test_what_is_missing_is_said_with_the_command(view: View) -> None:
    figure = drawn("scalloc-7a")
    assert figure.draw(view) is None
    assert figure.lacks(view) == "the records have no row of shbench"
    assert figure.command == "./polder bench run --only shbench --preset scalloc-fig7 --threads 1,2,4,8,16"
    assert figure.command_with({"shbench": {"scalloc"}}).endswith("--preset scalloc --threads 1,2,4,8,16")
    assert drawn("scalloc-13a").lacks(view) == "the records have no scalloc-no-span-pool"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("scaloc-8b", "nearest: scalloc-8b"),
        ("scalloc-6", "scalloc-6a, scalloc-6b"),
        ("thesis-3.7", "is a drawing"),
        ("thesis-4.9", "is a drawing"),
        ("thesis-3.17", "nearest: thesis-3.1"),
        ("scalloc-3", "is a drawing"),
    ],
)
def test_other_names_are_answered(name: str, said: str) -> None:
    with pytest.raises(Complaint, match=re.escape(said)):
        figures.find(name)


def test_the_early_phase_is_a_line_of_tenths(records: Path, tmp_path: Path) -> None:
    """Out of the figures that the workload tells; of the row with the most threads."""
    changed = []
    for line in map(json.loads, records.read_text().splitlines()):
        for row in line.get("rows", []):
            row["parameters"]["milliseconds"] = 500
        if line["record"] == "run" and line["subject"] == "polder" and line["row"] == "mixed/8":
            line["figures"] = {f"throughput_tenth_{tenth}": tenth * 1e6 for tenth in range(1, 11)}
        changed.append(json.dumps(line))
    (tmp_path / "tenths.jsonl").write_text("\n".join(changed) + "\n")
    told = view_of(read([tmp_path / "tenths.jsonl"]))
    rows = sorted((row for row in told.records.rows if row.name == "mixed"), key=lambda row: row.threads or 0)
    chart = thesis.early_phase(told, rows, "tenths")
    assert chart is not None
    (line,) = chart["data"]
    assert line["name"] == "polder"
    assert line["x"] == [50 * tenth for tenth in range(1, 11)]
    assert line["y"] == [tenth * 1e6 for tenth in range(1, 11)]
    assert thesis.early_phase(told, rows[:1], "tenths") is None


def test_the_command_draws_a_page(records: Path, tmp_path: Path, laboratory: Laboratory) -> None:
    out = tmp_path / "figure.html"
    done = laboratory("figure", "michael-8a", "--records", str(records), "--out", str(out))
    assert done.returncode == 0, done.stderr
    page = out.read_text()
    assert "331" in page
    assert "PLDI 2004" in page
    assert "preset michael" in page


def test_the_command_says_what_the_records_lack(records: Path, tmp_path: Path, laboratory: Laboratory) -> None:
    done = laboratory("figure", "scalloc-7a", "--records", str(records), "--out", str(tmp_path / "f.html"))
    assert done.returncode == 2
    assert "no row of shbench" in done.stderr
    assert "./polder bench run --only shbench" in done.stderr
    assert not (tmp_path / "f.html").exists()


def test_without_records_there_is_the_command(laboratory: Laboratory) -> None:
    done = laboratory("figure", "scalloc-8b")
    assert done.returncode == 2
    assert "./polder bench run --only larson" in done.stderr


def test_the_list_has_them_all(records: Path, laboratory: Laboratory) -> None:
    done = laboratory("figure", "--list", "--records", str(records))
    assert done.returncode == 0
    assert all(name in done.stdout for name in NAMES)
    assert "can be drawn" in next(line for line in done.stdout.splitlines() if line.startswith("scalloc-6a"))


@pytest.mark.parametrize(
    "arguments",
    [("figure",), ("figure", "scalloc-8b", "--out", "x.pdf"), ("bench", "report", "none.jsonl"), ("bench", "report", "--chart", "x")],
)
def test_wrong_use_is_status_2(arguments: tuple[str, ...], laboratory: Laboratory) -> None:
    done = laboratory(*arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("polder: ")
