"""Every repetition as a point, and over them the median with its interval."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from polder_lab.median import Estimate, median
from polder_lab.report import units
from polder_lab.report.chart.part import Chart, View, byte_axis, chart, hover, interval, spread, trace
from polder_lab.report.records import Row, Run


def per_operation(view: View, row: Row) -> bool:
    """Operations differ among runs where a workload runs for a fixed time; then time alone says nothing."""
    counts = {run.number("operations") for name in view.names for run in view.records.of("time", row.id, name)}
    return None not in counts and len(counts) > 1 and max(c or 0 for c in counts) > 1.01 * min(c or 0 for c in counts)


def time_of(view: View, row: Row) -> tuple[Callable[[Run], float | None], str]:
    if per_operation(view, row):
        return (lambda run: run.cost), "time per operation"
    return (lambda run: run.number("seconds")), "time"


def points(
    view: View, row: Row, value: Callable[[Run], float | None], unit: Callable[[float], str], title: str, axis: Chart
) -> Chart | None:
    found: list[tuple[str, dict[int, float], Estimate]] = []
    for name in view.names:
        rounds = view.records.by_round("time", row.id, name, value)
        known = median(list(rounds.values()))
        if known:
            found.append((name, rounds, known))
    if not found:
        return None
    found.sort(key=lambda one: -one[2].value)  # the best on top
    data = []
    for place, (name, rounds, known) in enumerate(found):
        look = view.looks[name]
        heights = [round(place + 0.11 * ((2 * number + 2) % 5 - 2), 3) for number in range(len(rounds))]
        data.append(
            trace(
                name,
                look,
                mode="markers",
                x=[units.brief(v) for v in rounds.values()],
                y=heights,
                showlegend=False,
                hovertext=[hover(name, f"round {number % 1_000_000}", unit(v)) for number, v in rounds.items()],
                marker={"size": 7, "opacity": 0.45},
            )
        )
        told = hover(name, f"median {unit(known.value)}", interval(known, unit), units.several(known.repetitions, "round"))
        data.append(
            trace(
                name,
                look,
                mode="markers",
                x=[units.brief(known.value)],
                y=[place],
                hovertext=[told],
                showlegend=False,
                marker={"size": 20, "symbol": "line-ns", "line": {"width": 3, "color": look.colour}},
                error_x={**spread([known], look.colour), "thickness": 2.5, "width": 6},
            )
        )
    names = {
        "tickvals": list(range(len(found))),
        "ticktext": [name for name, _, _ in found],
        "range": [-0.6, len(found) - 0.4],
        "showgrid": False,
        "zeroline": False,
    }
    return chart(data, title, xaxis=axis, yaxis=names, height=110 + 30 * len(found))


def time(view: View, row: Row) -> Chart | None:
    value, what = time_of(view, row)
    return points(view, row, value, units.seconds, "Time of every repetition", {"title": {"text": f"{what} (s)"}, "exponentformat": "SI"})


def memory(view: View, row: Row) -> Chart | None:
    most = max((v for name in view.names for v in view.records.by_round("time", row.id, name, peak).values()), default=0)
    return points(view, row, peak, units.size, "Peak memory of every repetition", byte_axis(most, "peak RSS"))


def peak(run: Run) -> Any:
    return run.number("peak_rss")
