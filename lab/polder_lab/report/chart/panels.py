"""Several plots against threads in one chart: what the papers print as parts a, b, c and d of a figure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from polder_lab.median import Estimate, median
from polder_lab.report.chart.against_threads import threads_axis
from polder_lab.report.chart.part import Chart, View, byte_axis, chart, hover, interval, spread, trace
from polder_lab.report.records import Row, Run
from polder_lab.report.units import brief, several

DASHES = ("solid", "dot", "dashdot", "dash")
DASHES_IN_WORDS = ("solid", "dotted", "dash-dotted", "dashed")
PANEL_HEIGHT = 330
GAP = 0.12


@dataclass(frozen=True)
class Series:
    """Rows that differ in their threads: a dash of its own; the colours are the subjects'."""

    label: str
    rows: Sequence[Row]


@dataclass(frozen=True)
class Panel:
    title: str
    series: Sequence[Series]
    value: Callable[[Run], float | None]
    unit: Callable[[float], str]
    y: str
    binary: bool = False


def draw(view: View, panels: Sequence[Panel], title: str, columns: int = 2) -> Chart | None:
    """Two beside each other. A panel without a point is left empty, a chart without any is none."""
    rows_of_panels = -(-len(panels) // columns)
    data: list[Chart] = []
    layout: Chart = {"height": PANEL_HEIGHT * rows_of_panels, "shapes": [], "annotations": []}
    for at, panel in enumerate(panels):
        line, column = divmod(at, columns)
        left, right = column / columns + (GAP / 2 if column else 0), (column + 1) / columns - (GAP / 2 if column + 1 < columns else 0)
        top, bottom = 1 - line / rows_of_panels, 1 - (line + 1) / rows_of_panels
        top, bottom = top - 0.07 / rows_of_panels, bottom + (0.2 / rows_of_panels if rows_of_panels > 1 else 0)
        ending = str(at + 1) if at else ""
        traces, most = lines_of(view, panel, ending)
        data += traces
        axis, marks = threads_axis([row for series in panel.series for row in series.rows] or view.records.rows, view.records.cores)
        layout[f"xaxis{ending}"] = {**axis, "domain": [left, right], "anchor": f"y{ending}"}
        up = byte_axis(most, panel.y) if panel.binary and most else {"title": {"text": panel.y}, "rangemode": "tozero"}
        layout[f"yaxis{ending}"] = {**up, "domain": [bottom, top], "anchor": f"x{ending}"}
        layout["shapes"] += [{**{k: v for k, v in mark.items() if k != "label"}, "xref": f"x{ending}", "yref": f"y{ending} domain"}
                             for mark in marks]
        layout["annotations"].append({"text": f"<b>{panel.title}</b>", "x": left, "y": top, "xref": "paper", "yref": "paper",
                                      "xanchor": "left", "yanchor": "bottom", "showarrow": False, "font": {"size": 13}})
    return chart(data, title, **layout) if data else None


def lines_of(view: View, panel: Panel, ending: str) -> tuple[list[Chart], float]:
    traces, most = [], 0.0
    for order, series in enumerate(panel.series):
        for name in view.names:
            points: list[tuple[int, Estimate]] = []
            for row in series.rows:
                known = median(list(view.records.by_round("time", row.id, name, panel.value).values()))
                if known:
                    points.append((row.threads or 1, known))
                    most = max(most, known.high or known.value)
            if not points:
                continue
            look = view.looks[name]
            told = [hover(f"{name}, {series.label}", f"{threads} threads", f"median {panel.unit(known.value)}",
                          interval(known, panel.unit), several(known.repetitions, "round")) for threads, known in points]
            traces.append(trace(name, look, mode="lines+markers", x=[threads for threads, _ in points],
                                y=[brief(known.value) for _, known in points], hovertext=told,
                                error_y=spread([known for _, known in points], look.colour), line={"dash": DASHES[order % len(DASHES)]},
                                xaxis=f"x{ending}", yaxis=f"y{ending}", showlegend=not ending)
                          | {"name": f"{name}, {series.label}"})
    return traces, most
