"""The one table, on a terminal of 100 columns or in Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from polder_lab.heap import SYSTEM
from polder_lab.interval import Ratio, overall_ratio
from polder_lab.outcome import Cell, Outcome, RowOutcome
from polder_lab.report import units

WIDTH = 100  # of the notes; the table takes what it needs, 98 with names of up to 8 letters
WORDS = {"better": "faster", "worse": "slower", "even": "even", "": ""}
STYLES = {"better": "green", "worse": "bold red"}


@dataclass
class Line:
    cells: list[str]
    verdict: str = ""
    closes: bool = False  # of the summary


@dataclass
class Sheet:
    heads: list[str]
    lines: list[Line] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def show_whole(grid: Table, console: Console) -> None:
    """As wide as it is: what does not fit into a line is no table."""
    width = Measurement.get(console, console.options.update(max_width=1000), grid).maximum
    Console(highlight=False, width=max(console.width, width)).print(grid)


def seconds(result: RowOutcome, cell: Cell) -> str:
    value = statistics.median(result.times(cell))
    if result.per_operation:
        return f"{value * 1e9:.3g} ns"
    return f"{value:.2f} s" if value >= 1 else f"{value * 1000:.0f} ms" if value >= 0.1 else f"{value * 1000:.3g} ms"


def megabytes(value: float) -> str:
    mb = value / 2**20
    return f"{mb:.1f}" if mb < 100 else f"{mb:.0f}"


def counted(value: float) -> str:
    return f"{value:.0f}" if value < 1000 else f"{value / 1e3:.1f}k" if value < 1e6 else f"{value / 1e6:.1f}M"


def span(ratio: Ratio | None) -> str:
    return f"{ratio.low:.2f} – {ratio.high:.2f}" if ratio and ratio.low is not None and ratio.high is not None else ""


def value(ratio: Ratio | None) -> str:
    return f"{ratio.value:.2f}" if ratio else ""


def make(outcome: Outcome, left_out: Sequence[str] = ()) -> Sheet:
    single = len(outcome.heaps) == 1
    name = outcome.heaps[0].name
    measures = ["\nratio", "95 %\ninterval", "", "peak\nMB", "RSS\nratio", "page\nfaults", "\nratio"]
    sheet = Sheet(["", "time\nsystem", f"\n{name}", *measures] if single else ["", "\nheap", "\ntime", *measures])
    for result in outcome.rows:
        if single:
            sheet.lines.append(single_line(result, name))
        else:
            sheet.lines += several_lines(result, [h.name for h in outcome.heaps])
    for title, kinds in (("real programs", ["program"]), ("workloads", ["workload"]), ("all rows", ["program", "workload", "command"])):
        rows = [r for r in outcome.rows if r.row.kind in kinds]
        if title == "all rows" or len({r.row.kind for r in outcome.rows}) > 1:
            summary = [line for heap in outcome.heaps for line in closing(title, rows, heap.name, single)]
            heads = [line.cells[0] for line in summary]
            for line, before in zip(summary[1:], heads, strict=False):
                if line.cells[0] == before:
                    line.cells[0] = ""
            sheet.lines += summary
    sheet.notes = [*notes(outcome), *(f"left out  {line}" for line in left_out)]
    return sheet


def single_line(result: RowOutcome, heap: str) -> Line:
    base, cell = result.base, result.cells[heap]
    first = [result.row.title, seconds(result, base) if base.runs and not base.trouble else ""]
    ratio = result.ratio(heap, "seconds")
    if ratio is None:
        return Line([*first, "", "", told(base, cell), *[""] * 5], "worse" if cell.trouble or base.trouble else "")
    return Line([*first, seconds(result, cell), *measures(result, heap, ratio)], ratio.verdict)


def several_lines(result: RowOutcome, heaps: list[str]) -> list[Line]:
    base = result.base
    if base.trouble or not base.runs:
        return [Line([result.row.title, SYSTEM.name, "", "", told(base, base), *[""] * 5], "worse")]
    lines = [Line([result.row.title, SYSTEM.name, seconds(result, base), "", "", "", megabytes(base.median("peak_rss")), "",
                   counted(base.median("faults")), ""])]
    for heap in heaps:
        ratio = result.ratio(heap, "seconds")
        if ratio is None:
            lines.append(Line(["", heap, "", "", told(base, result.cells[heap]), *[""] * 5], "worse"))
        else:
            lines.append(Line(["", heap, seconds(result, result.cells[heap]), *measures(result, heap, ratio)], ratio.verdict))
    return lines


def measures(result: RowOutcome, heap: str, time: Ratio) -> list[str]:
    cell = result.cells[heap]
    return [value(time), span(time), WORDS[time.verdict], megabytes(cell.median("peak_rss")), value(result.ratio(heap, "peak_rss")),
            counted(cell.median("faults")), value(result.ratio(heap, "faults"))]


SHORT = {"crashes": "crashes", "hangs": "hangs", "fails": "fails", "not served": "not served", "prints": "other output",
         "not the system": "other malloc"}


def told(base: Cell, cell: Cell) -> str:
    """A word or two for the table; the whole story is below it."""
    trouble = base.trouble or cell.trouble
    return next((short for start, short in SHORT.items() if trouble.startswith(start)), "fails" if trouble else "not measured")


def closing(title: str, rows: list[RowOutcome], heap: str, single: bool) -> list[Line]:
    measured = [r for r in rows if r.pairs(heap, "seconds")]
    if not measured:
        return []
    time = overall_ratio([p for r in measured if (p := r.pairs(heap, "seconds"))])
    peak = overall_ratio([p for r in measured if (p := r.pairs(heap, "peak_rss"))])
    faults = overall_ratio([p for r in measured if (p := r.pairs(heap, "faults"))])
    which = ["", ""] if single else [heap, ""]
    over = f"{len(measured)}" if len(measured) == len(rows) else f"{len(measured)} of {len(rows)}"
    return [Line([f"{title} ({over})", *which, value(time), span(time), WORDS[time.verdict], "", value(peak), "", value(faults)],
                 time.verdict, closes=True)]


def notes(outcome: Outcome) -> list[str]:
    lines = []
    for heap in outcome.heaps:
        verdicts: dict[str, list[str]] = {}
        for result in outcome.rows:
            if ratio := result.ratio(heap.name, "seconds"):
                verdicts.setdefault(ratio.verdict, []).append(result.row.title)
        slower, total = verdicts.get("worse", []), sum(map(len, verdicts.values()))
        if total and "" not in verdicts:
            named = f": {', '.join(slower)}" if slower else ""
            lines.append(f"{heap.name} is faster in {len(verdicts.get('better', []))} of {total} rows, even in "
                         f"{len(verdicts.get('even', []))}, slower (the whole interval above 1) in {len(slower)}{named}.")
        elif total:
            lines.append(f"{heap.name}: no intervals, they need at least 6 rounds.")
    for title, heap_name, trouble in outcome.troubles:
        lines.append(f"FAILED    {title} under {heap_name} {trouble}")
    for result in outcome.rows:
        if result.output_varies:
            lines.append(f"{result.row.title} prints something else each time, under the system's malloc too: "
                         "its output was not compared.")
    if outcome.others_share > 0.05:
        lines.append(f"NOISY     other processes used {outcome.others_share:.0%} of the machine meanwhile: "
                     "a quiet one gives tighter intervals.")
    if outcome.interrupted:
        count = "is" if outcome.rounds == 1 else "are"
        lines.append(f"Interrupted: only the {units.several(outcome.rounds, 'finished round')} {count} counted.")
    return lines


def headline(outcome: Outcome) -> str:
    names = ", ".join(heap.name for heap in outcome.heaps)
    return f"{names} against the system's malloc: {units.several(outcome.rounds, 'paired round')}, {outcome.seconds / 60:.1f} minutes"


LEGEND = ("Ratios are to the system's malloc, below 1 is better; time is wall time (workloads: as they clock themselves); "
          "the last rows are geometric means. MB is the peak RSS of the largest process.")


def show(outcome: Outcome, left_out: Sequence[str], console: Console) -> None:
    sheet = make(outcome, left_out)
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    for index, head in enumerate(sheet.heads):
        left = index in (0, 5) or (index == 1 and head.endswith("heap"))
        table.add_column(head, justify="left" if left else "right", no_wrap=True)
    summing_up = False
    for line in sheet.lines:
        if line.closes and not summing_up:
            summing_up = True
            table.add_row(*["" if i else "geometric means" for i in range(len(line.cells))], style="dim")
        styles = [STYLES.get(line.verdict, "") if i in (3, 4, 5) else "" for i in range(len(line.cells))]
        table.add_row(*(Text(text, style) for text, style in zip(line.cells, styles, strict=True)), style="bold" if line.closes else None)
    console.print(Text(headline(outcome), "bold"))
    console.print()
    show_whole(table, console)
    console.print()
    for note in sheet.notes:
        console.print(note, style="bold red" if note.startswith("FAILED") else "yellow" if note.startswith("NOISY") else None,
                      highlight=False, markup=False, width=WIDTH)
    console.print(Text(LEGEND, "dim"), width=WIDTH)


def markdown(outcome: Outcome, left_out: Sequence[str], machine: str) -> str:
    sheet = make(outcome, left_out)
    heads = [" ".join(head.split()) for head in sheet.heads]
    numbers = [i not in (0, 5) and not (i == 1 and heads[1] == "heap") for i in range(len(heads))]
    out = [f"**{headline(outcome)}** ({machine})", "", "| " + " | ".join(heads) + " |",
           "| " + " | ".join("---:" if n else "---" for n in numbers) + " |"]
    for line in sheet.lines:
        out.append("| " + " | ".join(f"**{c}**" if line.closes and c else c for c in line.cells) + " |")
    out += ["", *(f"{note}  " for note in sheet.notes), "", LEGEND]
    return "\n".join(out) + "\n"
