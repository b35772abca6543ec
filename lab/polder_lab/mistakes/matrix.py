"""The matrix: mistakes down, heaps across. On a terminal or in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from polder_lab.heap import Heap
from polder_lab.interval import share
from polder_lab.mistakes.catalogue import Catalogue, Mistake
from polder_lab.mistakes.count import Count
from polder_lab.table import show_whole

SCHEMA = "polder-mistakes/1"
CONTROL = "control"
KINDS = ("system", "polder", "file", "peer")  # of heaps, in the order of their columns
LEGEND = ("`always`: in every run the heap said so in a line. `dies`: every run ended, not each with a line. `prevented`: the program "
          "went on in every run, and the harm looked for was seen in none. `no`: the mistake succeeded in every run. A number is "
          "the share of runs that were ended, with Wilson's 95 % interval, the rest succeeded; `rest prevented`: no run was harmed; "
          "`harm`: the share that succeeded, what is missing to 1 went on unharmed. `hangs`: no end in 10 s; after three such runs "
          "no more were made. –: cannot be made here.")


@dataclass
class Matrix:
    catalogue: Catalogue
    heaps: list[Heap]
    counts: dict[tuple[str, str], Count] = field(default_factory=dict)  # by mistake and heap
    left_out: list[str] = field(default_factory=list)

    def keep(self, finished: set[str]) -> None:
        self.catalogue = Catalogue(self.catalogue.groups, tuple(m for m in self.catalogue.mistakes if m.name in finished))
        self.counts = {key: count for key, count in self.counts.items() if key[0] in finished}

    def runs(self) -> str:
        """How often each was made: 1000 runs, or which heaps had how many."""
        by_runs: dict[int, list[str]] = {}
        for heap in self.heaps:
            most = max((count.runs for (_, name), count in self.counts.items() if name == heap.name), default=0)
            by_runs.setdefault(most, []).append(heap.name)
        if len(by_runs) == 1:
            return f"{next(iter(by_runs))} runs"
        return ", ".join(f"{runs} runs under {', '.join(names)}" for runs, names in sorted(by_runs.items(), reverse=True))

    def in_order(self) -> None:
        """The system's, Polder's, those that look for mistakes, the others."""
        self.heaps.sort(key=lambda heap: (KINDS.index(heap.kind), heap.kind == "peer" and not heap.secure))

    def of(self, mistake: Mistake, heap: Heap) -> str:
        return cell(self.counts[mistake.name, heap.name])

    def false_alarms(self) -> list[str]:
        """What was noticed where there was no mistake, and what went astray."""
        counted = [(m, heap, self.counts[m.name, heap.name]) for m in self.catalogue.mistakes for heap in self.heaps]
        alarms = [f"{heap.name}: no mistake was made, and {count.runs - count.unharmed} of {count.runs} runs ended otherwise: "
                  f"{count.said or count.strange or 'not a word'}" for m, heap, count in counted
                  if m.group == CONTROL and count.unharmed < count.runs]
        return [*alarms, *(f"{heap.name}, {m.name}: {count.astray} of {count.runs} runs went astray: {count.strange}"
                           for m, heap, count in counted if count.astray)]

    def total(self, heap: Heap, kind: str) -> str:
        cells = [self.of(m, heap) for m in self.catalogue.mistakes if m.group != CONTROL]
        asked = [c for c in cells if c != "–"]
        return str(sum(kind_of(c) == kind for c in asked)) if asked else ""

    def said(self) -> list[tuple[str, str]]:
        """What Polder prints, by mistake."""
        own = next((heap for heap in self.heaps if heap.kind == "polder"), None)
        if own is None:
            return []
        return [(m.name, self.counts[m.name, own.name].said) for m in self.catalogue.mistakes if self.counts[m.name, own.name].said]

    def as_json(self, machine: dict[str, Any]) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "machine": machine,
            "heaps": [heap.as_json() for heap in self.heaps],
            "groups": [asdict(group) for group, _ in self.catalogue.in_groups()],
            "mistakes": [asdict(mistake) for mistake in self.catalogue.mistakes],
            "counts": [{"mistake": mistake, "heap": heap, **asdict(count)} for (mistake, heap), count in self.counts.items()],
            "left_out": self.left_out,
        }


TOTALS = (("always", "always noticed"), ("dies", "always ended"), ("prevented", "prevented"), ("part", "in part"), ("no", "not"))


def kind_of(text: str) -> str:
    return text if text in ("always", "dies", "prevented", "no") else "part"


def cell(count: Count) -> str:
    made = count.made
    if made == 0:
        return "–"
    if count.hung:
        return "hangs" if count.hung == made else f"hangs {likely(count.hung, made)}"
    if count.spoken == made:
        return "always"
    if count.stopped == made:
        return "dies"
    if count.harmed == made:
        return "no"
    if count.stopped == 0:
        return f"harm {likely(count.harmed, made)}" if count.harmed else "prevented"
    noticed = likely(count.stopped, made)
    if count.harmed == 0:
        return f"{noticed}, rest prevented"
    return noticed if count.stopped + count.harmed == made else f"{noticed}, harm {likely(count.harmed, made)}"


def likely(count: int, of: int) -> str:
    found = share(count, of)
    digits = 2 if 0.1 <= found.value <= 0.9 else 3
    return f"{found.value:.{digits}f} ({found.low:.{digits}f}–{found.high:.{digits}f})"


def style(text: str) -> str:
    colours = {"always": "green", "dies": "green", "prevented": "cyan", "no": "bold red"}
    return colours.get(kind_of(text), "dim" if text == "–" else "yellow")


def show(matrix: Matrix, console: Console) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    table.add_column("", no_wrap=True)
    for heap in matrix.heaps:
        table.add_column(heap.name, no_wrap=True)
    for group, mistakes in matrix.catalogue.in_groups():
        table.add_row(Text(group.title, "bold"), *[""] * len(matrix.heaps))
        for mistake in mistakes:
            cells = [matrix.of(mistake, heap) for heap in matrix.heaps]
            table.add_row(f"  {mistake.name}", *(Text(text, style(text)) for text in cells))
    for kind, label in TOTALS:
        table.add_row(Text(label, "bold"), *(matrix.total(heap, kind) for heap in matrix.heaps))
    show_whole(table, console)
    console.print(matrix.runs(), markup=False, highlight=False)
    for lines in (matrix.false_alarms(), [f"left out: {x}" for x in matrix.left_out]):
        for line in lines:
            console.print(line, markup=False, highlight=False, soft_wrap=True)
    console.print()
    console.print(Text(LEGEND, "dim"), width=100)


def markdown(matrix: Matrix, machine: str) -> str:
    """Those that look for mistakes, with what each mistake is; then the others as they come."""
    looking = [heap for heap in matrix.heaps if heap.kind != "peer" or heap.secure]
    others = [heap for heap in matrix.heaps if heap not in looking]
    out = [f"{matrix.runs()}, on {machine}.", ""]
    for heap in looking:
        if heap.secure:
            out.append(f"- `{heap.name}`: {' '.join(word for word in (heap.title, heap.version) if word)}; {heap.secure}")
    if looking:
        out += ["", *grid(matrix, looking, wordy=True)]
    if others:
        versions = ", ".join(f"{heap.name} {heap.version}".strip() for heap in others)
        out += ["", f"The peers as they come ({versions}):", "", *grid(matrix, others, wordy=False)]
    out += [f"\n{line}" for line in matrix.false_alarms()]
    out += ["", LEGEND]
    if said := matrix.said():
        out += ["", "What Polder prints, with the addresses of one run:", ""]
        out += [f"- {mistake}: `{line.replace('`', ' ')}`" for mistake, line in said]
    out += [f"\nLeft out: {line}" for line in matrix.left_out]
    return "\n".join(out) + "\n"


def grid(matrix: Matrix, heaps: Sequence[Heap], wordy: bool) -> list[str]:
    first = ["mistake", "what, and *what it does where it succeeds*"] if wordy else ["mistake"]
    lines = ["| " + " | ".join([*first, *(heap.name for heap in heaps)]) + " |", "| " + "--- | " * (len(first) + len(heaps))]
    empty = [""] * (len(first) - 1 + len(heaps))
    for group, mistakes in matrix.catalogue.in_groups():
        lines.append("| " + " | ".join([f"**{group.title}**", *empty]) + " |")
        for mistake in mistakes:
            head = [f"`{mistake.name}`", *([f"{mistake.what}; *{mistake.harm}*"] if wordy else [])]
            lines.append("| " + " | ".join([*head, *(matrix.of(mistake, heap) for heap in heaps)]) + " |")
    for kind, label in TOTALS:
        lines.append("| " + " | ".join([f"**{label}**", *[""] * (len(first) - 1), *(matrix.total(heap, kind) for heap in heaps)]) + " |")
    return [line.rstrip() for line in lines]
