"""How a subject looks: one colour, one marker, one dash, the same in every chart, on light and on dark.

The colours are Okabe and Ito's (2008), told apart with any common colour blindness, without the black that dark pages
swallow; the baseline is grey. Beyond eight, marker and dash tell subjects of one colour apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

COLOURS = {
    "grey": "#8a8a8a",
    "vermilion": "#d55e00",
    "blue": "#0072b2",
    "green": "#009e73",
    "orange": "#e69f00",
    "sky": "#56b4e9",
    "purple": "#cc79a7",
    "olive": "#999933",
}
# As plotly calls them, and the same within a circle of radius 5, for the chips.
MARKERS = {
    "circle": "M-4.5,0a4.5,4.5 0 1,0 9,0a4.5,4.5 0 1,0 -9,0Z",
    "square": "M-4,-4H4V4H-4Z",
    "diamond": "M0,-5.5L5.5,0L0,5.5L-5.5,0Z",
    "triangle-up": "M0,-5L5,4H-5Z",
    "triangle-down": "M0,5L5,-4H-5Z",
    "cross": "M-5,-1.7H-1.7V-5H1.7V-1.7H5V1.7H1.7V5H-1.7V1.7H-5Z",
    "x": "M-5,-3L-3,-5L0,-2L3,-5L5,-3L2,0L5,3L3,5L0,2L-3,5L-5,3L-2,0Z",
    "pentagon": "M0,-5L4.8,-1.5L2.9,4H-2.9L-4.8,-1.5Z",
}
DASHES = ("solid", "dash", "dot", "dashdot")


@dataclass(frozen=True)
class Look:
    colour: str
    marker: str
    dash: str = "solid"
    width: float = 2

    @property
    def shape(self) -> str:
        return MARKERS[self.marker]


def look(colour: str, marker: str, dash: str = "solid", width: float = 2) -> Look:
    return Look(COLOURS[colour], marker, dash, width)


KNOWN = {
    "system": look("grey", "square"),
    "polder": look("vermilion", "circle", width=3),
    "scalloc": look("purple", "diamond"),
    "lrmalloc": look("olive", "triangle-up"),
    "michael": look("sky", "triangle-down", "dash"),
    "supermalloc": look("orange", "pentagon", "dash"),
    "jemalloc": look("blue", "triangle-up"),
    "mimalloc": look("sky", "diamond"),
    "tcmalloc": look("green", "triangle-down"),
    "tbb": look("orange", "cross"),
    "snmalloc": look("purple", "x", "dot"),
    "rpmalloc": look("olive", "pentagon", "dot"),
    "mimalloc3": look("sky", "x", "dashdot"),
    "google-tcmalloc": look("green", "square", "dash"),
    "scudo": look("grey", "cross", "dash"),
    "hardened_malloc": look("grey", "x", "dot"),
}


def looks(names: Sequence[str]) -> dict[str, Look]:
    """Unknown subjects take, by their name, what none of those present has."""
    found = {name: KNOWN[name] for name in names if name in KNOWN}
    taken = {(one.colour, one.marker) for one in found.values()}
    pairs = [(colour, marker) for marker in MARKERS for colour in list(COLOURS.values())[1:]]
    for name in names:
        if name in found:
            continue
        start = crc32(name.encode()) % len(pairs)
        turn = pairs[start:] + pairs[:start]
        colour, marker = next((pair for pair in turn if pair not in taken), turn[0])
        taken.add((colour, marker))
        found[name] = Look(colour, marker, DASHES[1 + start % 3])
    return found


FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'Noto Sans', 'DejaVu Sans', sans-serif"


def template(text: str, faint: str, line: str, surface: str) -> dict[str, Any]:
    axis = {
        "gridcolor": line,
        "linecolor": faint,
        "tickcolor": faint,
        "zerolinecolor": line,
        "ticks": "outside",
        "ticklen": 4,
        "automargin": True,
        "title": {"font": {"size": 13}, "standoff": 10},
        "tickfont": {"color": faint, "size": 12},
    }
    return {
        "layout": {
            "font": {"family": FONT, "size": 13, "color": text},
            "paper_bgcolor": surface,
            "plot_bgcolor": surface,
            "title": {
                "font": {"size": 15, "color": text},
                "x": 0,
                "xref": "paper",
                "xanchor": "left",
                "y": 1,
                "yref": "container",
                "yanchor": "top",
                "pad": {"t": 12},
            },
            "xaxis": axis,
            "yaxis": axis,
            "margin": {"l": 60, "r": 18, "t": 46, "b": 52},
            "hovermode": "closest",
            "legend": {"orientation": "h", "x": 0, "y": -0.2, "yanchor": "top", "font": {"color": text}},
            "hoverlabel": {"bgcolor": surface, "bordercolor": faint, "font": {"family": FONT, "size": 13, "color": text}, "align": "left"},
        }
    }


LIGHT = template("#1d232a", "#66707c", "#e6e9ed", "#ffffff")
DARK = template("#e4e8ed", "#98a3b0", "#2c343e", "#181e26")
