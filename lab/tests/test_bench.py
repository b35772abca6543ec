"""`bench run`, list and export, called as the front door calls them."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import polars
import pytest
import synthetic
from conftest import Laboratory
from test_launch import running

from polder_lab import campaign, journal
from polder_lab.command.bench import conduct
from polder_lab.complaint import Complaint
from polder_lab.interval import Ratio
from polder_lab.journal import Journal
from polder_lab.place import Place
from polder_lab.self_test import Twin

Records = list[dict[str, Any]]


def records_of(file: Path) -> Records:
    return [json.loads(line) for line in file.read_text().splitlines()]


def runs_of(records: Records) -> Records:
    return [r for r in records if r["record"] == "run"]


def keys(runs: Records) -> list[tuple[str, int, str, str]]:
    return [(r["pass"], r["round"], r["row"], r["subject"]) for r in runs]


@pytest.fixture
def bench(polder: Laboratory, tmp_path: Path) -> Callable[..., tuple[subprocess.CompletedProcess[str], Records]]:
    def run(*arguments: str, extra: dict[str, str] | None = None) -> tuple[subprocess.CompletedProcess[str], Records]:
        given = ["--heaps", "polder"] if "--heaps" not in arguments and "--resume" not in arguments else []
        done = polder("bench", "run", "--name", "it", "--out", str(tmp_path), *given, *arguments, extra=extra)
        file = tmp_path / "it.jsonl"
        return done, records_of(file) if file.exists() else []

    return run


Bench = Callable[..., tuple[subprocess.CompletedProcess[str], Records]]


def test_the_records(bench: Bench) -> None:
    done, records = bench("--quick", "--only", "larson,jq", "--threads", "1,2", "--rounds", "2", "--seed", "3", "--pass",
                          "time,latency,memory,calls", "--minutes", "5")
    assert done.returncode == 0, done.stderr
    assert "larson:quick ×2" in done.stdout
    assert "./polder bench report" in done.stdout
    experiment, *rest = records
    assert (experiment["record"], experiment["format"], experiment["name"], experiment["seed"]) == ("experiment", 1, "it", 3)
    assert [s["name"] for s in experiment["subjects"]] == ["system", "polder"]
    assert experiment["subjects"][0]["version"].startswith("glibc")
    row = next(r for r in experiment["rows"] if r["id"] == "larson:quick/2")
    assert (row["kind"], row["threads"], row["preset"], row["parameters"]) == ("workload", 2, "quick", {"rounds": 10})
    runs = runs_of(records)
    passes = Counter((r["pass"], r["row"]) for r in runs)
    rows = ("larson:quick/1", "larson:quick/2", "jq")
    assert passes == {**{("time", row): 4 for row in rows}, **{(one, row): 2 for one in ("memory", "calls") for row in rows},
                      **{("latency", row): 2 for row in rows[:2]}}
    assert all(r["ok"] and not r["trouble"] for r in runs)
    timed = next(r for r in runs if r["pass"] == "time" and r["row"] == "larson:quick/1")
    assert (timed["seconds"], timed["operations"], timed["frees"], timed["remote_frees"], timed["live_peak"]) == (0.25, 1000, 500, 5, None)
    assert (timed["base_rss"], timed["allocator_seconds"]) == (2000 * 1024, None)
    timed_calls = next(r for r in runs if r["pass"] == "latency")
    assert (timed_calls["latency"]["malloc"]["worst_ns"], timed_calls["latency_overhead_ns"]) == (99, 21)
    looked = next(r for r in runs if r["pass"] == "memory" and r["row"] == "larson:quick/1")
    memory = looked["memory"]
    [[at, live]] = memory["live"]
    assert (memory["interval"], live) == (0.01, 4096)
    assert 0.006 < at < looked["wall"] + 0.001, "0.001 s after its workers began, and that was after a sleep of 0.005 s"
    assert max(memory["rss"]) > 5 << 20
    calls = next(r for r in runs if r["pass"] == "calls" and r["row"] == "jq")["calls"]
    assert calls["read"] > 0
    assert "total" not in calls
    assert [r["at"] for r in runs] == sorted(r["at"] for r in runs)
    assert sum(r["record"] == "noise" for r in rest) == 2
    assert rest[-1]["record"] == "end"
    assert rest[-1]["interrupted"] is False


def test_the_same_seed_gives_the_same_order(bench: Bench, tmp_path: Path) -> None:
    orders = []
    for _ in range(2):
        _, records = bench("--only", "larson,threadtest", "--threads", "1,2", "--rounds", "3", "--seed", "3", "--pass",
                           "time")
        orders.append(keys(runs_of(records)))
        (tmp_path / "it.jsonl").unlink()
    assert orders[0] == orders[1]
    first = [subject for _, number, _, subject in orders[0][::2]]
    assert set(first) == {"system", "polder"}, "neither side is always first"


def test_quick_takes_quick_presets_or_scales(bench: Bench) -> None:
    done, records = bench("--quick", "--only", "larson,threadtest", "--rounds", "1")
    assert done.returncode == 0, done.stderr
    rows = {r["id"]: r for r in records[0]["rows"]}
    assert rows["threadtest:quick/2"]["parameters"] == {"rounds": 5}
    assert rows["larson:quick/2"]["parameters"] == {"rounds": 10}
    assert {r["pass"] for r in runs_of(records)} == {"time", "latency", "memory"}


def test_full_takes_the_papers_presets(bench: Bench) -> None:
    done, records = bench("--full", "--only", "larson", "--rounds", "1", "--pass", "time")
    assert done.returncode == 0, done.stderr
    assert [r["id"] for r in records[0]["rows"]] == [f"larson{p}/{t}" for p in ("", ":scalloc") for t in (1, 2, 8, 32)]


def test_the_table_is_as_wide_as_its_subjects(bench: Bench, compiled: Callable[[str], Path], tmp_path: Path) -> None:
    libraries = [tmp_path / f"lib-with-a-long-name-{letter}.so" for letter in "abcdefghij"]
    for library in libraries:
        shutil.copy(compiled(""), library)
    done, _ = bench("--only", "larson/1", "--heaps", ",".join(map(str, libraries)), "--threads", "1", "--rounds", "1", "--pass", "time",
                    "--seed", "1")
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("larson"))
    assert len(re.findall(r"\d\.\d\d\b", line)) >= len(libraries), done.stdout
    assert "…" not in done.stdout


def test_a_preset_by_name(bench: Bench) -> None:
    _, records = bench("--preset", "scalloc", "--threads", "1", "--rounds", "1", "--pass", "time")
    assert [r["id"] for r in records[0]["rows"]] == ["larson:scalloc/1"]


def test_a_row_is_chosen_by_its_own_id(bench: Bench) -> None:
    _, records = bench("--only", "larson:scalloc/2", "--rounds", "1", "--pass", "time")
    assert [r["id"] for r in records[0]["rows"]] == ["larson:scalloc/2"]


@pytest.mark.parametrize(("habit", "story"), [
    ("CRASHES", "crashes: SIGABRT"),
    ("HANGS", "hangs: ended after 4 s"),
    ("NO_MALLOC", "not served: malloc is that of"),
    ("CHATTY", "prints something else than under the system's malloc"),
])
def test_trouble_is_a_record_and_the_run_goes_on(bench: Bench, compiled: Callable[[str], Path], habit: str, story: str) -> None:
    done, records = bench("--quick", "--only", "perl", "--rounds", "2", "--limit", "4", "--pass", "time,memory",
                          "--heaps", f"polder,{compiled(habit)}")
    assert done.returncode == 0, done.stderr
    bad = [r for r in runs_of(records) if r["subject"] == habit.lower()]
    assert [(r["ok"], r["trouble"].startswith(story)) for r in bad] == [(False, True)]
    assert len([r for r in runs_of(records) if r["subject"] == "polder" and r["ok"]]) == 3
    assert f"FAILED    perl under {habit.lower()} {story}" in done.stdout


def test_a_later_crash_is_a_record_too(bench: Bench, compiled: Callable[[str], Path], tmp_path: Path) -> None:
    _, records = bench("--only", "threadtest", "--threads", "1", "--rounds", "6", "--pass", "time", "--heaps", str(compiled("LATER")),
                       extra={"TELL_TO": str(tmp_path / "starts")})
    mine = [r for r in runs_of(records) if r["subject"] == "later"]
    assert [r["ok"] for r in mine] == [True, True, False]
    assert len([r for r in runs_of(records) if r["subject"] == "system"]) == 6, "the base is measured all the same"


def test_the_base_may_fail(bench: Bench) -> None:
    done, records = bench("--only", "larson", "--threads", "1,2", "--rounds", "1", "--pass", "time", extra={"FAKE_BENCH_FAILS": "larson/2"})
    assert done.returncode == 0
    assert {(r["row"], r["ok"]) for r in runs_of(records)} == {("larson/1", True), ("larson/2", False)}
    assert "1 block was lost" in next(r for r in runs_of(records) if not r["ok"])["trouble"]


def test_what_is_not_there_is_named(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    _, records = bench("--only", "larson", "--threads", "1", "--rounds", "1", "--pass", "time,latency", "--heaps", "polder,absent",
                       extra={"FAKE_BENCH_IS_OLD": "1"})
    absent = {r["what"]: r["why"] for r in records if r["record"] == "absent"}
    assert "is not built" in absent["absent"]
    assert "has no --latency" in absent["the pass latency"]
    assert {r["pass"] for r in runs_of(records)} == {"time"}


def test_until_leaves_tight_rows_out(bench: Bench) -> None:
    # The fake tells the same seconds each time, so that the interval has no width as soon as there is one.
    _, records = bench("--quick", "--only", "larson,jq", "--threads", "1", "--rounds", "8", "--until", "0.0001%", "--pass", "time")
    rounds = {row: 1 + max(r["round"] for r in runs_of(records) if r["row"] == row) for row in ("larson:quick/1", "jq")}
    assert rounds == {"larson:quick/1": 6, "jq": 8}


def test_without_the_pass_time_it_says_that_there_is_no_table(bench: Bench) -> None:
    done, records = bench("--only", "larson", "--threads", "1", "--rounds", "1", "--pass", "latency")
    assert done.returncode == 0, done.stderr
    assert {r["pass"] for r in runs_of(records)} == {"latency"}
    assert "No table: the pass time was not asked for." in done.stdout


def test_resume_runs_what_is_not_there(bench: Bench, tmp_path: Path) -> None:
    asked = ("--only", "larson,threadtest", "--threads", "1", "--rounds", "4", "--seed", "9", "--pass", "time,memory")
    _, whole = bench(*asked)
    file = tmp_path / "it.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    kept = [at for at, line in enumerate(lines) if '"record":"run"' in line][8]
    file.write_text("".join(lines[:kept]) + lines[kept][:40])  # killed while it wrote
    done, records = bench("--resume")
    assert done.returncode == 0, done.stderr
    assert [json.dumps(r) for r in records[:kept]] == [json.dumps(json.loads(line)) for line in lines[:kept]], "what is finished stays"
    assert sorted(keys(runs_of(records))) == sorted(keys(runs_of(whole))), "each repetition once"
    assert sum(r["record"] == "experiment" for r in records) == 1
    before = len(runs_of(records))
    _, records = bench("--resume")
    assert len(runs_of(records)) == before, "nothing was left to do"
    _, records = bench("--resume", "--rounds", "5")
    assert len(runs_of(records)) == before + 4, "another round"


@pytest.mark.parametrize("passes", ["time", "latency"])
def test_who_fails_the_proof_of_a_later_part_has_a_record_too(bench: Bench, passes: str) -> None:
    bench("--only", "larson", "--threads", "1", "--rounds", "2", "--pass", passes)
    for _ in range(2):
        done, records = bench("--resume", "--rounds", "3", extra={"FAKE_BENCH_FAILS": "larson/1"})
        assert done.returncode == 0, done.stderr
        bad = [(r["pass"], r["round"], r["subject"]) for r in runs_of(records) if not r["ok"]]
        number = 2 if passes == "time" else 0
        assert bad == [("time", number, "system"), ("time", number, "polder")], "once, in a round that is its own"
        assert "FAILED    larson ×1 under polder fails" in done.stdout
    assert len(runs_of(records)) == 6


def test_resume_refuses_another_library(bench: Bench, build: Path, tmp_path: Path) -> None:
    library = tmp_path / "libmine.so"
    shutil.copy(build / "lib" / "libpolder.so", library)
    bench("--only", "larson", "--threads", "1", "--rounds", "1", "--pass", "time", "--heaps", str(library))
    with library.open("ab") as file:
        file.write(b"changed")
    done, _ = bench("--resume")
    assert done.returncode == 2
    assert "another library than before: mine" in done.stderr


def test_resume_refuses_another_harness(bench: Bench, build: Path) -> None:
    """Structures and reclaimers are compiled into it."""
    bench("--only", "larson", "--threads", "1", "--rounds", "1", "--pass", "time")
    program = build / "bin" / "polder-bench"
    text = program.read_bytes()
    try:
        program.write_bytes(text + b"# changed\n")
        done, _ = bench("--resume")
    finally:
        program.write_bytes(text)
    assert done.returncode == 2
    assert "another harness than before: polder-bench" in done.stderr


@pytest.mark.parametrize(("before", "now"), [("decay_ms=0", ""), ("", "decay_ms=0"), ("decay_ms=0", "thp=off")])
def test_resume_refuses_other_options_of_the_heap(bench: Bench, before: str, now: str) -> None:
    bench("--only", "larson", "--threads", "1", "--rounds", "1", "--pass", "time", extra={"POLDER_OPTIONS": before})
    done, _ = bench("--resume", "--rounds", "2", extra={"POLDER_OPTIONS": now})
    assert done.returncode == 2
    assert done.stderr == f"polder: cannot continue: under other conditions than before: POLDER_OPTIONS '{now}', before '{before}'\n"
    done, records = bench("--resume", "--rounds", "2", extra={"POLDER_OPTIONS": before})
    assert (done.returncode, len(runs_of(records))) == (0, 4), done.stderr


@pytest.mark.parametrize(("name", "said"), [("transparent_huge_pages", "huge pages '"), ("cpu", "processor '"), ("kernel", "kernel '"),
                                            ("cores", "cores '")])
def test_resume_refuses_another_machine(bench: Bench, tmp_path: Path, name: str, said: str) -> None:
    _, (first, *rest) = bench("--only", "larson", "--threads", "1", "--rounds", "1", "--pass", "time")
    there = first["machine"][name]
    first["machine"][name] = "another"
    (tmp_path / "it.jsonl").write_text("".join(json.dumps(r) + "\n" for r in (first, *rest)))
    done, _ = bench("--resume", "--rounds", "2")
    assert done.returncode == 2
    assert f"under other conditions than before: {said}{there}', before 'another'" in done.stderr


@pytest.mark.parametrize("changed", ["libmine.so", "build/lib/libpolder_bench_it.so"])
def test_what_changes_while_it_is_measured_ends_it(build: Path, environment: dict[str, str], tmp_path: Path, changed: str) -> None:
    copied = shutil.copytree(build, tmp_path / "build")
    library, changing = tmp_path / "libmine.so", tmp_path / changed
    for file in (library, changing):
        shutil.copy(build / "lib" / "libpolder.so", file)
    call = [sys.executable, "-m", "polder_lab", "bench", "run", "--build", str(copied), "--rounds", "500", "--only", "larson", "--threads",
            "1", "--pass", "time", "--heaps", str(library), "--name", "it", "--out", str(tmp_path)]
    with subprocess.Popen(call, stderr=subprocess.PIPE, text=True, env=environment) as one:
        assert one.stderr is not None
        for line in one.stderr:
            if line.startswith("round 4 "):
                with changing.open("ab") as grown:
                    grown.write(b"changed")
                break
        said = one.stderr.read()
    assert one.returncode == 2
    assert f"{changing} has changed since the measuring began" in said
    assert max(r["round"] for r in runs_of(records_of(tmp_path / "it.jsonl"))) < 499


def test_an_experiment_that_is_going_on_is_not_continued(bench: Bench, tmp_path: Path) -> None:
    bench("--only", "larson", "--threads", "1", "--rounds", "1", "--pass", "time")
    with closing(Journal(tmp_path / "it.jsonl", again=True)):
        done, _ = bench("--resume", "--rounds", "2")
    assert done.returncode == 2
    assert "its experiment is going on" in done.stderr


def test_ctrl_c(build: Path, environment: dict[str, str], tmp_path: Path) -> None:
    call = [sys.executable, "-m", "polder_lab", "bench", "run", "--build", str(build), "--rounds", "500", "--only", "larson", "--threads",
            "1", "--pass", "time", "--heaps", "polder", "--name", "it", "--out", str(tmp_path)]
    extra = {**environment, "FAKE_BENCH_SECONDS": "0.08713"}
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=extra) as one:
        assert one.stderr is not None
        for line in one.stderr:
            if line.startswith("round 4 "):
                break
        one.send_signal(signal.SIGINT)
        out, _ = one.communicate(timeout=60)
    assert one.returncode == 130
    assert "--resume continues it" in out
    records = records_of(tmp_path / "it.jsonl")
    assert (records[-1]["record"], records[-1]["interrupted"]) == ("end", True)
    assert len(runs_of(records)) >= 6
    deadline = time.monotonic() + 10
    while running(str(build / "bin")) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert running(str(build / "bin")) == []


def test_a_full_disk_loses_nothing_that_is_finished(build: Path, environment: dict[str, str], bench: Bench, tmp_path: Path) -> None:
    """A limit on files stands for the disk: the measured programs have it too, so that only the records may come near it."""
    bench("--only", "larson", "--threads", "1", "--rounds", "1", "--pass", "time")
    limit = 16 << 20
    file = tmp_path / "it.jsonl"
    with file.open("a") as padding:
        padding.write(json.dumps({"record": "absent", "what": "x", "why": "x" * (limit - file.stat().st_size - 12_000)}) + "\n")
    call = [sys.executable, "-m", "polder_lab", "bench", "run", "--build", str(build), "--rounds", "100", "--resume", "--name", "it",
            "--out", str(tmp_path)]
    done = subprocess.run(["prlimit", f"--fsize={limit}", *call], capture_output=True, text=True, env=environment, timeout=100)
    assert done.returncode == 2, done.stderr
    assert "cannot write" in done.stderr
    assert "--resume continues it" in done.stderr
    assert "Traceback" not in done.stderr
    assert file.read_bytes().endswith(b"}\n"), "the line that did not fit is cut off"
    finished = keys(runs_of(records_of(file)))
    assert 10 < len(finished) < 100
    done, records = bench("--resume", "--rounds", "16")
    assert done.returncode == 0, done.stderr
    assert set(finished) <= set(keys(runs_of(records)))


@pytest.mark.parametrize("why", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_first_record_that_cannot_be_written_leaves_no_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, why: BaseException) -> None:
    write = Mock(side_effect=why)
    monkeypatch.setattr("polder_lab.journal.os.write", write)
    with pytest.raises((Complaint, KeyboardInterrupt)) as told:
        journal.begin(tmp_path / "it.jsonl", synthetic.experiment())
    monkeypatch.undo()
    write.assert_called_once()
    assert "--resume" not in str(told.value)
    assert list(tmp_path.iterdir()) == []


def test_an_end_while_the_first_record_is_made_leaves_no_file(monkeypatch: pytest.MonkeyPatch, build: Path, root: Path,
                                                              tmp_path: Path) -> None:
    made = Mock(side_effect=KeyboardInterrupt)
    monkeypatch.setattr(campaign, "experiment_record", made)
    settings = campaign.Settings("quick", ["polder"], ["larson"], [2], None, ["time"], 1, 1, 1, True, 0, 10)
    with pytest.raises(KeyboardInterrupt):
        conduct(settings, [], tmp_path / "it.jsonl", Place(root, build))
    made.assert_called_once()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_export(bench: Bench, polder: Laboratory, tmp_path: Path, kind: str) -> None:
    _, records = bench("--quick", "--only", "larson,jq", "--threads", "1", "--rounds", "2", "--pass", "time,latency")
    file = tmp_path / f"table.{kind}"
    done = polder("bench", "export", f"--{kind}", str(file), str(tmp_path / "it.jsonl"))
    assert done.returncode == 0, done.stderr
    table = polars.read_csv(file) if kind == "csv" else polars.read_parquet(file)
    assert table.height == len(runs_of(records))
    larson = table.filter(polars.col("workload") == "larson", polars.col("pass") == "latency").row(0, named=True)
    assert (larson["seconds"], larson["threads"], larson["subject_kind"] in ("system", "polder")) == (0.25, 1, True)
    assert json.loads(larson["latency"])["malloc"]["count"] == 3


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_an_export_that_does_not_fit_is_told(polder: Laboratory, tmp_path: Path, kind: str) -> None:
    whole = synthetic.write(tmp_path / "whole.jsonl")
    done = polder("bench", "export", f"--{kind}", "/dev/full", str(whole))
    assert (done.returncode, "Traceback" in done.stderr) == (2, False), done.stderr
    assert f"--{kind}: cannot write /dev/full: " in done.stderr
    assert "No space left on device" in done.stderr


@pytest.mark.parametrize("odd", [[[1]], "many", {"a": 1}])
def test_an_export_of_a_damaged_record_is_refused(polder: Laboratory, tmp_path: Path, odd: object) -> None:
    lines = [{**line, "operations": odd} if line["record"] == "run" and at > 300 else line for at, line in enumerate(synthetic.entries())]
    (tmp_path / "odd.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = polder("bench", "export", "--csv", "table.csv", str(tmp_path / "odd.jsonl"))
    assert (done.returncode, "Traceback" in done.stderr) == (2, False), done.stderr
    assert done.stderr.startswith("polder: the record of synthetic is damaged: ")


def test_list(polder: Laboratory) -> None:
    told = json.loads(polder("bench", "list", "--json").stdout)
    assert [w["name"] for w in told["workloads"]] == ["larson", "threadtest"]
    assert "system" in [s["name"] for s in told["subjects"]]
    text = polder("bench", "list").stdout
    assert "scalloc" in text
    assert "jq" in text


def test_built_peers_are_subjects(polder: Laboratory, root: Path, build: Path) -> None:
    folder = root / "build" / "peers" / "lib"
    folder.mkdir(parents=True)
    try:
        shutil.copy(build / "lib" / "libpolder.so", folder / "jemalloc.so")
        (folder / "jemalloc.json").write_text(json.dumps({"version": "3.1", "origin": "a crate"}))
        assert "jemalloc" in [s["name"] for s in json.loads(polder("bench", "list", "--json").stdout)["subjects"] if s["present"]]
        done = polder("bench", "run", "--only", "larson", "--threads", "1", "--rounds", "1", "--pass", "time", "--name", "peers",
                      "--out", str(root / "results"))
        assert done.returncode == 0, done.stderr
        told = records_of(root / "results" / "peers.jsonl")[0]["subjects"]
        assert next(s for s in told if s["name"] == "jemalloc")["version"] == "3.1"
    finally:
        shutil.rmtree(folder)


def test_check(polder: Laboratory) -> None:
    """What it prints; whether the figures are good is the machine's affair. The fake tells the same seconds each time."""
    done = polder("bench", "check", "--rounds", "6", extra={"FAKE_BENCH_SECONDS": "0.001"})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the launcher (pass time): +0.00 % (+0.00 % … +0.00 %)" in done.stdout
    assert "and the sampler (pass memory)" in done.stdout
    assert "A/A, polder against itself: 0 of 8 intervals exclude 1.0" in done.stdout


