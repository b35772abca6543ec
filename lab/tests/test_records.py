"""Reading records: what was finished counts, what was cut off does not, what is no record is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from conftest import Laboratory
from synthetic import Entry, experiment

from polder_lab.complaint import Complaint
from polder_lab.journal import newest
from polder_lab.report.records import read
from polder_lab.report.words import before_the_phase, clock, facts, warnings


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


def test_files_in_which_a_row_is_something_else_do_not_go_together(tmp_path: Path) -> None:
    first = written(tmp_path / "a.jsonl", experiment(), entry(0, 1.0))
    other = experiment()
    other["rows"] = [{**row, "parameters": {**row.get("parameters", {}), "keys": 7}} for row in other["rows"]]
    second = written(tmp_path / "b.jsonl", other, entry(0, 1.0))
    with pytest.raises(Complaint, match="has other parameters"):
        read([first, second])
    assert len(read([first, written(tmp_path / "c.jsonl", {**experiment(), "name": "c"}, entry(0, 1.0))]).runs) == 2


def test_an_experiment_is_counted_once(tmp_path: Path) -> None:
    first = written(tmp_path / "a.jsonl", experiment(), entry(0, 1.0))
    other = written(tmp_path / "b.jsonl", {**experiment(), "name": "b"}, entry(0, 1.0))
    copied = written(tmp_path / "c.jsonl", experiment(), entry(0, 1.0), entry(1, 1.0))
    for again in (first, copied):
        with pytest.raises(Complaint) as told:
            read([other, first, again])
        assert str(told.value) == f"{again} is of the same experiment as {first}: its runs would count twice"


def test_what_was_measured_later_is_not_absent(tmp_path: Path) -> None:
    told = [{"record": "absent", "what": what, "why": "the time was over before its turn"}
            for what in ("larson/2", "larson/8", "polder", "the pass time", "the pass calls")]
    records = read([written(tmp_path / "a.jsonl", experiment(), *told, entry(0, 1.0))])
    assert [one["what"] for one in records.absent] == ["larson/8", "the pass calls"]


@pytest.mark.parametrize("wrong", [{"record": "run"}, {**entry(1, 1.0), "round": "one"}, {**entry(1, 1.0), "row": 7}])
def test_a_line_that_says_of_nothing_that_it_ran_is_skipped(tmp_path: Path, wrong: Entry) -> None:
    records = read([written(tmp_path / "a.jsonl", experiment(), entry(0, 1.0), wrong)])
    assert (len(records.runs), records.damaged) == (1, 1)


@pytest.mark.parametrize(("odd", "says"), [("NaN", "nan"), ("Infinity", "inf"), ("-Infinity", "-inf"), ("1e999", "inf")])
def test_a_number_that_is_none_is_told(polder: Laboratory, tmp_path: Path, odd: str, says: str) -> None:
    line = json.dumps(entry(1, 1.0, peak_rss=7000)).replace("7000", odd)
    file = written(tmp_path / "a.jsonl", experiment(), entry(0, 1.0), tail=line + "\n")
    done = polder("bench", "report", str(file))
    assert (done.returncode, done.stderr) == (2, f"polder: {file} is damaged: run.peak_rss is {says}\n")


@pytest.mark.parametrize(("more", "says"), [
    ({"subjects": None}, "of which subjects"), ({"subjects": [7]}, "of which subjects"), ({"rows": [{"id": "larson/2"}]}, "of which rows"),
    ({"rows": "larson"}, "of which rows"), ({"name": None}, "has no name"), ({"subjects": []}, "of which subjects"),
])
def test_a_damaged_beginning_is_told(tmp_path: Path, more: Entry, says: str) -> None:
    with pytest.raises(Complaint, match=says):
        read([written(tmp_path / "a.jsonl", {**experiment(), **more}, entry(0, 1.0))])


ROW: Entry = {"id": "larson/2", "name": "larson"}
COMPARISON: Entry = {"key": "a", "title": "A", "what": "b", "measures": [], "threads": [2], "lines": []}


@pytest.mark.parametrize(("number", "more", "says"), [
    (0, {"machine": "x"}, "experiment.machine is 'x'"),
    (0, {"settings": [7]}, "experiment.settings is [7]"),
    (0, {"rows": [{**ROW, "title": 7}]}, "experiment.rows[0].title is 7"),
    (0, {"rows": [ROW, {**ROW, "threads": "two"}]}, "experiment.rows[1].threads is 'two'"),
    (0, {"subjects": [{"name": "polder", "kind": []}]}, "experiment.subjects[0].kind is []"),
    (0, {"comparisons": [{**COMPARISON, "lines": [{"label": "x", "of": "a"}]}]}, "experiment.comparisons[0].lines[0].to is missing"),
    (0, {"comparisons": [{**COMPARISON, "threads": 2}]}, "experiment.comparisons[0].threads is 2"),
    (1, {"pass": "memory", "memory": "x"}, "run.memory is 'x'"),
    (1, {"pass": "memory", "memory": {"rss": ["x", 1]}}, "run.memory.rss[0] is 'x'"),
    (1, {"pass": "memory", "memory": {"rss": [1], "live": [[1, 2], [1]]}}, "run.memory.live[1] is [1]"),
    (1, {"pass": "memory", "memory": {"rss": [1, float("nan")]}}, "run.memory.rss[1] is nan"),
    (1, {"pass": "latency", "latency": {"malloc": "x" * 99}}, "run.latency.malloc is '" + "x" * 39 + "…"),
    (1, {"pass": "latency", "latency": {"malloc": {"worst_ns": 7}}}, "run.latency.malloc.buckets is missing"),
    (1, {"pass": "latency", "latency": {"malloc": {"buckets": [[1, 2, True]]}}}, "run.latency.malloc.buckets[0] is [1, 2, True]"),
    (1, {"pass": "calls", "calls": {"mmap": "many"}}, "run.calls.mmap is 'many'"),
    (1, {"figures": 7}, "run.figures is 7"),
    (1, {"record": "noise", "others_share": "x"}, "noise.others_share is 'x'"),
    (1, {"record": "absent"}, "absent.what is missing"),
    (1, {"record": "end", "seconds": {}}, "end.seconds is {}"),
], ids=range(19))
def test_a_field_that_is_something_else_is_told(tmp_path: Path, number: int, more: Entry, says: str) -> None:
    lines = [experiment(), entry(0, 1.0)]
    lines[number] = {**lines[number], **more}
    file = written(tmp_path / "a.jsonl", *lines, entry(1, 1.0))
    with pytest.raises(Complaint) as told:
        read([file])
    assert str(told.value) == f"{file} is damaged: {says}"


def test_what_is_null_is_not_told(tmp_path: Path) -> None:
    nothing = dict.fromkeys(("latency", "memory", "calls", "figures"))
    records = read([written(tmp_path / "a.jsonl", {**experiment(), "machine": None, "settings": None}, entry(0, 1.0, **nothing))])
    assert (facts(records)[0], len(records.runs)) == (("started", "2026-03-01 21:00"), 1)
    assert warnings(records)


def test_of_a_repetition_made_twice_the_later_counts(tmp_path: Path) -> None:
    records = read([written(tmp_path / "a.jsonl", experiment(), entry(0, 1.0), entry(0, 2.0), entry(1, 3.0))])
    assert records.by_round("time", "larson/2", "polder", lambda run: run.cost) == {0: 2.0, 1: 3.0}


def test_rounds_of_several_files_are_not_paired(tmp_path: Path) -> None:
    one = written(tmp_path / "a.jsonl", experiment(), entry(0, 1.0))
    two = written(tmp_path / "b.jsonl", {**experiment(), "name": "b"}, entry(0, 2.0))
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


def test_peaks_that_are_mostly_of_what_was_there_before_are_told(tmp_path: Path) -> None:
    def said(base: int | None, peak: int) -> str:
        runs = [entry(n, 1.0, base_rss=base, peak_rss=peak) for n in range(3)]
        return before_the_phase(read([written(tmp_path / f"{base}.jsonl", experiment(), *runs)]))

    assert "In 1 of 1 row of workloads that is more than half" in said(4700, 4900)
    assert said(4600, 70_000) == ""
    assert said(None, 70_000) == "", "a program does not tell"


def test_the_clock_s_time_in_each_latency_is_told(tmp_path: Path) -> None:
    def said(**more: object) -> str:
        return clock(read([written(tmp_path / "a.jsonl", experiment(), {**entry(0, 1.0, **more), "pass": "latency"})]))

    assert said(latency_overhead_ns=20).endswith("it is not taken off. Here that is 20 ns.")
    assert said().endswith("it is not taken off.")


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


@pytest.mark.parametrize("left", ["", '{"record": "experi'])
def test_the_newest_has_a_first_record(tmp_path: Path, left: str) -> None:
    whole = written(tmp_path / "b.jsonl", experiment(), entry(0, 1.0))
    for name in ("a.jsonl", "c.jsonl"):
        (tmp_path / name).write_text(left)
        os.utime(tmp_path / name, (2**31, 2**31))
    assert newest(tmp_path) == whole
    whole.unlink()
    with pytest.raises(Complaint, match="there are no records"):
        newest(tmp_path)


def of_file(name: str, digest: str = "12ab", **machine: str) -> Entry:
    one = experiment()
    subjects = [{**subject, "digest": "" if subject["kind"] == "system" else digest} for subject in one["subjects"][:3]]
    return {**one, "name": name, "subjects": subjects, "machine": {**one["machine"], "polder_options": "", **machine}}


@pytest.mark.parametrize(("second", "said"), [
    (of_file("b"), ""),
    (of_file("b", commit="12"), "commits"),
    (of_file("b", polder_options="decay_ms=0"), "POLDER_OPTIONS"),
    (of_file("b", transparent_huge_pages="always"), "settings of huge pages"),
    (of_file("b", "34cd"), "libraries under the same name (polder, scalloc)"),
    (of_file("b", "34cd", cpu="x", kernel="6"), "machines, kernels and libraries under the same name (polder, scalloc)"),
    (of_file("b", ""), ""),
])
def test_what_differs_in_several_files_is_told(tmp_path: Path, second: Entry, said: str) -> None:
    end: Entry = {"record": "end", "interrupted": False, "seconds": 60.0}
    files = [written(tmp_path / f"{one['name']}.jsonl", one, *[entry(n, 1.0) for n in range(6)], end) for one in (of_file("a"), second)]
    told = f"These records come from different {said}: compare within a row only where one of them has it all."
    assert warnings(read(files)) == ([told] if said else [])


def test_of_a_continued_experiment_the_last_end_counts(tmp_path: Path) -> None:
    ends: list[Entry] = [{"record": "end", "interrupted": yes, "seconds": at} for yes, at in ((True, 60.0), (False, 180.0))]
    records = read([written(tmp_path / "a.jsonl", experiment(), entry(0, 1.0), ends[0], entry(1, 1.0), ends[1])])
    assert ("took", "3 minutes") in facts(records)
    assert warnings(records) == ["2 rounds: ratios have intervals from 6 rounds on."]
