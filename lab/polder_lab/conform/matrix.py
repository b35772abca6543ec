"""The matrix: probes down, heaps across, a footnote for each failure. On a terminal or in Markdown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from polder_lab.conform.catalogue import Catalogue, Group, Probe
from polder_lab.conform.run import Verdict
from polder_lab.heap import Heap
from polder_lab.table import show_whole

SCHEMA = "polder-conform/1"
LEGEND = ("✓ met · ✗ not met: a wrong answer, a crash, or a hang (no end within the probe's time) · – not applicable: the function is "
          "not there, or the machine forbids the question. A demand that was not met was asked again; the note says how often it failed. "
          "Groups marked * are demanded by no standard or manual: a ✗ there is information and is not counted as a failure.")


@dataclass
class Matrix:
    catalogue: Catalogue
    heaps: list[Heap]
    results: dict[tuple[str, str], Verdict] = field(default_factory=dict)  # by probe and heap
    left_out: list[str] = field(default_factory=list)

    def keep_finished(self) -> None:
        finished = tuple(p for p in self.catalogue.probes if all((p.name, h.name) in self.results for h in self.heaps))
        self.catalogue = Catalogue(self.catalogue.groups, finished)
        self.results = {key: verdict for key, verdict in self.results.items() if key[0] in {p.name for p in finished}}

    def failures(self, heap: Heap) -> list[Probe]:
        return [p for p in self.catalogue.probes if self.catalogue.group(p).demanded and self.results[p.name, heap.name].fails]

    def groups(self) -> list[tuple[Group, list[Probe]]]:
        sorted_in = [(group, [p for p in self.catalogue.probes if p.group == group.name]) for group in self.catalogue.groups]
        return [(group, probes) for group, probes in sorted_in if probes]

    def footnotes(self) -> dict[tuple[str, str], int]:
        """By row, then by column, as one reads."""
        failed = [(p.name, h.name) for _, probes in self.groups() for p in probes for h in self.heaps if self.results[p.name, h.name].fails]
        return {key: number for number, key in enumerate(failed, 1)}

    def cell(self, probe: Probe, heap: Heap, numbers: dict[tuple[str, str], int]) -> str:
        verdict = self.results[probe.name, heap.name]
        if verdict.fails:
            return f"✗ {verdict.kind} [{numbers[probe.name, heap.name]}]"
        return "✓" if verdict.kind == "met" else "–"

    def count(self, heap: Heap, demanded: bool) -> str:
        verdicts = [self.results[p.name, heap.name] for p in self.catalogue.probes if self.catalogue.group(p).demanded == demanded]
        asked = [v for v in verdicts if v.kind != "absent"]
        return f"{sum(not v.fails for v in asked)} of {len(asked)}" if asked else ""

    def notes(self) -> list[str]:
        lines = []
        for (probe, heap), number in self.footnotes().items():
            verdict = self.results[probe, heap]
            times = f" ({verdict.failed} of {verdict.runs} runs)" if verdict.runs > 1 else ""
            lines.append(f"[{number}] {heap}, {probe}: {verdict.told}{times}")
        return lines

    def said(self) -> list[str]:
        """What the heaps print when they notice a mistake."""
        return [f"{heap.name}, {p.name}: {note}" for p in self.catalogue.probes if p.group == "misuse"
                for heap in self.heaps if (note := self.results[p.name, heap.name].note)]

    def as_json(self, machine: dict[str, Any]) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "machine": machine,
            "heaps": [heap.as_json() for heap in self.heaps],
            "groups": [{"name": g.name, "title": g.title, "demanded": g.demanded} for g, _ in self.groups()],
            "probes": [{"name": p.name, "group": p.group, "demand": p.demand, "source": p.source, "seconds": p.seconds}
                       for p in self.catalogue.probes],
            "results": [{"probe": probe, "heap": heap, "verdict": v.kind, "told": v.told, "note": v.note, "runs": v.runs,
                         "failed": v.failed, "seconds": v.seconds} for (probe, heap), v in self.results.items()],
            "left_out": self.left_out,
        }


def title(group: Group) -> str:
    return group.title if group.demanded else f"{group.title} *"


def style(text: str) -> str:
    return "green" if text == "✓" else "bold red" if text.startswith("✗") else "dim"


def show(matrix: Matrix, console: Console) -> None:
    numbers = matrix.footnotes()
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    table.add_column("", no_wrap=True)
    for heap in matrix.heaps:
        table.add_column(heap.name, no_wrap=True)
    for group, probes in matrix.groups():
        table.add_row(Text(title(group), "bold"), *[""] * len(matrix.heaps))
        for probe in probes:
            cells = [matrix.cell(probe, heap, numbers) for heap in matrix.heaps]
            table.add_row(f"  {probe.name}", *(Text(cell, style(cell)) for cell in cells))
    for label, demanded in (("demands met", True), ("beyond them *", False)):
        counts = [matrix.count(heap, demanded) for heap in matrix.heaps]
        if any(counts):
            table.add_row(Text(label, "bold"), *counts)
    show_whole(table, console)
    for heading, lines in (("", matrix.notes()), ("What they print", matrix.said()), ("", [f"left out: {x}" for x in matrix.left_out])):
        if lines:
            console.print()
        if heading and lines:
            console.print(heading, style="bold")
        for line in lines:
            console.print(line, markup=False, highlight=False)
    console.print()
    console.print(Text(LEGEND, "dim"), width=100)


def code(line: str) -> str:
    """Footnotes quote what programs printed: nothing in them may be taken for Markdown."""
    head, _, words = line.partition(": ")
    ticks = "``" if "`" in words else "`"
    return f"{head}: {ticks}{words} {ticks}" if words.endswith("`") else f"{head}: {ticks}{words}{ticks}"


def markdown(matrix: Matrix, machine: str) -> str:
    numbers = matrix.footnotes()
    out = [f"Measured on {machine}.", "", "| probe | demand | " + " | ".join(h.name for h in matrix.heaps) + " |",
           "| --- | --- |" + " --- |" * len(matrix.heaps)]
    empty = " |" * len(matrix.heaps)
    for group, probes in matrix.groups():
        out.append(f"| **{title(group)}** | |{empty}")
        for probe in probes:
            cells = " | ".join(matrix.cell(probe, heap, numbers) for heap in matrix.heaps)
            out.append(f"| `{probe.name}` | {probe.demand} ({probe.source}) | {cells} |".replace("(none", "(no standard"))
    for label, demanded in (("demands met", True), ("beyond them *", False)):
        counts = [matrix.count(heap, demanded) for heap in matrix.heaps]
        if any(counts):
            out.append(f"| **{label}** | | " + " | ".join(counts) + " |")
    out += ["", *(f"- {code(note)}" for note in matrix.notes())]
    if said := matrix.said():
        out += ["", "What they print:", "", *(f"- {code(line)}" for line in said)]
    out += [f"\nLeft out: {line}" for line in matrix.left_out]
    return "\n".join([*out, "", LEGEND]) + "\n"
