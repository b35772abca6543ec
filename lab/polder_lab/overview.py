"""A compact table of an experiment with many subjects: row × subject, time over that of the system's malloc."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from rich.console import Console
from rich.table import Table
from rich.text import Text

from polder_lab import partial, table
from polder_lab.interval import geometric_mean
from polder_lab.median import median
from polder_lab.outcome import Outcome, RowOutcome

LEGEND = ("Time over that under the system's malloc, below 1 is better: green or red where the whole 95 % interval lies on one side "
          "of 1, dim where it does not or where fewer than 6 rounds give none. The last lines are geometric means.")


def base_time(result: RowOutcome) -> str:
    cell = result.base
    if cell.trouble or not cell.runs:
        return table.SHORT.get(cell.trouble.split(":")[0].split(" ")[0], "fails") if cell.trouble else ""
    time = median(result.times(cell))
    if time is None or time.low is None or time.high is None or not time.value:
        return table.seconds(result, cell)
    return f"{table.seconds(result, cell)} ±{(time.high - time.low) / 2 / time.value:.0%}"


def ratio_cell(result: RowOutcome, heap: str) -> Text:
    if result.cells[heap].trouble or result.base.trouble:
        return Text(table.told(result.base, result.cells[heap]), "bold red")
    ratio = result.ratio(heap, "seconds")
    if ratio is None:
        return Text("")
    return Text(table.value(ratio), table.STYLES.get(ratio.verdict, "dim"))


def mean(rows: Sequence[RowOutcome], heap: str, metric: str) -> str:
    values = [ratio.value for row in rows if (ratio := row.ratio(heap, metric))]
    return f"{geometric_mean(values):.2f}{partial.MARK if len(values) < len(rows) else ''}" if values else ""


def compared(outcome: Outcome) -> list[RowOutcome]:
    """Those that have a ratio for somebody, so that a mean can lack them."""
    return [row for row in outcome.rows if any(row.pairs(heap.name, "seconds") for heap in outcome.heaps)]


def lacking(outcome: Outcome) -> str:
    rows = compared(outcome)
    return partial.explained({heap.name: sum(row.pairs(heap.name, "seconds") is not None for row in rows) for heap in outcome.heaps},
                             len(rows))


def show(outcome: Outcome, console: Console) -> None:
    table.show_whole(make(outcome), console)
    if told := lacking(outcome):
        console.print(told, soft_wrap=True)
    console.print(LEGEND, style="dim", width=100)


def make(outcome: Outcome) -> Table:
    names = [heap.name for heap in outcome.heaps]
    grid = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    grid.add_column("", no_wrap=True)
    grid.add_column("system", justify="right", no_wrap=True)
    for name in names:
        grid.add_column("\n".join(wrap(name, 10, break_long_words=False)), justify="right", no_wrap=True)
    for result in outcome.rows:
        if any(cell.runs or cell.trouble for cell in result.cells.values()):
            grid.add_row(result.row.title, base_time(result), *(ratio_cell(result, name) for name in names))
    for title, kind, metric in (("programs", "program", "seconds"), ("workloads", "workload", "seconds"),
                                ("peak RSS, all", "", "peak_rss")):
        rows = [r for r in compared(outcome) if r.row.kind.startswith(kind)]
        if any(means := [mean(rows, name, metric) for name in names]):
            grid.add_row(title, "", *means, style="bold")
    return grid
