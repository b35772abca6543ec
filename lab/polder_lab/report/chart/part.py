"""What charts are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from polder_lab.median import Estimate
from polder_lab.report.look import Look, looks
from polder_lab.report.records import Records
from polder_lab.report.units import brief, several, size

Chart = dict[str, Any]


@dataclass(frozen=True)
class View:
    """The records, and which subjects of them are shown, with their looks."""

    records: Records
    looks: Mapping[str, Look]
    names: Sequence[str]


def view_of(records: Records) -> View:
    names = [subject.name for subject in records.subjects]
    return View(records, looks(names), names)


@dataclass(frozen=True)
class Point:
    x: float
    estimate: Estimate
    hover: str


def chart(data: list[Chart], title: str, **layout: Any) -> Chart:
    return {"data": data, "layout": {"title": {"text": title}, **layout}}


def trace(name: str, look: Look, **more: Any) -> Chart:
    return {
        "name": name,
        "legendgroup": name,
        "type": "scatter",
        "hoverinfo": "text",
        **more,
        "marker": {"color": look.colour, "symbol": look.marker, "size": 9, "line": {"width": 0}, **more.get("marker", {})},
        "line": {"color": look.colour, "dash": look.dash, "width": look.width, **more.get("line", {})},
    }


def spread(estimates: Sequence[Estimate], colour: str) -> Chart:
    """Error bars from ends, where there are ends."""
    above = [brief(e.high - e.value) if e.high is not None else 0 for e in estimates]
    below = [brief(e.value - e.low) if e.low is not None else 0 for e in estimates]
    return {"type": "data", "symmetric": False, "array": above, "arrayminus": below, "thickness": 1.5, "width": 4, "color": colour}


def lines(view: View, series: Mapping[str, Sequence[Point]], title: str, x: Chart, y: Chart, **layout: Any) -> Chart | None:
    """One line a subject, with the 95 % intervals."""
    data = []
    for name, points in series.items():
        if points:
            look = view.looks[name]
            data.append(
                trace(
                    name,
                    look,
                    mode="lines+markers",
                    x=[p.x for p in points],
                    y=[brief(p.estimate.value) for p in points],
                    hovertext=[p.hover for p in points],
                    error_y=spread([p.estimate for p in points], look.colour),
                )
            )
    return chart(data, title, xaxis=x, yaxis=y, **layout) if data else None


def interval(estimate: Estimate, unit: Any) -> str:
    if estimate.low is None or estimate.high is None:
        return f"no interval ({several(estimate.repetitions, 'round')})"
    return f"95 %: {unit(estimate.low)} – {unit(estimate.high)}"


def hover(head: str, *told: str) -> str:
    return "<br>".join([f"<b>{head}</b>", *(line for line in told if line)])


def byte_axis(most: float, title: str) -> Chart:
    """Ticks that are round in binary, as sizes are; plotly knows decimal ones only."""
    step = 1.0
    while most / step > 6:
        step *= 2
    return {
        "title": {"text": title},
        "tickvals": [step * n for n in range(8) if step * n <= most * 1.15],
        "ticktext": [size(step * n) if n else "0" for n in range(8) if step * n <= most * 1.15],
        "rangemode": "tozero",
    }
