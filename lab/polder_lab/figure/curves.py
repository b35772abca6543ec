"""A figure of the thesis's chapter 3 that plots throughput and memory against threads, out of the rows of a suite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from polder_lab.figure.part import Figure, Presets, Selected, measured
from polder_lab.report import units
from polder_lab.report.chart import panels
from polder_lab.report.chart.part import Chart, View
from polder_lab.report.chart.repetitions import peak
from polder_lab.report.records import Row, Run

WORKLOAD = "set"


@dataclass(frozen=True)
class Variant:
    """One line of the plot for each allocator."""

    label: str
    name: str  # that its suite gives it

    def rows(self, view: View) -> list[Row]:
        found = [row for row in view.records.rows if row.name == WORKLOAD and row.preset == self.name and measured(view, row)]
        return sorted(found, key=lambda row: row.threads or 0)


def rate(run: Run) -> float | None:
    seconds, operations = run.number("seconds"), run.number("operations")
    return operations / seconds if seconds and operations else None


@dataclass(frozen=True)
class Curves(Figure):
    groups: tuple[tuple[str, tuple[Variant, ...]], ...] = ()  # a line of panels each: its name, what it plots
    suite: str = "reclamation"
    wanted: tuple[str, ...] = ()  # one of these allocators must be there, where the paper is about one

    @property
    def variants(self) -> list[Variant]:
        return [variant for _, members in self.groups for variant in members]

    def select(self, view: View) -> Selected | None:
        found = [variant.rows(view) for variant in self.variants]
        return Selected([row for rows in found for row in rows], "") if all(found) else None

    def draw(self, view: View) -> Chart | None:
        if self.select(view) is None or (self.wanted and not any(name in view.names for name in self.wanted)):
            return None
        made = []
        for title, members in self.groups:
            series = [panels.Series(variant.label, variant.rows(view)) for variant in members]
            said = f"{title}: {{}}" if title else "{}"
            made.append(panels.Panel(said.format("operations a second"), series, rate, per_second, "operations per second"))
            made.append(panels.Panel(said.format("peak memory"), series, peak, units.size, "peak RSS", binary=True))
        labels = dict.fromkeys(variant.label for variant in self.variants)
        key = ", ".join(f"{dash} {label}" for dash, label in zip(panels.DASHES_IN_WORDS, labels, strict=False))
        several = any(len(members) > 1 for _, members in self.groups)
        return panels.draw(view, made, f"{self.drawn}: {key}" if several else self.drawn)

    def preset(self, known: Presets | None) -> str:
        return f"--suite {self.suite}"

    def command_with(self, known: Presets | None) -> str:
        heaps = f" --heaps {','.join(('polder', *self.wanted[:1]))}" if self.wanted else ""
        rows = ",".join(dict.fromkeys(f"{WORKLOAD}:{variant.name}" for variant in self.variants))
        return f"./polder bench run --suite {self.suite} --only {rows} --threads {','.join(map(str, self.threads))}{heaps}"

    def lacks(self, view: View) -> str:
        if self.wanted and not any(name in view.names for name in self.wanted):
            return f"the records have no {' and no '.join(self.wanted)}"
        gone = dict.fromkeys(f"{WORKLOAD}:{variant.name}" for variant in self.variants if not variant.rows(view))
        return f"the records have no row {' and no '.join(gone)}"

    def notes(self, view: View) -> list[str]:
        found = self.select(view)
        rows: Sequence[Row] = found.rows if found else ()
        keys = sorted({str(row.parameters.get("keys")) for row in rows})
        lasted = sorted({str(row.parameters.get("milliseconds")) for row in rows})
        told = [
            f"Ours: {' or '.join(keys)} keys, counted for {' or '.join(lasted)} ms, medians with 95 % intervals; the thesis has 20 million "
            "keys, 5 s and the mean of three trials."
        ]
        told.append(
            f"The thesis's machine has {self.paper.machine}; this one {view.records.cores or 'an unknown number of'} cores: right of the "
            "dotted line threads share them, and what the thesis sees beyond two sockets cannot show."
        )
        if self.differs:
            told.append(self.differs)
        return told


def per_second(value: float) -> str:
    return f"{units.count(value)} a second"
