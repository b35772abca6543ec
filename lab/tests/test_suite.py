"""`bench run --suite`: rows that are compared with each other, interleaved as one."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Laboratory

Records = list[dict[str, Any]]
Run = Callable[..., tuple[subprocess.CompletedProcess[str], Records]]
HAS_SET = {"FAKE_BENCH_HAS_SET": "1"}


@pytest.fixture
def run(polder: Laboratory, tmp_path: Path) -> Run:
    def call(*arguments: str) -> tuple[subprocess.CompletedProcess[str], Records]:
        done = polder("bench", "run", "--name", "it", "--out", str(tmp_path), *arguments, extra=HAS_SET)
        file = tmp_path / "it.jsonl"
        return done, [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    return call


def test_the_rows_are_those_of_the_comparisons(run: Run) -> None:
    done, records = run("--suite", "reclamation", "--quick", "--heaps", "polder", "--rounds", "1", "--pass", "time")
    assert done.returncode == 0, done.stderr
    rows = {row["id"]: row["parameters"] for row in records[0]["rows"]}
    everywhere = ("debra.at_once", "ebr.at_once", "hp.at_once", "debra.amortized")
    trees = [f"set:abtree.{one}/{threads}" for one in everywhere for threads in (2, 8)]
    once = ["set:abtree.ebr.amortized/8", "set:abtree.hp.amortized/8", "set:skip-list.debra.at_once/2", "set:hash-map.debra.at_once/2",
            "set:tbb-hash-map.own.at_once/2"]
    assert sorted(rows) == sorted([*trees, *once])
    of = rows["set:abtree.hp.amortized/8"]
    assert (of["structure"], of["reclaimer"], of["drain"], of["keys"], of["milliseconds"]) == ("abtree", "hp", "amortized", "100000", "100")
    compared = {one["key"]: [(line["label"], line["of"], line["to"]) for line in one["lines"]] for one in records[0]["comparisons"]}
    assert ("hp", "set:abtree.hp.at_once", "set:abtree.debra.at_once") in compared["reclaimers"]
    assert ("hp", "set:abtree.hp.amortized", "set:abtree.hp.at_once") in compared["amortized"]
    assert ("tbb-hash-map", "set:tbb-hash-map.own.at_once", "set:hash-map.debra.at_once") in compared["tables"]
    assert [label for label, *_ in compared["ordered"]] == ["abtree", "skip-list"]
    assert "leaking" not in compared
    assert {one["key"]: one["threads"] for one in records[0]["comparisons"]} == {"reclaimers": [2, 8], "drains": [2, 8], "amortized": [8],
                                                                                "ordered": [2], "tables": [2]}
    assert {one["what"].split()[0] for one in records if one["record"] == "absent"} == {"libcds's"}


def test_the_field_is_every_row_but_those_of_structures(run: Run) -> None:
    done, records = run("--suite", "peers", "--quick", "--heaps", "polder", "--only", "larson,threadtest,set", "--rounds", "1",
                        "--pass", "time")
    assert done.returncode == 0, done.stderr
    assert {row["id"] for row in records[0]["rows"]} == {"larson:quick/2", "threadtest:quick/2"}
    assert {one["what"] for one in records if one["record"] == "absent"} >= {"set:quick/2"}
    assert "Time, ratio to the best peer of the row" in done.stdout
    assert "Peak memory, ratio to the best peer of the row" in done.stdout
    larson = next(line for line in done.stdout.splitlines() if line.startswith("Larson"))
    assert len(larson.split()) >= 3


def test_a_field_of_nothing_is_told(run: Run) -> None:
    done, _ = run("--suite", "peers", "--quick", "--heaps", "polder", "--only", "set", "--rounds", "1")
    assert done.returncode == 2
    assert "nothing of the suite peers matches set" in done.stderr


def test_rows_that_are_compared_run_back_to_back(run: Run) -> None:
    """Under one heap after the other all rows of the tree at this number of threads, in an order drawn by lot."""
    _, records = run("--suite", "reclamation", "--quick", "--heaps", "polder", "--rounds", "2", "--pass", "time", "--seed", "3",
                     "--only", "set:abtree.*.at_once/*")
    runs = [r for r in records if r["record"] == "run"]
    orders = []
    for number in (0, 1):
        of_round = [(r["row"].rpartition("/")[2], r["subject"], r["row"]) for r in runs if r["round"] == number]
        stretches = [of_round[0][:2]]
        for *key, _ in of_round:
            if tuple(key) != stretches[-1]:
                stretches.append((key[0], key[1]))
        assert len(stretches) == len(set(stretches)) == 4, "2 heaps, 2 numbers of threads"
        assert [threads for threads, _ in stretches][0::2] == [threads for threads, _ in stretches][1::2], "a number of threads at a time"
        orders.append([row for threads, subject, row in of_round if (threads, subject) == ("2", "polder")])
    assert sorted(orders[0]) == sorted(orders[1])
    assert orders[0] != orders[1]


def test_the_frees_have_a_pass_of_their_own(run: Run) -> None:
    """But a row that the workload refuses to time has none."""
    _, records = run("--suite", "reclamation", "--quick", "--heaps", "polder", "--rounds", "2", "--only", "hash-map")
    told = [(r["pass"], "free_p999_ns" in r["figures"]) for r in records if r["record"] == "run" and r["subject"] == "polder"]
    assert sorted(told) == [("frees", True), *[("time", False)] * 4]


def test_a_suite_is_continued(run: Run, polder: Laboratory, tmp_path: Path) -> None:
    run("--suite", "reclamation", "--quick", "--heaps", "polder", "--rounds", "1", "--pass", "time", "--only", "set:abtree.hp.at_once/2")
    done = polder("bench", "run", "--resume", "--name", "it", "--out", str(tmp_path), "--rounds", "2", extra=HAS_SET)
    assert done.returncode == 0, done.stderr
    runs = [json.loads(line) for line in (tmp_path / "it.jsonl").read_text().splitlines()]
    of_round = [sum(r["record"] == "run" and r["round"] == number for r in runs) for number in (0, 1)]
    assert of_round == [2, 2]
    done = polder("bench", "run", "--resume", "--name", "it", "--out", str(tmp_path), "--until", "2%", extra=HAS_SET)
    assert done.returncode == 2
    assert "--until does not go with --suite reclamation" in done.stderr


def test_the_default_is_no_suite(run: Run) -> None:
    _, records = run("--quick", "--heaps", "polder", "--rounds", "1", "--pass", "time", "--only", "set")
    assert [row["id"] for row in records[0]["rows"]] == ["set:quick/2"]
    assert "comparisons" not in records[0]


@pytest.mark.parametrize(("arguments", "said"), [
    (("--suite", "reclamations"), "there is no suite 'reclamations'; there is: peers, reclamation"),
    (("--suite", "reclamation", "--only", "larson"), "nothing of the suite reclamation matches larson"),
    (("--suite", "reclamation", "--only", "abtree,larson"), "nothing of the suite reclamation matches larson"),
    (("--suite", "reclamation", "--preset", "quick"), "--preset does not go with --suite"),
    (("--suite", "reclamation", "--until", "2%"), "--until does not go with --suite reclamation: its rows are compared with each other"),
])
def test_wrong_use(run: Run, arguments: tuple[str, ...], said: str) -> None:
    done, records = run(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert not records


def test_the_list_has_suites(polder: Laboratory) -> None:
    assert "--suite reclamation" in polder("bench", "list").stdout
    assert json.loads(polder("bench", "list", "--json").stdout)["suites"][0]["name"] == "peers"
