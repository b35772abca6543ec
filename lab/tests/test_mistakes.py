"""Counts and their matrix, over mistakes whose runs end in one way each."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Laboratory

from polder_lab.interval import share
from polder_lab.mistakes.count import Count
from polder_lab.mistakes.matrix import cell


def row(output: str, mistake: str) -> str:
    return next(line for line in output.splitlines() if line.split()[:1] == [mistake]).split(maxsplit=1)[1].strip()


def test_what_a_cell_says(polder: Laboratory) -> None:
    done = polder("mistakes", "--runs", "60", "--only", "none,a,half-held,mixed,rare-harm,hang,absent")
    assert done.returncode == 0, done.stderr
    assert row(done.stdout, "none") == "prevented"
    assert row(done.stdout, "always") == "always"
    assert row(done.stdout, "dies") == "dies"
    assert row(done.stdout, "no") == "no"
    assert row(done.stdout, "half") == "0.50 (0.38–0.62)"
    assert row(done.stdout, "held") == "prevented"
    assert row(done.stdout, "half-held") == "0.50 (0.38–0.62), rest prevented"
    assert row(done.stdout, "mixed") == "0.033 (0.009–0.114), harm 0.033 (0.009–0.114)"
    assert row(done.stdout, "rare-harm").startswith("harm 0.03")
    assert row(done.stdout, "hang") == "hangs"
    assert row(done.stdout, "absent") == "–"


def test_portions_are_added_up(polder: Laboratory, tmp_path: Path) -> None:
    raw = tmp_path / "raw.json"
    done = polder("mistakes", "--runs", "120", "--heap", "system,polder", "--only", "half,hang", "--json", str(raw), "--markdown")
    assert done.returncode == 0, done.stderr
    told = json.loads(raw.read_text())
    assert told["schema"] == "polder-mistakes/1"
    half = next(c for c in told["counts"] if (c["mistake"], c["heap"]) == ("half", "system"))
    assert (half["runs"], half["noticed"], half["harmed"], half["said"]) == (120, 60, 60, "fake: `half`")
    assert all(c["hung"] <= 6 for c in told["counts"])  # no more are made where some were shown
    assert "| `half` | what half is; *harm of half* | 0.50 (0.41–0.59) | 0.50 (0.41–0.59) |" in done.stdout
    assert "- half: `fake:  half `" in done.stdout


def test_modes_are_columns(polder: Laboratory) -> None:
    done = polder("mistakes", "--heap", "polder,polder+hardened", "--only", "no")
    assert done.returncode == 0, done.stderr
    assert row(done.stdout, "no").split() == ["no", "always"]


def test_columns_out_of_a_file(polder: Laboratory, tmp_path: Path) -> None:
    raw = tmp_path / "raw.json"
    assert polder("mistakes", "--runs", "60", "--heap", "system,polder", "--only", "half,no", "--json", str(raw)).returncode == 0
    alone = polder("mistakes", "--from", str(raw))
    assert alone.returncode == 0, alone.stderr
    assert row(alone.stdout, "half").split("  ") == ["0.50 (0.38–0.62)", "0.50 (0.38–0.62)"]
    assert "60 runs" in alone.stdout
    beside = polder("mistakes", "--from", str(raw), "--heap", "polder,polder+hardened", "--only", "no,always")
    assert beside.stdout.split()[:3] == ["system", "polder", "polder+hardened"]
    assert row(beside.stdout, "no").split() == ["no", "no", "always"]
    assert "60 runs under system, 25 runs under polder, polder+hardened" in " ".join(beside.stdout.split())
    assert "  always" not in beside.stdout.splitlines()  # which the file lacks


@pytest.mark.parametrize(("content", "says"), [
    (b"{}", "it lacks 'schema'"), (b"[]", "it is not as --json writes it"), (b"{", "it is no JSON"), (b"\xff\xfe\xfd", "it is no JSON"),
    (b"", "it is no JSON"), (None, "No such file or directory"), (b'{"schema": "polder-mistakes/1"}', "it lacks 'counts'"),
    (b'{"schema": "polder-mistakes/1", "counts": [7], "heaps": [], "machine": {}}', "it is not as --json writes it"),
], ids=range(8))
def test_a_file_without_counts_is_refused(polder: Laboratory, tmp_path: Path, content: bytes | None, says: str) -> None:
    raw = tmp_path / "raw.json"
    if content is not None:
        raw.write_bytes(content)
    done = polder("mistakes", "--from", str(raw))
    assert done.returncode == 2
    assert done.stderr == f"polder: {raw}: no counts of mistakes can be read: {says}\n"


@pytest.mark.parametrize(("spoilt", "says"), [
    (lambda told: told["machine"].pop("cpu"), "the machine has no cpu"),
    (lambda told: told["machine"].update(commit=7), "the commit is 7"),
    (lambda told: told["heaps"][0].update(kind="stone"), "is of the kind 'stone'"),
    (lambda told: told["heaps"][0].update(title=3), "title is 3"),
    (lambda told: told["counts"][0].update(runs="2"), "runs is '2'"),
    (lambda told: told["counts"][0].update(harmed=99), "of 2 runs"),
    (lambda told: told["counts"][0].update(harmed=-1), "of 2 runs"),
    (lambda told: told.update(heaps={"a": 1}), "it is not as --json writes it"),
    (lambda told: told.update(machine=[1]), "it is not as --json writes it"),
    (lambda told: told.update(machine="x"), "it is not as --json writes it"),
    (lambda told: told["heaps"][0].pop("name"), "it is not as --json writes it"),
], ids=range(11))
def test_a_file_with_something_else_in_it_is_refused(polder: Laboratory, tmp_path: Path, spoilt: Callable[[dict[str, Any]], object],
                                                     says: str) -> None:
    raw = tmp_path / "raw.json"
    assert polder("mistakes", "--runs", "2", "--heap", "system", "--only", "no", "--json", str(raw)).returncode == 0
    told = json.loads(raw.read_text())
    spoilt(told)
    raw.write_text(json.dumps(told))
    for words in (("--markdown",), ("--heap", "system", "--only", "no", "--runs", "1")):
        done = polder("mistakes", "--from", str(raw), *words)
        assert (done.returncode, done.stdout, says in done.stderr, done.stderr.count("\n")) == (2, "", True, 1), done.stderr


def test_a_false_alarm_is_one(polder: Laboratory) -> None:
    done = polder("mistakes", "--heap", "polder+hardened", "--only", "none")
    assert done.returncode == 1
    assert "polder+hardened: no mistake was made, and 1 of 25 runs ended otherwise: fake: `none`" in done.stdout


def test_what_went_astray_is_told(polder: Laboratory) -> None:
    done = polder("mistakes", "--only", "astray")
    assert done.returncode == 1
    assert "polder, astray: 1 of 25 runs went astray: exit status 9: help" in done.stdout


def test_all_of_them(polder: Laboratory) -> None:
    done = polder("mistakes", "--all", "--only", "held", "--runs", "2")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[:3] == ["system", "polder", "polder+hardened"]
    assert "left out: polder-hardened: not there" in done.stdout
    assert "left out: jemalloc-debug: not there" in done.stdout


def test_a_library_by_path(polder: Laboratory, compiled: Callable[[str], Path]) -> None:
    done = polder("mistakes", "--lib", str(compiled("")), "--only", "held")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[0] == "plain"


def test_a_library_that_serves_no_malloc_is_refused(polder: Laboratory, compiled: Callable[[str], Path]) -> None:
    done = polder("mistakes", "--lib", str(compiled("NO_MALLOC")))
    assert done.returncode == 2
    assert "not served" in done.stderr


def test_the_list(polder: Laboratory) -> None:
    done = polder("mistakes", "--list", "--only", "b")
    assert "what mixed is; harm: harm of mixed" in done.stdout
    assert "Group A" not in done.stdout


@pytest.mark.parametrize(("arguments", "says"), [
    (["--only", "halv"], "there is no mistake 'halv'; nearest: a, half"),
    (["--heap", "polder-hardened"], "is not there"),
    (["--heap", "poldr"], "there is no heap 'poldr'; nearest: polder"),
    (["--json", "no/such/folder/x.json"], "--json: there is no folder"),
])
def test_bad_input_is_one_clear_line(polder: Laboratory, arguments: list[str], says: str) -> None:
    done = polder("mistakes", *arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_certain_is_not_certain() -> None:
    found = share(1000, 1000)
    assert found.value == 1
    assert found.low == pytest.approx(0.9962, abs=1e-4)  # n / (n + z²)
    assert cell(Count(runs=1000, noticed=999, harmed=1)).startswith("0.999 (0.994–")
