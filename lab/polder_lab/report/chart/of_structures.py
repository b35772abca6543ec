"""Structures against each other: throughput against threads, and against how far from its order elements come out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from polder_lab.report import units
from polder_lab.report.chart import labels
from polder_lab.report.chart.part import Chart, chart, hover, interval, trace
from polder_lab.report.look import COLOURS, MARKERS, Look
from polder_lab.report.standing import Quality, Standing, Standings

RIVAL = Look(COLOURS["grey"], "circle-open", "dot", 1.5)
FAINT = "#8a8a8a"
WIDTH = 620.0  # pixels that the plot has at least where names are placed
MARGIN = {"l": 70, "r": 20, "t": 46, "b": 48}
LEFT = 0.36  # of the width is for those that are never late


def throughput_axis(of: Sequence[Standing]) -> tuple[Chart, float, float]:
    values = [one.throughput.value for one in of]
    low, high = math.log10(min(values)) - 0.08, math.log10(max(values)) + 0.08
    ticks = [m * 10.0**e for e in range(math.floor(low), math.ceil(high) + 1) for m in (1, 2, 5) if low <= math.log10(m) + e <= high]
    axis = {"title": {"text": "operations a second"}, "type": "log", "range": [low, high], "tickvals": ticks,
            "ticktext": [units.count(tick) for tick in ticks]}
    return axis, low, high


def name_beside(text: str, point: tuple[float, float], at: tuple[float, float], anchor: str, colour: str) -> Chart:
    """A name at one place of the plot, and a thin line to the point that it names."""
    return {**led(text, anchor, colour), "x": point[0], "y": point[1], "ax": at[0], "ay": at[1], "xref": "x", "yref": "y", "axref": "x",
            "ayref": "y"}


def led(text: str, anchor: str, colour: str) -> Chart:
    return {"text": text, "xanchor": anchor, "yanchor": "middle", "showarrow": True, "arrowhead": 0, "arrowwidth": 0.6, "arrowcolor": FAINT,
            "standoff": 5, "font": {"size": labels.FONT, "color": colour}}


def told(one: Standing) -> str:
    of = one.quality
    lines = [f"{one.threads} threads", f"{units.count(one.throughput.value)} operations a second",
             interval(one.throughput, units.count)]
    if one.ratio:
        lines.append(f"{units.ratio(one.ratio.value)} times {one.against}")
    if of:
        lines += [f"lateness {units.count(of.lateness)} in the mean, {units.count(of.worst)} at worst", measured_k(of)]
    return hover(one.name, *lines)


def measured_k(of: Quality) -> str:
    return f"k {of.k:.0f}" + (f" of {of.promised:.0f}" if of.promised is not None else "")


def against_threads(of: Standings) -> Chart | None:
    """A line a structure; its name at its right end, or at its left one where it does not run with the most threads."""
    counts = of.threads
    if len(counts) < 2:
        return None
    by_name: dict[str, list[Standing]] = {}
    for one in of.all:
        by_name.setdefault(one.name, []).append(one)
    axis, low, high = throughput_axis(of.all)
    height = max(420.0, labels.LINE * len(by_name) + MARGIN["t"] + MARGIN["b"])
    gap = labels.LINE / (height - MARGIN["t"] - MARGIN["b"]) * (high - low)
    look_of = told_apart(by_name)
    base = of.all[0].against
    data, notes = [], []
    for at_right in (True, False):
        ends = {name: points[-1 if at_right else 0] for name, points in by_name.items() if (points[-1].threads == counts[-1]) == at_right}
        places = labels.spread([math.log10(end.throughput.value) for end in ends.values()], gap, low, high)
        for (name, end), place in zip(ends.items(), places, strict=True):
            point = math.log10(end.threads), math.log10(end.throughput.value)
            across = math.log10(counts[-1]) + 0.03 * span(counts) if at_right else math.log10(counts[0]) - 0.03 * span(counts)
            text = f"<b>{name}</b>" if name == base else name
            notes.append(name_beside(text, point, (across, place), "left" if at_right else "right", look_of[name].colour))
    for name, points in by_name.items():
        look = look_of[name]
        data.append(trace(name, look, mode="lines+markers", x=[one.threads for one in points],
                          y=[units.brief(one.throughput.value) for one in points], hovertext=[told(one) for one in points],
                          line={"width": 4 if name == base else look.width}, marker={"size": 7}))
    few = any(points[-1].threads != counts[-1] for points in by_name.values())
    x: Chart = {
        "title": {"text": "threads"}, "type": "log", "tickvals": counts, "ticktext": [str(count) for count in counts], "showgrid": False,
        "range": [math.log10(counts[0]) - (0.45 if few else 0.06) * span(counts), math.log10(counts[-1]) + 0.5 * span(counts)],
    }
    return chart(data, f"{of.title}: throughput against threads", xaxis=x, yaxis=axis, height=height, annotations=notes, showlegend=False,
                 margin=MARGIN)


def told_apart(by_name: Mapping[str, Sequence[Standing]]) -> dict[str, Look]:
    """Neighbours at the right end have colours that differ."""
    colours, markers = list(COLOURS.values())[1:], list(MARKERS)
    ours = sorted((name for name, points in by_name.items() if not points[0].is_rival), key=lambda name: by_name[name][-1].throughput.value)
    found = {name: Look(colours[at % len(colours)], markers[at // len(colours) % len(markers)]) for at, name in enumerate(ours)}
    return {**dict.fromkeys(by_name, RIVAL), **found}


def span(counts: Sequence[int]) -> float:
    return math.log10(counts[-1]) - math.log10(counts[0])


KINDS = {  # of a comparison: its colour, and what it is called
    "strict": (COLOURS["blue"], "circle"),
    "relaxed": (COLOURS["vermilion"], "diamond"),
    "pools": (COLOURS["green"], "square"),
    "rival": (FAINT, "circle-open"),
}


def kind_of(of: Standings, one: Standing) -> str:
    if one.is_rival:
        return "rival"
    return next((kind for kind in ("relaxed", "pools") if of.key.startswith(kind)), "strict")


def against_lateness(all_of: Sequence[Standings], as_stack: bool, threads: int) -> Chart | None:
    """Those that are never late stand in a column of their own, since a logarithmic axis has no nought."""
    found: dict[str, tuple[str, Standing, Quality]] = {}
    for of in all_of:
        for one in of.all:
            if one.threads == threads and one.quality and one.quality.as_stack == as_stack:
                found.setdefault(one.name, (kind_of(of, one), one, one.quality))
    late = {name: one for name, one in found.items() if one[2].lateness > 0}
    never = {name: one for name, one in found.items() if name not in late}
    if len(found) < 2:
        return None
    axis, low, high = throughput_axis([one for _, one, _ in found.values()])
    height = max(480.0, labels.LINE * len(never) + MARGIN["t"] + MARGIN["b"])
    plot = height - MARGIN["t"] - MARGIN["b"]
    data, notes = [], []
    for ending, members in (("", never), ("2", late)):
        for kind, (colour, marker) in KINDS.items():
            those = [(one, of) for of_kind, one, of in members.values() if of_kind == kind]
            if those:
                data.append({"type": "scatter", "mode": "markers", "name": kind, "hoverinfo": "text", "xaxis": f"x{ending}", "yaxis": "y",
                             "x": [units.brief(of.lateness) for _, of in those],
                             "y": [units.brief(one.throughput.value) for one, _ in those],
                             "hovertext": [told(one) for one, _ in those],
                             "marker": {"color": colour, "symbol": marker, "size": 10, "line": {"width": 1.5 if kind == "rival" else 0}}})
    heights = {name: math.log10(one.throughput.value) for name, (_, one, _) in found.items()}
    places = labels.spread([heights[name] for name in never], labels.LINE / plot * (high - low), low, high)
    for name, place in zip(never, places, strict=True):
        notes.append(name_beside(name, (0, heights[name]), (0.12, place), "left", KINDS[never[name][0]][0]))
    layout: Chart = {
        "xaxis": {"domain": [0, LEFT if late else 1], "range": [-0.06, 1], "tickvals": [0], "ticktext": ["0"], "showgrid": False,
                  "anchor": "y", "title": {"text": "never late"}},
        "yaxis": axis,
    }
    if late:
        layout["xaxis2"], more = late_axis(late, heights, (low, high), plot)
        notes += more
    order = "stacks' order" if as_stack else "queues' order"
    return chart(data, f"Throughput against lateness, {order}, {threads} threads", height=height, annotations=notes, showlegend=False,
                 margin=MARGIN, **layout)


def late_axis(late: Mapping[str, tuple[str, Standing, Quality]], heights: Mapping[str, float], ends: tuple[float, float],
              plot: float) -> tuple[Chart, list[Chart]]:
    across = {name: math.log10(of.lateness) for name, (_, _, of) in late.items()}
    left, right = min(across.values()) - 0.3, max(across.values()) + 0.3
    if right - left < 2:
        left, right = (left + right) / 2 - 1, (left + right) / 2 + 1
    width = WIDTH * (1 - LEFT - 0.03)
    low, high = ends
    pixels = {name: ((across[name] - left) / (right - left) * width, (high - heights[name]) / (high - low) * plot) for name in late}
    notes = []
    for name, (dx, dy) in labels.beside(pixels, width, plot).items():
        colour = KINDS[late[name][0]][0]
        notes.append({**led(name, "left" if dx > 0 else "right", colour), "x": across[name], "y": heights[name], "xref": "x2", "yref": "y",
                      "ax": dx, "ay": dy})
    ticks = [10.0**e for e in range(math.ceil(left), math.floor(right) + 1)]
    axis = {"domain": [LEFT + 0.03, 1], "type": "log", "range": [left, right], "tickvals": ticks,
            "ticktext": [f"{tick:g}" for tick in ticks], "anchor": "y", "title": {"text": "mean lateness: how many elements overtook one"}}
    return axis, notes


def what_it_shows(all_of: Sequence[Standings], as_stack: bool, threads: int) -> str:
    """In a sentence or two, of the structures of one order."""
    those = {one.name: (one, one.quality) for of in all_of for one in of.all
             if one.threads == threads and one.quality and one.quality.as_stack == as_stack}
    strict = [one for one, of in those.values() if of.lateness == 0]
    loose = [(one, of) for one, of in those.values() if of.lateness > 0]
    if not strict:
        return ""
    best = max(strict, key=lambda one: one.throughput.value)
    text = (f"Of those that let nobody be overtaken here, {best.name} is the fastest with "
            f"{units.count(best.throughput.value)} operations a second.")
    if not loose:
        return f"{text} No other was seen to."
    faster = [(one, of) for one, of in loose if one.throughput.value > best.throughput.value]
    if not faster:
        return f"{text} None of the {len(loose)} where elements were late is faster: here it buys nothing."
    top, quality = max(faster, key=lambda pair: pair[0].throughput.value)
    factor, are = units.ratio(top.throughput.value / best.throughput.value), "are" if len(faster) > 1 else "is"
    return (f"{text} Of the {len(loose)} where elements were late, {len(faster)} {are} faster; {top.name} the most, by a factor of "
            f"{factor}, at a mean lateness of {units.count(quality.lateness)}.")
