"""Speed-up and memory against threads, as the papers plot them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from polder_lab.by_round import ratio
from polder_lab.interval import Ratio
from polder_lab.median import Estimate, median
from polder_lab.report import units
from polder_lab.report.chart.part import Chart, Point, View, byte_axis, hover, interval, lines
from polder_lab.report.records import Records, Row, Run

Value = Callable[[Run], float | None]


def as_estimate(of: Ratio, rounds: int) -> Estimate:
    return Estimate(of.value, of.low, of.high, rounds)


def baseline(records: Records, rows: Sequence[Row], among: Sequence[str]) -> tuple[Row, str] | None:
    """Where speed-up is 1: the fewest threads under the system's malloc, or else under the first that was measured."""
    for name in sorted(among, key=lambda n: n != "system"):
        for row in sorted(rows, key=lambda r: r.threads or 0):
            if records.by_round("time", row.id, name, lambda run: run.cost):
                return row, name
    return None


def threads_axis(rows: Sequence[Row], cores: int | None) -> tuple[Chart, list[Chart]]:
    ticks = sorted({row.threads or 1 for row in rows})
    axis = {"title": {"text": "threads"}, "type": "log", "tickvals": ticks, "ticktext": [str(t) for t in ticks], "showgrid": False}
    marks = []
    if cores and ticks[0] <= cores < ticks[-1]:  # right of this line threads share processors
        marks.append(
            {
                "type": "line",
                "x0": cores,
                "x1": cores,
                "yref": "paper",
                "y0": 0,
                "y1": 1,
                "layer": "below",
                "line": {"color": "#8a8a8a", "width": 1, "dash": "dot"},
                "label": {
                    "text": f"{cores} cores",
                    "textposition": "end",
                    "textangle": 0,
                    "xanchor": "left",
                    "font": {"size": 11, "color": "#8a8a8a"},
                },
            }
        )
    return axis, marks


def speed_up(view: View, rows: Sequence[Row], names: Sequence[str] | None = None, title: str = "Speed-up") -> Chart | None:
    records, names = view.records, names or view.names
    base = baseline(records, rows, names)
    if base is None:
        return None
    base_row, base_name = base
    base_rounds = records.by_round("time", base_row.id, base_name, lambda run: run.cost)
    series: dict[str, list[Point]] = {}
    for name in names:
        for row in rows:
            rounds = records.by_round("time", row.id, name, lambda run: run.cost)
            found = ratio(base_rounds, rounds)
            if found:
                known = as_estimate(found, len(rounds.keys() & base_rounds.keys()))
                told = hover(
                    name,
                    units.several(row.threads or 1, "thread"),
                    f"speed-up {known.value:.2f}",
                    interval(known, units.ratio),
                    units.several(known.repetitions, "paired round"),
                )
                series.setdefault(name, []).append(Point(row.threads or 1, known, told))
    axis, marks = threads_axis(rows, records.cores)
    return lines(
        view,
        series,
        title,
        axis,
        {"title": {"text": f"times {base_name} at {base_row.threads or 1} thread"}, "rangemode": "tozero"},
        shapes=marks,
    )


def measured(
    view: View,
    rows: Sequence[Row],
    value: Value,
    unit: Callable[[float], str],
    title: str,
    y: str,
    *,
    names: Sequence[str] | None = None,
    instrument: str = "time",
    log: bool = False,
    binary: bool = False,
    position: Callable[[Row], float] | None = None,
    x: Chart | None = None,
) -> Chart | None:
    """Medians with their intervals against threads, or whatever position says."""
    series: dict[str, list[Point]] = {}
    most = 0.0
    for name in names or view.names:
        for row in rows:
            known = median(list(view.records.by_round(instrument, row.id, name, value).values()))
            if known:
                at = position(row) if position else row.threads or 1
                where = row.label if position else units.several(row.threads or 1, "thread")
                told = hover(name, where, f"median {unit(known.value)}", interval(known, unit), units.several(known.repetitions, "round"))
                series.setdefault(name, []).append(Point(at, known, told))
                most = max(most, known.high or known.value)
    if not series:
        return None
    axis, marks = threads_axis(rows, view.records.cores) if x is None else (x, [])
    up = byte_axis(most, y) if binary else {"title": {"text": y}, "rangemode": "tozero"}
    if log:
        up = {"title": {"text": y}, "type": "log", "dtick": 1, "exponentformat": "SI"}
    return lines(view, series, title, axis, up, shapes=marks)


def memory(view: View, rows: Sequence[Row], title: str = "Peak memory") -> Chart | None:
    return measured(view, rows, lambda run: run.number("peak_rss"), units.size, title, "peak RSS", binary=True)
