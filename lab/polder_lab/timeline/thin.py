"""Fewer boxes than events, for the plot alone: its ink stays what it was, and it is said what was put together.

A picture has some thousand columns. Intervals that are shorter than a column and lie in the same column of the same row
become one box, as wide as all of them together, in the colour of the longest; longer ones are drawn as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polder_lab.timeline.recording import Array, Recording

MOST_BOXES = 30_000
MOST_MARKS = 12_000
LEAST_COLUMNS, MOST_COLUMNS = 200, 4000


@dataclass(frozen=True)
class Boxes:
    begin: Array
    end: Array
    row: Array
    label: Array
    count: Array
    events: Array  # how many a box stands for
    merged: int = 0  # events that were put together
    column: float = 0.0  # seconds; shorter ones were

    def __len__(self) -> int:
        return len(self.begin)


def boxes(of: Recording, seconds: float, budget: int = MOST_BOXES) -> Boxes:
    """The intervals of one kind."""
    if len(of) <= budget:
        return Boxes(of.begin, of.end, of.row, of.label, of.count, np.ones(len(of), np.int64))
    columns = min(MOST_COLUMNS, max(LEAST_COLUMNS, budget // max(1, len(np.unique(of.row)))))
    width = seconds / columns
    lasted = of.end - of.begin
    long, short = lasted >= width, lasted < width
    start = float(of.begin.min())
    cell = of.row[short].astype(np.int64) * (columns + 2) + ((of.begin[short] - start) / width).astype(np.int64)
    # The longest of a cell comes first in it.
    order = np.lexsort((-lasted[short], cell))
    cells, first, many = np.unique(cell[order], return_index=True, return_counts=True)

    def summed(column: Array) -> Array:
        total: Array = np.add.reduceat(column[short][order], first) if len(cells) else column[:0]
        return total

    begin = np.minimum.reduceat(of.begin[short][order], first) if len(cells) else of.begin[:0]
    ink = summed(lasted)

    def together(column: Array, merged: Array) -> Array:
        return np.concatenate([column[long], merged])

    return Boxes(
        together(of.begin, begin),
        together(of.end, begin + ink),
        together(of.row, of.row[short][order][first]),
        together(of.label, of.label[short][order][first]),
        together(of.count, summed(of.count)),
        np.concatenate([np.ones(int(long.sum()), np.int64), many]),
        int(short.sum()),
        width,
    )


def marks(at: Array, row: Array, seconds: float, budget: int = MOST_MARKS) -> Array:
    """Which of some points are drawn: all, or the first in each column of each row."""
    if len(at) <= budget:
        return np.arange(len(at))
    columns = max(LEAST_COLUMNS, budget // max(1, len(np.unique(row))))
    cell = row.astype(np.int64) * (columns + 2) + (at / (seconds / columns)).astype(np.int64)
    return np.sort(np.unique(cell, return_index=True)[1])
