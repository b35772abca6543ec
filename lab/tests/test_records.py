"""Reading records: what was finished counts, what was cut off does not, what is no record is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from synthetic import Entry, experiment

from polder_lab.complaint import Complaint
from polder_lab.journal import newest
from polder_lab.report.records import read
from polder_lab.report.words import facts, warnings


def entry(number: int, seconds: float, **more: object) -> Entry:
    return {
        "record": "run",
        "pass": "time",
        "round": number,
        "row": "larson/2",
        "subject": "polder",
        "ok": True,
        "trouble": None,
        "seconds": seconds,
        "operations": None,
        **more,
    }


def written(path: Path, *entries: Entry, tail: str = "") -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in entries) + tail)
    return path


def test_a_cut_line_is_counted_and_skipped(tmp_path: Path) -> None:
    records = read([written(tmp_path / "a.jsonl", experiment(), entry(0, 1.0), tail='{"record": "run", "sec')])
    assert len(records.runs) == 1
    assert records.damaged == 1
    assert records.ends == {}


@pytest.mark.parametrize("wrong", [{"record": "run"}, {**entry(1, 1.0), "round": "one"}, {**entry(1, 1.0), "row": 7}])
def test_a_line_that_says_of_nothing_that_it_ran_is_skipped(tmp_path: Path, wrong: Entry) -> None:
    records = read([written(tmp_path / "a.jsonl", experiment(), entry(0, 1.0), wrong)])
    assert (len(records.runs), records.damaged) == (1, 1)


@pytest.mark.parametrize(("more", "says"), [
    ({"subjects": None}, "of which subjects"), ({"subjects": [7]}, "of which subjects"), ({"rows": [{"id": "larson/2"}]}, "of which rows"),
    ({"rows": "larson"}, "of which rows"), ({"name": None}, "has no name"),
])
def test_a_damaged_beginning_is_told(tmp_path: Path, more: Entry, says: str) -> None:
    with pytest.raises(Complaint, match=says):
        read([written(tmp_path / "a.jsonl", {**experiment(), **more}, entry(0, 1.0))])


def test_of_a_repetition_made_twice_the_later_counts(tmp_path: Path) -> None:
    records = read([written(tmp_path / "a.jsonl", experiment(), entry(0, 1.0), entry(0, 2.0), entry(1, 3.0))])
    assert records.by_round("time", "larson/2", "polder", lambda run: run.cost) == {0: 2.0, 1: 3.0}


def test_rounds_of_several_files_are_not_paired(tmp_path: Path) -> None:
    one = written(tmp_path / "a.jsonl", experiment(), entry(0, 1.0))
    two = written(tmp_path / "b.jsonl", experiment(), entry(0, 2.0))
    records = read([one, two])
    assert sorted(records.by_round("time", "larson/2", "polder", lambda run: run.cost).values()) == [1.0, 2.0]
    assert len(records.subjects) == len(experiment()["subjects"])


def test_failed_runs_have_no_numbers(tmp_path: Path) -> None:
    failed = entry(0, 1.0, ok=False, trouble="hangs: ended after 60 s")
    records = read([written(tmp_path / "a.jsonl", experiment(), failed)])
    assert records.of("time", "larson/2", "polder") == []
    assert records.trouble("larson/2", "polder") == "hangs: ended after 60 s"
    assert records.troubles == [("larson/2", "polder", "time", "hangs: ended after 60 s", 1)]


def test_who_fails_late_has_no_numbers_either(tmp_path: Path) -> None:
    late = entry(2, 1.0, ok=False, trouble="crashes: SIGSEGV")
    other = entry(2, 1.0, subject="jemalloc")
    records = read([written(tmp_path / "a.jsonl", experiment(), entry(0, 1.0), entry(1, 1.0), late, other)])
    assert records.of("time", "larson/2", "polder") == []
    assert records.by_round("time", "larson/2", "polder", lambda run: run.cost) == {}
    assert records.by_round("time", "larson/2", "jemalloc", lambda run: run.cost) == {2: 1.0}


@pytest.mark.parametrize(("instrument", "is_the_heap_s"), [("memory", True), ("latency", True), ("calls", False), ("instructions", False)])
def test_a_failure_is_the_cell_s_unless_another_program_was_around(tmp_path: Path, instrument: str, is_the_heap_s: bool) -> None:
    failed: Entry = {**entry(0, 1.0, ok=False, trouble="crashes: SIGABRT"), "pass": instrument}
    records = read([written(tmp_path / "a.jsonl", experiment(), entry(0, 1.0), failed)])
    assert records.trouble("larson/2", "polder") == ("crashes: SIGABRT" if is_the_heap_s else "")
    assert len(records.of("time", "larson/2", "polder")) == (0 if is_the_heap_s else 1)
    assert records.of(instrument, "larson/2", "polder") == []


def test_a_fixed_time_is_compared_by_operation(tmp_path: Path) -> None:
    records = read([written(tmp_path / "a.jsonl", experiment(), entry(0, 10.0, operations=1000))])
    assert records.by_round("time", "larson/2", "polder", lambda run: run.cost) == {0: 0.01}


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([], "not the record of an experiment"),
        ([{"record": "run"}], "not the record of an experiment"),
        ([{**experiment(), "format": 99}], "format 99"),
        ([experiment()], "no repetition"),
    ],
)
def test_what_is_no_record_is_refused(tmp_path: Path, lines: list[Entry], said: str) -> None:
    with pytest.raises(Complaint, match=said):
        read([written(tmp_path / "a.jsonl", *lines)])


def test_a_missing_file_and_an_empty_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(Complaint, match=r"cannot read .*none\.jsonl"):
        read([tmp_path / "none.jsonl"])
    with pytest.raises(Complaint, match="polder bench run"):
        newest(tmp_path)


def test_of_a_continued_experiment_the_last_end_counts(tmp_path: Path) -> None:
    ends: list[Entry] = [{"record": "end", "interrupted": yes, "seconds": at} for yes, at in ((True, 60.0), (False, 180.0))]
    records = read([written(tmp_path / "a.jsonl", experiment(), entry(0, 1.0), ends[0], entry(1, 1.0), ends[1])])
    assert ("took", "3 minutes") in facts(records)
    assert warnings(records) == ["2 rounds: ratios have intervals from 6 rounds on."]
