"""The overview: workload by subject, each cell the ratio to the best of its row, or to the system's malloc."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from polder_lab.by_round import best, of_both, ratio
from polder_lab.heap import PEER_KINDS
from polder_lab.interval import Pairs, Ratio, overall_ratio, rounds_of
from polder_lab.median import median
from polder_lab.partial import MARK, explained
from polder_lab.report import units
from polder_lab.report.chart.part import View
from polder_lab.report.chart.repetitions import peak, time_of
from polder_lab.report.estimate import percentile
from polder_lab.report.records import GROUPS, Row, Run


@dataclass(frozen=True)
class Measure:
    key: str
    title: str
    instrument: str
    value: Callable[[Run], float | None]
    unit: Callable[[float], str]


def slowest_calls(run: Run) -> float | None:
    """The 99.9th percentile of malloc, in seconds."""
    told = (run.data.get("latency") or {}).get("malloc")
    found = percentile([(a, b, int(n)) for a, b, n in told["buckets"]], 0.999) if told else None
    return found * 1e-9 if found else None


MEASURES = (
    Measure("time", "Time", "time", lambda run: run.cost, units.seconds),
    Measure("memory", "Peak memory", "time", peak, units.size),
    Measure("faults", "Page faults", "time", lambda run: run.faults, units.count),
    Measure("latency", "Latency of malloc, 99.9 %", "latency", slowest_calls, units.seconds),
    Measure("instructions", "Instructions", "instructions", lambda run: run.number("instructions"), units.count),
)


@dataclass(frozen=True)
class Cell:
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    rounds: int = 0
    value: str = ""  # the median in words
    interval: str = ""
    trouble: str = ""
    over: int = 0  # of a mean: how many rows,
    of: int = 0  # of how many

    @property
    def rows(self) -> str:
        return f"{self.over} of {self.of} rows" if self.of else ""

    @property
    def text(self) -> str:
        if self.ratio is None:
            return "✕" if self.trouble else "–"
        return units.ratio(self.ratio) + (MARK if self.over < self.of else "")


@dataclass(frozen=True)
class Line:
    label: str
    target: str  # the section that shows it
    threads: int | None
    cells: list[Cell]


@dataclass(frozen=True)
class Group:
    title: str
    lines: list[Line]


@dataclass(frozen=True)
class Matrix:
    key: str
    title: str
    against: str
    names: list[str]
    groups: list[Group]
    means: list[Line]
    overall: Mapping[str, Ratio] = field(default_factory=dict)

    @property
    def explained(self) -> str:
        return f"ratio to the {BESTS[self.against]}" if self.against in BESTS else f"ratio to {self.against}"

    @property
    def lacking(self) -> str:
        """Which means are not over all rows."""
        last = self.means[-1].cells
        return explained({name: cell.over for name, cell in zip(self.names, last, strict=True)}, last[0].of)


Rounds = dict[str, dict[int, float]]

BEST, BEST_PEER, SYSTEM = "best", "best-peer", "system"
BESTS = {BEST: "best of the row", BEST_PEER: "best peer of the row"}


def bases(view: View) -> list[str]:
    """What ratios are to."""
    kinds = {one.kind for one in view.records.subjects if one.name in view.names}
    return [BEST, *([BEST_PEER] if "peer" in kinds and kinds - PEER_KINDS else []), *([SYSTEM] if SYSTEM in view.names else [])]


def anchor(family: str) -> str:
    return "w-" + "".join(c if c.isalnum() else "-" for c in family)


def build(view: View, measure: Measure, against: str) -> Matrix | None:
    """against: a subject, or one of BESTS, of each row (by the ratios themselves)."""
    records = view.records
    peers = [one.name for one in records.subjects if one.kind in PEER_KINDS and one.name in view.names]
    groups: dict[str, list[Line]] = {}
    pairs: dict[str, dict[str, list[Pairs]]] = {}
    counted: dict[str, int] = {}
    for row in records.rows:
        rounds: Rounds = {name: records.by_round(measure.instrument, row.id, name, measure.value) for name in view.names}
        base = base_of({name: rounds[name] for name in peers}, BEST) if against == BEST_PEER else base_of(rounds, against)
        by = measure.instrument
        if not any(records.all_of(by, row.id, name) or records.trouble(row.id, name, by) for name in view.names):
            continue
        title = GROUPS.get(row.group, row.group)
        cells = []
        for name in view.names:
            cells.append(cell_of(view, measure, row, rounds[name], rounds[base] if base else {}, name))
            shared = of_both(rounds[name], rounds[base] if base else {})
            if shared:
                for part in (title, "all"):
                    pairs.setdefault(part, {}).setdefault(name, []).append(shared)
        if base:
            counted[title] = counted.get(title, 0) + 1
            counted["all"] = counted.get("all", 0) + 1
        groups.setdefault(title, []).append(Line(row.label, anchor(row.family), row.threads, cells))
    if "all" not in counted:
        return None
    means = []
    parts = [title for title in groups if title in counted]
    for part in [*(parts if len(parts) > 1 else []), "all"]:
        means.append(
            Line("all rows" if part == "all" else part, "", None, [mean(pairs[part].get(name, []), counted[part]) for name in view.names])
        )
    overall = {name: overall_ratio(found) for name, found in pairs["all"].items() if len(found) == counted["all"]}
    order = [title for title in GROUPS.values() if title in groups] + [title for title in groups if title not in GROUPS.values()]
    return Matrix(measure.key, measure.title, against, list(view.names), [Group(title, groups[title]) for title in order], means, overall)


def base_of(rounds: Rounds, against: str) -> str | None:
    if against != BEST:
        return against if rounds.get(against) else None
    return best(rounds)


def cell_of(view: View, measure: Measure, row: Row, values: dict[int, float], base: dict[int, float], name: str) -> Cell:
    found = ratio(values, base)
    if found is None:
        return Cell(trouble=view.records.trouble(row.id, name, measure.instrument))
    shown, unit, suffix = values, measure.unit, ""
    if measure.key == "time":
        value, what = time_of(view, row)
        shown = view.records.by_round("time", row.id, name, value)
        suffix = " an operation" if "operation" in what else ""
    known = median(list(shown.values()))
    assert known is not None
    ends = f"{unit(known.low)} – {unit(known.high)}" if known.low is not None and known.high is not None else ""
    return Cell(found.value, found.low, found.high, len(values.keys() & base.keys()), unit(known.value) + suffix, ends)


def mean(found: list[Pairs], of: int) -> Cell:
    if not found:
        return Cell(of=of)
    known = overall_ratio(found)
    return Cell(known.value, known.low, known.high, len(rounds_of(found)), over=len(found), of=of)
