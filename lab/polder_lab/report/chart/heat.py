"""The matrix as a picture. The page has it as a table, which can be read aloud, sorted and walked with the keyboard."""

from __future__ import annotations

import math

from polder_lab.report.chart.part import Chart, chart
from polder_lab.report.matrix import Matrix

# Blue for the best, through grey, to orange: told apart with any colour blindness and in print.
SCALE = [[0, "#0072b2"], [0.22, "#9cc3de"], [0.42, "#f2f0ec"], [0.7, "#f0b678"], [1, "#c65200"]]
WORST = 4.0


def map_of(matrix: Matrix) -> Chart:
    lines = [*[line for group in matrix.groups for line in group.lines], *matrix.means]
    names = [line.label for line in lines]
    texts = [[cell.text for cell in line.cells] for line in lines]
    depth = [[math.log(min(WORST, max(1 / WORST, cell.ratio))) / math.log(WORST) if cell.ratio else None for cell in line.cells] for line in lines]
    low = -1 if matrix.against != "best" else 0
    scale = SCALE if low == 0 else [[0, "#0072b2"], [0.5, "#f2f0ec"], [1, "#c65200"]]
    return chart([{"type": "heatmap", "z": depth, "x": matrix.names, "y": names, "text": texts, "texttemplate": "%{text}", "zmin": low, "zmax": 1,
                   "colorscale": scale, "showscale": False, "xgap": 2, "ygap": 2, "hoverinfo": "skip", "textfont": {"size": 12}}],
                 f"{matrix.title}: {matrix.explained}", xaxis={"side": "top", "showgrid": False, "ticks": ""},
                 yaxis={"autorange": "reversed", "showgrid": False, "ticks": ""}, height=120 + 24 * len(lines), margin={"t": 90, "l": 200, "r": 20, "b": 20})
