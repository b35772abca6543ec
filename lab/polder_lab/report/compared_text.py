"""The comparisons of a suite on the terminal."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from polder_lab import table
from polder_lab.interval import Ratio
from polder_lab.report.chart.part import view_of
from polder_lab.report.compared import Table, comparisons
from polder_lab.report.matrix import Cell
from polder_lab.report.records import read

LEGEND = ("Ratios to the row that the others are set against, whose own medians stand on top; below 1 is better. Green or red where "
          "the whole 95 % interval lies on one side of 1, dim where it does not or where fewer than 6 rounds give none. "
          "The report has all measures.")


def show(file: Path, console: Console) -> None:
    for comparison in comparisons(view_of(read([file]))):
        shown = [one for one in comparison.tables if one.measure.key in comparison.shown]
        for one in shown:
            console.print(f"\n{comparison.title}: {one.measure.title.lower()}", style="bold", soft_wrap=True)
            table.show_whole(make(one), console)
    console.print(f"\n{LEGEND}", style="dim", width=100)


def make(one: Table) -> Grid:
    grid = Grid(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    grid.add_column("", no_wrap=True)
    for column in one.columns:
        grid.add_column(f"{column.subject} ×{column.threads}", justify="right", no_wrap=True)
    for line in one.lines:
        grid.add_row(line.label, *(text(cell) for cell in line.cells), style="bold" if line.is_base else None)
    return grid


def text(cell: Cell) -> Text:
    if cell.trouble:
        return Text(table.SHORT.get(cell.trouble.split(":")[0].split(" ")[0], "fails"), "bold red")
    if cell.ratio is None:
        return Text(cell.value)
    verdict = Ratio(cell.ratio, cell.low, cell.high).verdict
    return Text(cell.text, table.STYLES.get(verdict, "dim"))
