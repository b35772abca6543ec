"""Rows set against each other, as a suite says (suite/): a table for each measure, a column for each number of threads and
allocator, each cell the ratio of two rows of that column.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from polder_lab.by_round import ratio
from polder_lab.median import median
from polder_lab.report import units
from polder_lab.report.chart.part import View
from polder_lab.report.chart.repetitions import peak
from polder_lab.report.estimate import enough
from polder_lab.report.matrix import Cell
from polder_lab.report.records import Records, Run


@dataclass(frozen=True)
class Measure:
    key: str
    title: str
    value: Callable[[Run], float | None]
    unit: Callable[[float], str]
    counted: bool = False  # may well be nothing, so that there is no ratio: medians are shown
    passes: tuple[str, ...] = ("time", "frees")  # out of the first that tells it; timing every free disturbs times


def figure(*names: str, factor: float = 1) -> Callable[[Run], float | None]:
    """What the workload tells of itself under the first of these names that it tells."""

    def value(run: Run) -> float | None:
        told = run.data.get("figures") or {}
        found = next((told[name] for name in names if isinstance(told.get(name), int | float)), None)
        return None if found is None else float(found) * factor

    return value


def percentile(name: str, calls: str, share: float) -> Callable[[Run], float | None]:
    """In seconds; nothing where the calls that it is of are told and are too few."""
    of, many = figure(name, factor=1e-9), figure(calls)

    def value(run: Run) -> float | None:
        count = many(run)
        return of(run) if count is None or enough(count, share) else None

    return value


def percent(value: float) -> str:
    return f"{value:.3g} %"


ALONE = ("time",)
LOOKED = ("quality",)
MEASURES = (
    Measure("time", "Time an operation", lambda run: run.cost, units.seconds, passes=ALONE),
    Measure("operation-50", "An operation, median", figure("operation_p50_ns", factor=1e-9), units.seconds, passes=ALONE),
    Measure("operation-99.9", "An operation, 99.9 %", percentile("operation_p999_ns", "operations_timed", 0.999), units.seconds,
            passes=ALONE),
    Measure("operation-worst", "The worst operation", figure("operation_worst_ns", factor=1e-9), units.seconds, passes=ALONE),
    Measure("garbage", "Unreclaimed at the peak", figure("unreclaimed_peak_bytes"), units.size),
    Measure("garbage-mean", "Unreclaimed objects, mean", figure("unreclaimed_mean"), units.count),
    Measure("memory", "Peak memory", peak, units.size, passes=ALONE),
    Measure("freeing", "Share of time in free", figure("free_share"), percent),
    Measure("free-99.9", "A free, 99.9 %", percentile("free_p999_ns", "free_calls", 0.999), units.seconds),
    Measure("free-worst", "The worst free", figure("free_worst_ns", factor=1e-9), units.seconds),
    Measure("burst", "Frees in a row, longest", figure("free_burst_longest"), units.count),
    Measure("lateness", "Lateness, mean", figure("lateness_mean"), units.count, counted=True, passes=LOOKED),
    Measure("lateness-99", "Lateness, 99 %", figure("lateness_p99"), units.count, counted=True, passes=LOOKED),
    Measure("age", "Age, mean", figure("age_mean"), units.count, counted=True, passes=LOOKED),
    Measure("k", "Measured k", figure("k_measured"), units.count, counted=True, passes=LOOKED),
    Measure("epochs", "Epochs", figure("epochs"), units.count, counted=True),
    Measure("flushes", "Flushes of caches, a thousand operations", figure("allocator_flushes"), units.count, counted=True),
    Measure("remote", "Blocks to remote owners, a thousand operations", figure("allocator_remote_frees"), units.count, counted=True),
    Measure("handoffs", "Locks handed on, a thousand operations", figure("allocator_lock_handoffs"), units.count, counted=True),
)


@dataclass(frozen=True)
class Column:
    threads: int
    subject: str


@dataclass(frozen=True)
class Line:
    label: str
    is_base: bool
    cells: Sequence[Cell]


@dataclass(frozen=True)
class Table:
    measure: Measure
    columns: Sequence[Column]
    lines: Sequence[Line]

    @property
    def threads(self) -> list[tuple[int, int]]:
        """The numbers of threads, each with how many columns it heads."""
        counts = [column.threads for column in self.columns]
        return [(count, counts.count(count)) for count in dict.fromkeys(counts)]


@dataclass(frozen=True)
class Comparison:
    key: str
    title: str
    what: str
    shown: Sequence[str]  # the measures that the terminal shows
    tables: Sequence[Table]


def comparisons(view: View) -> list[Comparison]:
    told: dict[str, Mapping[str, Any]] = {}
    for experiment in view.records.experiments:
        for one in experiment.get("comparisons") or ():
            told.setdefault(str(one["key"]), one)
    made = [
        Comparison(key, str(one["title"]), str(one["what"]), [str(m) for m in one["measures"]], tables(view, one["lines"], one["threads"]))
        for key, one in told.items()
    ]
    return [one for one in made if one.tables]


def tables(view: View, lines: Sequence[Mapping[str, str]], counts: Sequence[int]) -> list[Table]:
    """What the others are set against stands on top; a column where nothing else was measured is not shown."""
    lines = sorted(lines, key=lambda line: line["of"] != line["to"])
    others = any(line["of"] != line["to"] for line in lines)
    known = {row.id for row in view.records.rows}
    threads = [count for count in sorted(counts) if any(f"{line['of']}/{count}" in known for line in lines)]
    columns = [Column(count, name) for count in threads for name in view.names]
    found: list[Table] = []
    for measure in MEASURES:
        if measure.passes == LOOKED and not any(rounds_of(view.records, measure, f"{line['to']}/{column.threads}", column.subject)
                                                for line in lines for column in columns):
            continue  # of what they are set against nobody looked at it
        cells = [[cell_of(view.records, measure, line, column) for column in columns] for line in lines]
        kept = [
            at
            for at in range(len(columns))
            if any(
                row[at].value or row[at].trouble for row, line in zip(cells, lines, strict=True) if not others or line["of"] != line["to"]
            )
        ]
        if not any(row[at].value for row in cells for at in kept):
            continue
        shown = [
            Line(line["label"], line["of"] == line["to"], [row[at] for at in kept])
            for line, row in zip(lines, cells, strict=True)
            if any(f"{line['of']}/{count}" in known for count in threads)
        ]
        found.append(Table(measure, [columns[at] for at in kept], shown))
    return found


def rounds_of(records: Records, measure: Measure, row: str, subject: str) -> dict[int, float]:
    for instrument in measure.passes:
        found = {run.round: v for run in records.of(instrument, row, subject) if (v := measure.value(run)) is not None}
        if found:
            return found
    return {}


def cell_of(records: Records, measure: Measure, line: Mapping[str, str], column: Column) -> Cell:
    row, base = (f"{line[end]}/{column.threads}" for end in ("of", "to"))
    rounds = rounds_of(records, measure, row, column.subject)
    known = median(list(rounds.values()))
    if known is None:
        return Cell(trouble=records.trouble(row, column.subject))
    ends = f"{measure.unit(known.low)} – {measure.unit(known.high)}" if known.low is not None and known.high is not None else ""
    if measure.counted or row == base:
        return Cell(rounds=len(rounds), value=measure.unit(known.value), interval=ends)
    against = {n: v for n, v in rounds_of(records, measure, base, column.subject).items() if v > 0}
    found = ratio({n: v for n, v in rounds.items() if v > 0}, against)
    if found is None:
        return Cell(rounds=len(rounds), value=measure.unit(known.value), interval=ends)
    return Cell(found.value, found.low, found.high, len(rounds.keys() & against.keys()), measure.unit(known.value), ends)


MOST = 60  # percent of the hue, at a ratio of two or a half


def hue(cell: Cell) -> str:
    """Of the cell's ground: less is better."""
    if cell.ratio is None or cell.ratio <= 0:
        return ""
    amount = min(MOST, MOST * abs(math.log2(cell.ratio)))
    return f"--hue: var(--{'bad' if cell.ratio > 1 else 'good'}); --amount: {amount:.0f}%"


def even(cell: Cell) -> bool:
    return cell.low is not None and cell.high is not None and cell.low <= 1 <= cell.high


def between(cell: Cell) -> str:
    return f"{units.ratio(cell.low)} – {units.ratio(cell.high)}" if cell.low is not None and cell.high is not None else ""


def hint(cell: Cell) -> str:
    """What the pointer is told."""
    if cell.trouble:
        return cell.trouble
    told = [f"median {cell.value}" + (f" ({cell.interval})" if cell.interval else "")] if cell.value else ["not measured"]
    if cell.ratio is not None:
        told += [
            f"ratio {units.ratio(cell.ratio)}, " + (f"95 %: {between(cell)}" if between(cell) else "no interval"),
            units.several(cell.rounds, "paired round"),
        ]
    return "; ".join(told)
