"""The thesis's timeline graph: a row a thread, boxes for intervals, diamonds for changes of the epoch, on their thread's row
and once more on a row below all others; and under it how much was left unreclaimed, by epoch."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from polder_lab.report import look, units
from polder_lab.report.chart.part import Chart, chart
from polder_lab.timeline import share, thin
from polder_lab.timeline.recording import Array, Recording
from polder_lab.timeline.words import meaning

# In the colour of their epoch, ten steps that come again; the neighbours differ most.
EPOCH_COLOURS = ("#440154", "#35b779", "#31688e", "#fde725", "#26828e", "#b5de2b", "#3e4989", "#6ece58", "#482878", "#1f9e89")
BY_EPOCH = share.FREEING
# name: height of the box, of a row's 1, and its colour. What is inside something else is lower, and drawn later.
BOXES = {
    "operation": (0.86, look.COLOURS["sky"]),
    "batch free": (0.76, EPOCH_COLOURS[1]),
    "single free": (0.76, EPOCH_COLOURS[1]),
    "bag rotate": (0.6, look.COLOURS["purple"]),
    "refill": (0.5, look.COLOURS["orange"]),
    "drain": (0.38, look.COLOURS["sky"]),
    "post": (0.38, look.COLOURS["vermilion"]),
    "span get": (0.26, look.COLOURS["green"]),
    "span put": (0.26, look.COLOURS["olive"]),
    "map": (0.16, look.COLOURS["blue"]),
    "unmap": (0.16, look.COLOURS["purple"]),
    "advise": (0.16, look.COLOURS["grey"]),
}
# Of boxes that follow each other without a gap: so that they are told apart.
EDGES = {"operation": "#ffffff"}
OTHER_BOX = (0.44, look.COLOURS["purple"])
DOTS = {"epoch advance": look.COLOURS["blue"], "token pass": look.COLOURS["purple"]}
PROJECTED = -1.0  # the row below
FULL = "rgba(213, 94, 0, 0.16)"
MOST_EPOCHS = 4000


@dataclass
class Drawing:
    timeline: Chart
    epochs: Chart | None
    left_out: list[str] = field(default_factory=list)  # of the plot, in words
    legend: list[tuple[str, str]] = field(default_factory=list)  # name, colour


def packed(numbers: Array) -> dict[str, str]:
    """An array as plotly reads it without a word for each number."""
    plain = np.ascontiguousarray(numbers)
    kind = {"f": "f", "i": "i", "u": "u"}[plain.dtype.kind] + str(plain.dtype.itemsize)
    found: dict[str, str] = {"dtype": kind, "bdata": base64.b64encode(plain.tobytes()).decode("ascii")}
    if plain.ndim == 2:
        found["shape"] = f"{plain.shape[0]}, {plain.shape[1]}"
    return found


def draw(recording: Recording, since: float, until: float) -> Drawing:
    seconds = until - since
    made = Drawing(chart([], "Timeline"), epochs_of(recording))
    data: list[Chart] = []
    merged, column = 0, 0.0
    intervals = [kind.name for kind in recording.kinds if kind.form == "interval"]
    intervals.sort(key=lambda name: -BOXES.get(name, OTHER_BOX)[0])
    present = [name for name in intervals if recording.named(name).any()]
    for name in present:
        thinned = thin.boxes(recording.only(recording.named(name)), seconds, thin.MOST_BOXES // len(present))
        merged, column = merged + thinned.merged, max(column, thinned.column)
        data += boxes(name, thinned)
        made.legend.append((f"{name}, in the colour of its epoch" if name in BY_EPOCH else name, BOXES.get(name, OTHER_BOX)[1]))
    if merged:
        made.left_out.append(
            f"{merged:,} intervals shorter than {units.seconds(column)} are drawn together: each such box is as wide as those that "
            "begin in its column of the row, and in the colour of the longest. --from and --to draw a part of the time closely."
        )
    for name in [kind.name for kind in recording.kinds if kind.form == "point"]:
        if dots_of := dots(recording.only(recording.named(name)), name, seconds, made):
            data += dots_of
            made.legend.append((name, DOTS.get(name, look.COLOURS["grey"])))
    if shaded := full(recording, until):
        data.append(shaded)
        made.legend.append(("buffer full: nothing recorded", "rgb(247, 224, 207)"))
    rows = len(recording.threads)
    has_dots = bool(recording.of("point").any())
    made.timeline = chart(
        data,
        "Timeline",
        xaxis={"title": {"text": "seconds"}, "range": [since, until], "zeroline": False},
        yaxis={
            **rows_axis(recording, has_dots),
            "range": [PROJECTED - 0.7 if has_dots else -0.7, rows - 0.3],
            "zeroline": False,
            "showgrid": False,
        },
        height=min(1500, max(300, 150 + 26 * (rows + 1))),
        hoverdistance=12,
        hovermode="closest",
    )
    return made


def rows_axis(recording: Recording, projected: bool) -> Chart:
    rows = len(recording.threads)
    step = max(1, -(-rows // 48))
    shown = list(range(0, rows, step))
    several = len({thread.pid for thread in recording.threads}) > 1
    names = [recording.threads[at].name or "?" for at in shown]
    texts = [f"{name} {recording.threads[at].pid if several else recording.threads[at].tid}" for at, name in zip(shown, names, strict=True)]
    if projected:
        return {"tickvals": [PROJECTED, *shown], "ticktext": ["all threads", *texts], "fixedrange": rows < 12}
    return {"tickvals": shown, "ticktext": texts, "fixedrange": rows < 12}


def boxes(name: str, of: thin.Boxes) -> list[Chart]:
    height, colour = BOXES.get(name, OTHER_BOX)
    if name not in BY_EPOCH:
        return [outline(name, of, np.ones(len(of), bool), height, colour, True)]
    groups = [of.label % len(EPOCH_COLOURS) == step for step in range(len(EPOCH_COLOURS))]
    first = next((step for step, group in enumerate(groups) if group.any()), 0)
    return [outline(name, of, group, height, EPOCH_COLOURS[step], step == first) for step, group in enumerate(groups) if group.any()]


def outline(name: str, of: thin.Boxes, chosen: Array, height: float, colour: str, in_legend: bool) -> Chart:
    """One line around all boxes of a colour: six corners, back to the first, and a gap."""
    begin, end, row = of.begin[chosen], of.end[chosen], of.row[chosen]
    middle, gap = (begin + end) / 2, np.full(len(begin), np.nan)
    low, high = row - height / 2, row + height / 2
    x = np.stack([begin, begin, middle, end, end, middle, begin, gap], axis=1).ravel()
    y = np.stack([low, high, high, high, low, low, low, gap], axis=1).ravel()
    told = np.stack([of.label[chosen], (end - begin) * 1e6, of.count[chosen], of.events[chosen]], axis=1).astype(np.float64)
    label, count = meaning(name)
    lines = [f"<b>{name}</b>", *([f"{label} %{{customdata[0]}}"] if label else []), "%{customdata[1]:,.2f} µs from %{x:.6f} s"]
    lines += [f"%{{customdata[2]:,.0f}} {count}"] if count else []
    if of.merged:
        lines.append("%{customdata[3]} together")
    return {
        "type": "scatter",
        "mode": "lines",
        "fill": "toself",
        "hoveron": "points",
        "name": name,
        "legendgroup": f"timeline:{name}",
        "showlegend": in_legend,
        "x": packed(x.astype(np.float64)),
        "y": packed(y.astype(np.float32)),
        "customdata": packed(np.repeat(told, 8, axis=0).astype(np.float64)),
        "hovertemplate": "<br>".join(lines) + "<extra></extra>",
        "line": {"width": 1 if name in EDGES else 0.6, "color": EDGES.get(name, colour)},
        "fillcolor": colour,
    }


def dots(of: Recording, name: str, seconds: float, made: Drawing) -> list[Chart]:
    """On their threads' rows, and all of them on the row below."""
    if not len(of):
        return []
    colour = DOTS.get(name, look.COLOURS["grey"])
    label = meaning(name)[0] or "label"
    shown = thin.marks(of.begin, of.row, seconds)
    below = thin.marks(of.begin, np.zeros(len(of), np.int32), seconds)
    if len(shown) < len(of):
        made.left_out.append(
            f"{name}: {len(of) - len(shown):,} of {len(of):,} dots lie so close to others of their row that they are not drawn."
        )

    def trace(at: Array, y: Array, in_legend: bool) -> Chart:
        return {
            "type": "scatter",
            "mode": "markers",
            "name": name,
            "legendgroup": f"timeline:{name}",
            "showlegend": in_legend,
            "x": packed(of.begin[at].astype(np.float64)),
            "y": packed(y.astype(np.float32)),
            "customdata": packed(of.label[at].astype(np.float64)),
            "hovertemplate": f"<b>{name}</b><br>{label} %{{customdata}}<br>%{{x:.6f}} s<extra></extra>",
            "marker": {
                "symbol": "diamond",
                "size": 6 if len(at) < 2000 else 4,
                "color": colour,
                "line": {"width": 0.5, "color": "#ffffff"},
            },
        }

    return [trace(shown, of.row[shown], True), trace(below, np.full(len(below), PROJECTED), False)]


