"""A recorded figure as a page of its own."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from plotly.offline import get_plotlyjs

from polder_lab.figure.recorded import Compared, Shown, Timeline, closer
from polder_lab.place import Place
from polder_lab.report import look, page, units
from polder_lab.report.chart.part import Chart, chart
from polder_lab.timeline import drawing, recording, words


@dataclass
class Side:
    title: str
    command: str
    facts: list[tuple[str, str]]
    warnings: list[str]
    charts: list[str] = field(default_factory=list)
    legend: list[tuple[str, str]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def render(figure: Timeline, shown: Sequence[Shown], compared: Sequence[Compared], about: Mapping[str, Any], where: Place) -> str:
    charts: dict[str, Chart] = {}
    sides = [side_of(figure, one, str(at), charts, where) for at, one in enumerate(shown)]
    return page.template("recorded.html").render(
        figure=figure,
        sides=sides,
        compared=compared,
        heap=figure.setups[0].heaps[0] if not shown else shown[0].heap.name,
        threads=figure.threads,
        facts=machine(about),
        units=units,
        plotly=get_plotlyjs(),
        data=page.embedded({"charts": charts, "matrices": {}, "light": look.LIGHT, "dark": look.DARK}),
    )


def side_of(figure: Timeline, shown: Shown, key: str, charts: dict[str, Chart], where: Place) -> Side:
    of = shown.recording
    made = drawing.draw(of, 0.0, of.seconds)
    preload = [f"{name}={value}" for name, value in shown.heap.environment.items()]
    command = shown.setup.command(where, figure.threads, shown.setup.milliseconds, ("--timeline", of.sources[0].path.name))
    said = shlex.join([*preload, *command]).replace(f"{where.root}/", "")
    side = Side(f"{shown.setup.label}, {shown.heap.name}", said, shown.facts, words.warnings(of), [], made.legend, made.left_out)

    def add(name: str, one: Chart | None, title: str) -> None:
        if one is not None:
            charts[f"{name}-{key}"] = {**one, "layout": {**one["layout"], "title": {"text": title}}}
            side.charts.append(f"{name}-{key}")

    add("timeline", made.timeline, "Timeline")
    if figure.zoom:
        low, high = closer(of)
        near = drawing.draw(recording.within(of, low, high), low, high)
        add("closer", near.timeline, f"Closer: {units.seconds(high - low)} around the longest batch")
    if of.named("epoch advance").any():
        add("epochs", made.epochs, made.epochs["layout"]["title"]["text"] if made.epochs else "")
    elif of.named("token pass").any():
        add("epochs", held_over_time(of), "Unreclaimed objects of a thread, over time")
    return side


BINS = 40


def held_over_time(of: recording.Recording) -> Chart | None:
    """Where no epoch is common to all threads: what each told when it closed a bag, and the mean."""
    chosen = of.named("unreclaimed")
    if not chosen.any():
        return None
    at, held = of.begin[chosen], of.count[chosen].astype(np.float64)
    place = np.minimum((at / of.seconds * BINS).astype(np.int64), BINS - 1)
    there, first = np.unique(place, return_inverse=True)
    mean = np.bincount(first, held) / np.bincount(first)

    def trace(name: str, x: recording.Array, y: recording.Array, **more: Any) -> Chart:
        return {"type": "scatter", "name": name, "legendgroup": name, "x": drawing.packed(x), "y": drawing.packed(y),
                "hovertemplate": f"{name} %{{y:,.0f}}<br>%{{x:.3f}} s<extra></extra>", **more}

    return chart(
        [
            trace("one thread", at.astype(np.float64), held, mode="markers", marker={"size": 6, "color": look.COLOURS["grey"]}),
            trace("mean", (there + 0.5) * of.seconds / BINS, mean, mode="lines", line={"width": 2, "color": look.COLOURS["vermilion"]}),
        ],
        "",
        xaxis={"title": {"text": "seconds"}, "zeroline": False, "range": [0, of.seconds]},
        yaxis={"title": {"text": "objects"}, "rangemode": "tozero"},
        height=280,
    )


def machine(about: Mapping[str, Any]) -> list[tuple[str, str]]:
    told = [
        ("processor", f"{about.get('cpu')}, {about.get('cores')} cores"),
        ("kernel", f"Linux {about['kernel']}" if about.get("kernel") else ""),
        ("system", ", ".join(str(about[name]) for name in ("distribution", "libc") if about.get(name))),
        ("commit", str(about.get("commit") or "")[:12]),
    ]
    return [(name, value) for name, value in told if value]
