"""Time against memory: what is left below and to the left of the front nobody reaches."""

from __future__ import annotations

from polder_lab.median import Estimate, median
from polder_lab.report import units
from polder_lab.report.chart.part import Chart, View, byte_axis, chart, hover, interval, spread, trace
from polder_lab.report.chart.repetitions import peak, time_of
from polder_lab.report.estimate import front
from polder_lab.report.records import Row


def scatter(
    view: View, found: dict[str, tuple[Estimate, Estimate]], title: str, units_of: tuple[str, str], x: Chart, y: Chart
) -> Chart | None:
    if len(found) < 2:
        return None
    best = front({name: (across.value, up.value) for name, (across, up) in found.items()})
    steps = [(found[name][0].value, found[name][1].value) for name in best]
    data: list[Chart] = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": "Pareto front",
            "x": [units.brief(a) for a, _ in steps],
            "y": [units.brief(b) for _, b in steps],
            "line": {"shape": "vh", "color": "#8a8a8a", "width": 1.5, "dash": "dot"},
            "hoverinfo": "skip",
        }
    ]
    for name, (across, up) in found.items():
        look = view.looks[name]
        told = hover(
            name,
            f"{units_of[0]} {x['unit'](across.value)}",
            interval(across, x["unit"]),
            f"{units_of[1]} {y['unit'](up.value)}",
            interval(up, y["unit"]),
            "on the Pareto front" if name in best else "",
        )
        data.append(
            trace(
                name,
                look,
                mode="markers+text",
                x=[units.brief(across.value)],
                y=[units.brief(up.value)],
                text=[name],
                textposition="top center",
                hovertext=[told],
                marker={"size": 13},
                error_x=spread([across], look.colour),
                error_y=spread([up], look.colour),
                textfont={"size": 12},
            )
        )
    return chart(data, title, xaxis=x["axis"], yaxis=y["axis"], showlegend=False)


def of_row(view: View, row: Row) -> Chart | None:
    value, what = time_of(view, row)
    found = {}
    for name in view.names:
        across = median(list(view.records.by_round("time", row.id, name, value).values()))
        up = median(list(view.records.by_round("time", row.id, name, peak).values()))
        if across and up:
            found[name] = (across, up)
    most = max((up.high or up.value for _, up in found.values()), default=0)
    return scatter(
        view,
        found,
        "Time against memory",
        ("", ""),
        {"unit": units.seconds, "axis": {"title": {"text": f"{what} (s)"}, "exponentformat": "SI"}},
        {"unit": units.size, "axis": byte_axis(most, "peak RSS")},
    )


def of_all(view: View, times: dict[str, Estimate], memories: dict[str, Estimate], against: str) -> Chart | None:
    found = {name: (times[name], memories[name]) for name in view.names if name in times and name in memories}
    return scatter(
        view,
        found,
        "Time against memory, all rows",
        ("time", "memory"),
        {"unit": units.ratio, "axis": {"title": {"text": f"time, geometric mean of ratios to {against}"}}},
        {"unit": units.ratio, "axis": {"title": {"text": f"peak RSS, geometric mean of ratios to {against}"}}},
    )