def full(recording: Recording, until: float) -> Chart | None:
    """The part of each row in which a buffer had no room left."""
    x: list[float | None] = []
    y: list[float | None] = []
    for row, thread in enumerate(recording.threads):
        if thread.full_at is not None and thread.full_at < until:
            x += [thread.full_at, thread.full_at, until, until, thread.full_at, None]
            y += [row - 0.48, row + 0.48, row + 0.48, row - 0.48, row - 0.48, None]
    if not x:
        return None
    return {
        "type": "scatter",
        "mode": "lines",
        "fill": "toself",
        "name": "buffer full: nothing recorded",
        "legendgroup": "timeline:full",
        "hoverinfo": "skip",
        "x": x,
        "y": y,
        "line": {"width": 0},
        "fillcolor": FULL,
    }


def epochs_of(recording: Recording) -> Chart | None:
    found = share.unreclaimed(recording)
    if found is None:
        return None
    step = max(1, -(-len(found.epoch) // MOST_EPOCHS))
    starts = np.arange(0, len(found.epoch), step)
    mean = np.add.reduceat(found.mean, starts) / np.diff(np.append(starts, len(found.epoch)))
    most = np.maximum.reduceat(found.most, starts)
    told = np.stack([found.at[starts], found.threads[starts]], axis=1).astype(np.float64)
    title = "Unreclaimed objects of a thread, by epoch" + (f"; {step} epochs a point" if step > 1 else "")

    def trace(name: str, y: Array, colour: str, width: float) -> Chart:
        return {
            "type": "scatter",
            "mode": "lines",
            "name": name,
            "legendgroup": name,
            "x": packed(found.epoch[starts].astype(np.float64)),
            "y": packed(y.astype(np.float64)),
            "customdata": packed(told),
            "hovertemplate": f"<b>epoch %{{x}}</b><br>{name} %{{y:,.0f}}<br>from %{{customdata[0]:.6f}} s, "
            "%{customdata[1]} threads<extra></extra>",
            "line": {"width": width, "color": colour},
        }

    return chart(
        [trace("most of one thread", most, look.COLOURS["grey"], 1), trace("mean", mean, look.COLOURS["vermilion"], 2)],
        title,
        xaxis={"title": {"text": "epoch"}, "zeroline": False},
        yaxis={"title": {"text": "objects"}, "rangemode": "tozero"},
        height=280,
    )


def on_one_sheet(made: Drawing, title: str, notes: Sequence[str]) -> tuple[Chart, int]:
    """Both charts as one picture, and its height."""
    tall = int(made.timeline["layout"]["height"])
    below = 230 if made.epochs else 0
    height = tall + below + 110 + 18 * len(notes)
    layout: dict[str, Any] = {k: v for k, v in made.timeline["layout"].items() if k != "height"}
    data = list(made.timeline["data"])
    if made.epochs:
        split, gap = below / (tall + below), 75 / (tall + below)
        under = made.epochs["layout"]
        layout["yaxis"] = {**layout["yaxis"], "domain": [split, 1.0]}
        layout["xaxis"] = {**layout["xaxis"], "anchor": "y"}
        layout["xaxis2"] = {**under["xaxis"], "anchor": "y2"}
        layout["yaxis2"] = {**under["yaxis"], "domain": [0.0, split - gap], "anchor": "x2"}
        data += [{**one, "xaxis": "x2", "yaxis": "y2", "name": f"unreclaimed, {one['name']}"} for one in made.epochs["data"]]
    lines = [f"<b>{title}</b>", *(f"<span style='font-size:12px'>{note}</span>" for note in notes)]
    layout["title"] = {"text": "<br>".join(lines)}
    layout["margin"] = {"t": 50 + 18 * len(notes), "b": 80}
    layout["legend"] = {"orientation": "h", "x": 0, "y": -0.02 - 46 / height, "yanchor": "top"}
    return chart(data, "", **{k: v for k, v in layout.items() if k != "title"}) | {"layout": layout}, height
