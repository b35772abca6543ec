"""Each subject against the best peer of each row, on the terminal: time, then peak memory."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from polder_lab import table
from polder_lab.heap import PEER_KINDS
from polder_lab.interval import Ratio
from polder_lab.report.chart.part import view_of
from polder_lab.report.compared_text import text
from polder_lab.report.matrix import BEST_PEER, MEASURES, Line, Matrix, build
from polder_lab.report.records import read
from polder_lab.report.words import before_the_phase

SHOWN = ("time", "memory")
LEGEND = ("Ratios to the best peer of each row; below 1 is better. Green or red where the whole 95 % interval lies on one side of 1, dim "
          "where it does not or where fewer than 6 rounds give none. Intervals are those of who is no peer. The last lines are "
          "geometric means. The report has more measures.")


def show(file: Path, console: Console) -> None:
    view = view_of(read([file]))
    own = [subject.name for subject in view.records.subjects if subject.kind not in PEER_KINDS]
    for measure in MEASURES:
        found = build(view, measure, BEST_PEER) if measure.key in SHOWN else None
        if found is None:
            continue
        grid = make(found, own)
        console.print(f"\n{measure.title}, {found.explained}", style="bold", soft_wrap=True)
        table.show_whole(grid, console)
        if found.lacking:
            console.print(found.lacking, soft_wrap=True)
        if measure.key == "memory" and (said := before_the_phase(view.records)):
            console.print(said, style="dim", width=100)
    console.print(f"\n{LEGEND}", style="dim", width=100)


def make(of: Matrix, own: list[str]) -> Grid:
    order = sorted(range(len(of.names)), key=lambda i: (of.names[i] not in own, of.means[-1].cells[i].ratio or float("inf")))
    grid = Grid(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    grid.add_column("", no_wrap=True)
    for i in order:
        grid.add_column(of.names[i], justify="right", no_wrap=True)
        if of.names[i] in own:
            grid.add_column("", no_wrap=True, style="dim")

    def add(line: Line, style: str | None = None) -> None:
        cells = []
        for i in order:
            cell = line.cells[i]
            cells.append(text(cell))
            if of.names[i] in own:
                cells.append(Text(table.span(Ratio(cell.ratio, cell.low, cell.high)) if cell.ratio else ""))
        grid.add_row(line.label, *cells, style=style)

    for group in of.groups:
        for line in group.lines:
            add(line)
    for line in of.means:
        add(line, "bold")
    return grid
