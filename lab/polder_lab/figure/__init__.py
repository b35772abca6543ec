"""The figures of the papers, by name: scalloc-6a, michael-8e, lrmalloc-3 …"""

from __future__ import annotations

from polder_lab.complaint import Complaint, unknown
from polder_lab.figure import lrmalloc, michael, scalloc
from polder_lab.figure.part import Figure, Presets

__all__ = ["ALL", "NOT_HERE", "Figure", "Presets", "find"]

ALL: tuple[Figure, ...] = (*scalloc.FIGURES, *michael.FIGURES, *lrmalloc.FIGURES)

# Figures without measurements, and those that measure something else than an allocator under a workload of ours.
NOT_HERE: dict[str, str] = {
    **{f"scalloc-{n}": "is a drawing, not a measurement" for n in ("1", "2", "3", "4")},
    **{f"michael-{n}": "is a listing or a drawing, not a measurement" for n in ("1", "2", "3", "4", "5", "6", "7")},
    "lrmalloc-1": "is a drawing, not a measurement",
    "thesis-3": "measures trees under a reclaimer (DEBRA, Token EBR), which no workload of the laboratory runs",
    "thesis-4": "measures a tree under DEBRA with changed Supermallocs at 190 and 240 threads, which no workload of the laboratory runs",
}


def find(name: str) -> Figure:
    for figure in ALL:
        if figure.name == name:
            return figure
    known = name.partition(".")[0] if name.startswith("thesis") else name
    if known in NOT_HERE:
        raise Complaint(f"{name} {NOT_HERE[known]}")
    parts = [figure.name for figure in ALL if figure.name.startswith(name)]
    if parts and "-" in name:
        raise Complaint(f"'{name}' has parts: {', '.join(parts)}")
    raise unknown("figure", name, [figure.name for figure in ALL])
