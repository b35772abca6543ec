"""The figures of the papers, by name: scalloc-6a, michael-8e, lrmalloc-3 …"""

from __future__ import annotations

from polder_lab.complaint import Complaint, unknown
from polder_lab.figure import lrmalloc, michael, scalloc, thesis, thesis_curves, thesis_timelines
from polder_lab.figure.part import Figure, Presets
from polder_lab.figure.recorded import Timeline

__all__ = ["ALL", "EVERYTHING", "NOT_HERE", "RECORDED", "Figure", "Presets", "Timeline", "find"]

ALL: tuple[Figure, ...] = (*scalloc.FIGURES, *michael.FIGURES, *lrmalloc.FIGURES, *thesis_curves.FIGURES, *thesis.FIGURES)

# Those that no records hold: they are recorded when they are asked for.
RECORDED: tuple[Timeline, ...] = thesis_timelines.FIGURES
EVERYTHING: tuple[Figure | Timeline, ...] = (*ALL, *RECORDED)

# Figures without measurements, and those that we have no counterpart of.
NOT_HERE: dict[str, str] = {
    **{f"scalloc-{n}": "is a drawing, not a measurement" for n in ("1", "2", "3", "4")},
    **{f"michael-{n}": "is a listing or a drawing, not a measurement" for n in ("1", "2", "3", "4", "5", "6", "7")},
    "lrmalloc-1": "is a drawing, not a measurement",
    "thesis-3.7": "is a drawing, not a measurement",
    "thesis-4.2": "is one run over time; thesis-4.14a and thesis-4.14b are, with the same tree's growth",
    **{f"thesis-4.{n}": "is a drawing, not a measurement" for n in range(4, 14)},
}


def find(name: str) -> Figure | Timeline:
    """A part of a figure that is one page here, such as thesis-3.1b, is that page."""
    whole = name.rstrip("abcd") if name.startswith(("thesis-3.", "thesis-4.1", "thesis-4.3")) else name
    for figure in EVERYTHING:
        if figure.name in (name, whole):
            return figure
    if whole in NOT_HERE:
        raise Complaint(f"{name} {NOT_HERE[whole]}")
    parts = [figure.name for figure in EVERYTHING if figure.name.startswith(name)]
    if parts and "-" in name:
        raise Complaint(f"'{name}' has parts: {', '.join(parts)}")
    raise unknown("figure", name, [figure.name for figure in EVERYTHING])
