"""The page out of records that lack something."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from synthetic import write

from polder_lab.report import page
from polder_lab.report.chart.part import view_of
from polder_lab.report.records import read


def made(tmp_path: Path, *skip: str) -> page.Report:
    return page.make(view_of(read([write(tmp_path / "a.jsonl", skip=skip)])))


def test_rows_without_the_pass_time_are_shown_and_say_so(tmp_path: Path) -> None:
    report = made(tmp_path, "time", "calls", "instructions")
    assert [section.first.name for section in report.sections][:2] == ["threadtest", "threadtest"]
    assert len(report.sections) == 12
    assert {"over-time:larson/2", "percentiles:larson/2:malloc", "over-time:redis"} <= report.contents.charts.keys()
    text = page.render(report)
    assert "No times: the pass time, out of which" in text
    assert text.count("No times: the pass <code>time</code> was not run here.") == len(report.view.records.rows)
    assert "7 workloads and 5 programs in 25 rows, under 9 allocators, 3 rounds; passes: latency, memory." in text


def test_a_row_that_never_calls_malloc_is_among_those_of_latency(tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", skip=("memory", "calls", "instructions"))
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line in lines:
        if line.get("row") == "larson/2" and line.get("latency"):
            line["latency"] = {"calloc": line["latency"].pop("malloc"), **line["latency"]}
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    text = page.render(page.make(view_of(read([file]))))
    latency = text[text.index('<section id="latency"'):]
    assert '<option value="larson/2"' in latency[:latency.index("</section>")]


def test_records_that_give_no_ratio_say_so(tmp_path: Path) -> None:
    text = page.render(made(tmp_path, "time", "latency", "calls", "instructions"))
    assert "No ratios: none of these passes gives one." in text


@pytest.mark.parametrize("skip", [(), ("latency", "memory", "calls", "instructions")])
def test_records_with_times_say_nothing_of_it(tmp_path: Path, skip: tuple[str, ...]) -> None:
    text = page.render(made(tmp_path, *skip))
    assert "No times" not in text
    assert "No ratios" not in text
