"""Means on the terminal: one over fewer rows than the one beside it says so."""

from __future__ import annotations

import pytest
from rich.console import Console

from polder_lab import overview, table
from polder_lab.heap import SYSTEM, Heap
from polder_lab.launch import Run
from polder_lab.outcome import Cell, Outcome, RowOutcome
from polder_lab.row import Row

HEAPS = [Heap(name, "file") for name in ("whole", "torn", "full")]


def cell(seconds: float, trouble: str = "") -> Cell:
    return Cell({number: Run(seconds, seconds, seconds, 0.0, 1 << 20, 100, 0, "") for number in range(6)}, trouble)


@pytest.fixture
def outcome() -> Outcome:
    rows = []
    for name in ("jq", "perl", "sqlite"):
        torn = cell(0.5, "crashes: SIGSEGV" if name == "perl" else "")
        cells = {SYSTEM.name: cell(1.0), "whole": cell(1.0), "torn": torn, "full": cell(1.0)}
        rows.append(RowOutcome(Row(name, "program", ("true",)), cells))
    return Outcome(HEAPS, rows, 6, 1)


def test_of_many_heaps_each_says_over_how_many(outcome: Outcome) -> None:
    heads = [(line.cells[0], line.cells[1]) for line in table.make(outcome).lines if line.closes]
    assert heads == [("all rows (3)", "whole"), ("all rows (2 of 3)", "torn"), ("all rows (3)", "full")]


def test_the_same_number_is_said_once(outcome: Outcome) -> None:
    for result in outcome.rows:
        result.cells["torn"].trouble = ""
    assert [line.cells[0] for line in table.make(outcome).lines if line.closes] == ["all rows (3)", "", ""]


def test_one_heap_says_it_too(outcome: Outcome) -> None:
    outcome.heaps = [HEAPS[1]]
    assert [line.cells[0] for line in table.make(outcome).lines if line.closes] == ["all rows (2 of 3)"]


def test_the_overview_marks_and_counts(outcome: Outcome, capsys: pytest.CaptureFixture[str]) -> None:
    overview.show(outcome, Console(width=100))
    told = capsys.readouterr().out
    assert next(line.split()[1:] for line in told.splitlines() if line.startswith("programs")) == ["1.00", "0.50*", "1.00"]
    assert "* Not over all rows, since some failed or were not measured: torn 2 of 3." in told


def test_a_row_that_nobody_could_be_compared_in_is_lacked_by_nobody(outcome: Outcome, capsys: pytest.CaptureFixture[str]) -> None:
    outcome.rows[1].base.trouble = "hangs: ended after 60 s"
    overview.show(outcome, Console(width=100))
    assert "*" not in capsys.readouterr().out


def for_a_second(operations: list[int]) -> Cell:
    return Cell({number: Run(1.0, 1.0, 1.0, 0.0, 1 << 20, 100, 0, "", done) for number, done in enumerate(operations)})


def test_where_the_time_is_fixed_an_operation_s_is_told_and_how_it_scatters() -> None:
    result = RowOutcome(Row("set", "workload", ("true",)), {SYSTEM.name: for_a_second([100, 120, 140, 160, 180, 200])})
    told = overview.base_time(result)
    assert told.startswith(f"{table.seconds(result, result.base)} ±")
    assert "ns" in told
    assert "±0%" not in told


def test_of_a_single_round_too() -> None:
    cells = {SYSTEM.name: for_a_second([1000]), "whole": for_a_second([1250])}
    result = RowOutcome(Row("set", "workload", ("true",)), cells)
    assert [table.seconds(result, cell) for cell in cells.values()] == ["1e+06 ns", "8e+05 ns"]


def test_names_are_never_cut(outcome: Outcome, capsys: pytest.CaptureFixture[str]) -> None:
    name = "scalloc-no-virtual-spans-no-madvise-and-more"
    outcome.heaps = [Heap(f"{name}-{number}", "file") for number in range(3)]
    for result in outcome.rows:
        result.cells = {SYSTEM.name: cell(1.0), **{heap.name: cell(1.0) for heap in outcome.heaps}}
    table.show(outcome, [], Console(width=80))
    told = capsys.readouterr().out
    assert all(heap.name in told for heap in outcome.heaps)
    assert "…" not in told
