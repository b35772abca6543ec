"""The matrix as a picture. The page has it as a table, which can be read aloud, sorted and walked with the keyboard."""

from __future__ import annotations

import math

from polder_lab.partial import MARK
from polder_lab.report.chart.part import Chart, chart
from polder_lab.report.matrix import Cell, Line, Matrix

# As on the page: blue for the best, through grey, to orange; told apart with any colour blindness and in print.
GOOD, NEUTRAL, BAD = (0x00, 0x72, 0xB2), (0xF1, 0xF2, 0xF4), (0xB8, 0x4E, 0x00)
WORST = 4.0
TURN = 0.2  # where blue ends, in the logarithm of the ratio to the best


def mixed(colour: tuple[int, int, int], share: float) -> str:
    return "rgb({},{},{})".format(*(round(n + share * (c - n)) for c, n in zip(colour, NEUTRAL, strict=True)))


def scale(best: bool) -> list[tuple[float, str]]:
    steps = [0.0, 0.06, 0.25, 0.56, 1.0]
    if best:
        return [(0.0, mixed(GOOD, 0.9)), *((TURN + (1 - TURN) * t, mixed(BAD, 0.92 * math.sqrt(t))) for t in steps)]
    below = [(0.5 - t / 2, mixed(GOOD, 0.92 * math.sqrt(t))) for t in reversed(steps[1:])]
    return [*below, *((0.5 + t / 2, mixed(BAD, 0.92 * math.sqrt(t))) for t in steps)]


def depth(cell: Cell) -> float | None:
    return math.log(min(WORST, max(1 / WORST, cell.ratio))) / math.log(WORST) if cell.ratio else None


def map_of(matrix: Matrix) -> Chart:
    empty = [Cell() for _ in matrix.names]
    lines: list[Line] = []
    for title, members in [*((group.title, group.lines) for group in matrix.groups), ("Geometric means", matrix.means)]:
        lines += [Line(f"<b>{title}</b>", "", None, empty), *members]
    if matrix.lacking:
        lines.append(Line(f"{MARK} not over all rows", "", None, empty))
    order = sorted(range(len(matrix.names)), key=lambda i: matrix.means[-1].cells[i].ratio or math.inf)
    best = matrix.against == "best"
    texts = [[line.cells[i].text if line.cells is not empty else "" for i in order] for line in lines]
    above = 40 + 6 * max(map(len, matrix.names))  # pixels: the title, and the longest name at an angle
    # Rows are numbers, since two of them may have one name.
    return chart(
        [
            {
                "type": "heatmap",
                "z": [[depth(line.cells[i]) for i in order] for line in lines],
                "x": [matrix.names[i] for i in order],
                "y": list(range(len(lines))),
                "text": texts,
                "texttemplate": "%{text}",
                "zmin": 0 if best else -1,
                "zmax": 1,
                "colorscale": scale(best),
                "showscale": False,
                "xgap": 2,
                "ygap": 2,
                "hoverinfo": "skip",
                "textfont": {"size": 12},
            }
        ],
        f"{matrix.title}: {matrix.explained}",
        xaxis={"side": "top", "showgrid": False, "ticks": "", "tickfont": {"size": 13}, "tickangle": -45},
        yaxis={
            "autorange": "reversed",
            "showgrid": False,
            "ticks": "",
            "zeroline": False,
            "tickvals": list(range(len(lines))),
            "ticktext": [line.label for line in lines],
        },
        height=above + 20 + 24 * len(lines),
        margin={"t": above, "l": 210, "r": 40, "b": 20},
    )