@pytest.mark.long
def test_check_finds_a_copy_that_differs(polder: Laboratory) -> None:
    done = polder("bench", "check", "--rounds", "6", extra={"FAKE_BENCH_SECONDS": "0.001", "FAKE_BENCH_COPY": "1.02"})
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1.020  1.02 – 1.02  excludes 1; once more 1.020  1.02 – 1.02" in done.stdout
    assert "8 of 8 intervals exclude 1.0, 8 of them again: more than 1 of 20 is too many" in done.stdout


@pytest.mark.parametrize(("again", "differs"), [
    (None, True), (Ratio(1.01, 1.001, 1.02), True), (Ratio(1.01, 0.99, 1.02), False), (Ratio(0.98, 0.97, 0.99), False),
])
def test_an_accident_does_not_come_again(again: Ratio | None, differs: bool) -> None:
    assert Twin("larson", Ratio(1.02, 1.01, 1.03), again).differs is differs


@pytest.mark.parametrize(("arguments", "message"), [
    (("run", "--preset", "scaloc"), "there is no preset 'scaloc'; nearest: scalloc"),
    (("run", "--only", "larsen"), "nothing matches larsen; nearest: larson"),
    (("run", "--only", "larson,larson:scaloc"), "nothing matches larson:scaloc; nearest: larson"),
    (("run", "--preset", "scalloc", "--only", "larson,threadtest"), "threadtest has no preset scalloc"),
    (("run", "--heaps", "poldr"), "there is no heap 'poldr'; nearest: polder"),
    (("run", "--heaps", "absent"), "is not built"),
    (("run", "--pass", "tme"), "there is no pass 'tme'; nearest: time"),
    (("run", "--until", "x"), "--until wants a share such as 2%"),
    (("run", "--threads", "0"), "--threads wants numbers"),
    (("run", "--quick", "--full"), "not both"),
    (("run", "--resume", "--only", "jq"), "--only does not go with it"),
    (("run", "--resume", "--name", "nowhere"), "cannot read"),
    (("run", "--name", "a/b"), "--name is a file's name"),
    (("run", "--only", "jq", "--heaps", "polder", "--pass", "latency"), "latency: none of the chosen rows has what it looks at"),
    (("export", "/nowhere.jsonl", "--csv", "x"), "cannot read /nowhere.jsonl"),
    (("export",), "--csv FILE or --parquet FILE"),
    (("rnu",), "there is no command 'rnu'; nearest: run"),
])
def test_wrong_use(polder: Laboratory, arguments: tuple[str, ...], message: str) -> None:
    done = polder("bench", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("content", "message"), [
    ("", "is not the record of an experiment"),
    ('{"record":"end"}\n', "is not the record of an experiment"),
    ('{"record":"experiment","format":1}\nnonsense\n{"record":"end"}\n', "line 2 is not a record"),
    ('{"record":"experiment","format":9}\n', "has format 9"),
])
def test_what_is_no_record(polder: Laboratory, tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text(content)
    done = polder("bench", "export", str(file), "--csv", os.devnull)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_taken_name(bench: Bench) -> None:
    asked = ("--only", "larson", "--threads", "1", "--rounds", "1", "--pass", "time")
    bench(*asked)
    done, _ = bench(*asked)
    assert done.returncode == 2
    assert "--resume continues it, or take another --name" in done.stderr
