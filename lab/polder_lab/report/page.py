"""The page: gathers charts, tables and words, and fills the templates."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2
from plotly.offline import get_plotlyjs

from polder_lab import figure as figures
from polder_lab.median import Estimate
from polder_lab.report import compared, look, matrix, numbers, units, words
from polder_lab.report.chart import against_threads, heat, latency, of_structures, over_time, repetitions, tradeoff
from polder_lab.report.chart.part import Chart, View
from polder_lab.report.records import GROUPS, Row
from polder_lab.report.standing import allocator_of, standings

# Parts of the page that not all records have, and what charts they show.
PARTS = {"threads": "speed-up:", "over-time": "over-time:", "latency": "percentiles:", "tradeoff": "tradeoff:"}


@dataclass
class Section:
    """A workload, or a program, with all its thread counts."""

    anchor: str
    title: str
    preset: str
    first: Row
    rows: list[Row]
    start: Row  # shown at first: as many threads as the machine has cores
    calls: list[str]
    tables: dict[str, list[dict[str, str]]]
    untimed: list[str]  # rows without the pass time


@dataclass
class Contents:
    charts: dict[str, Chart] = field(default_factory=dict)

    def add(self, key: str, chart: Chart | None) -> None:
        if chart is not None:
            self.charts[key] = chart


def start_of(rows: list[Row], cores: int | None) -> Row:
    return min(rows, key=lambda row: abs((row.threads or 1) - (cores or 1)))


def sections(view: View, contents: Contents) -> list[Section]:
    made = []
    for family, rows in view.records.families.items():
        kept = [row for row in rows if row.id in view.records.measured]
        if not kept:
            continue
        calls: dict[str, None] = {}
        if len(kept) > 1:
            contents.add(f"speed-up:{family}", against_threads.speed_up(view, kept))
            contents.add(f"threads-memory:{family}", against_threads.memory(view, kept))
        for row in kept:
            contents.add(f"time:{row.id}", repetitions.time(view, row))
            contents.add(f"memory:{row.id}", repetitions.memory(view, row))
            contents.add(f"tradeoff:{row.id}", tradeoff.of_row(view, row))
            contents.add(f"over-time:{row.id}", over_time.memory(view, row))
            for call in latency.calls_of(view, row):
                calls[call] = None
                contents.add(f"percentiles:{row.id}:{call}", latency.percentiles(view, row, call))
                contents.add(f"ccdf:{row.id}:{call}", latency.ccdf(view, row, call))
        first = kept[0]
        made.append(
            Section(
                matrix.anchor(family),
                first.title or first.name,
                first.preset,
                first,
                kept,
                start_of(kept, view.records.cores),
                list(calls),
                {row.id: numbers.table(view, row) for row in kept},
                [row.id for row in kept if row.id not in view.records.timed],
            )
        )
    return made


def overall(view: View, matrices: Mapping[str, matrix.Matrix], contents: Contents) -> None:
    for against in ("system", "best"):
        time, memory = matrices.get(f"time|{against}"), matrices.get(f"memory|{against}")
        if time and memory:

            def estimates(of: matrix.Matrix) -> dict[str, Estimate]:
                return {name: Estimate(r.value, r.low, r.high, view.records.rounds) for name, r in of.overall.items()}

            contents.add(
                "overall",
                tradeoff.of_all(view, estimates(time), estimates(memory), "the system's malloc" if against == "system" else "the best"),
            )
            return


@dataclass(frozen=True)
class Lateness:
    """A number of threads, and what is seen there."""

    threads: int
    sentences: dict[str, str]  # by order


ORDERS = {"queues": False, "stacks": True}


def structures(view: View, contents: Contents) -> list[Lateness]:
    """Charts of structures against each other, where the records have them."""
    found = standings(view.records)
    for one in found:
        contents.add(f"structures-threads:{one.key}", of_structures.against_threads(one))
    told = []
    for threads in sorted({count for one in found for count in one.threads}):
        for order, as_stack in ORDERS.items():
            contents.add(f"lateness:{order}:{threads}", of_structures.against_lateness(found, as_stack, threads))
        told.append(Lateness(threads, {order: of_structures.what_it_shows(found, as_stack, threads) for order, as_stack in ORDERS.items()
                                       if f"lateness:{order}:{threads}" in contents.charts}))
    return [one for one in told if one.sentences]


def drawn_figures(view: View, contents: Contents) -> tuple[list[dict[str, Any]], list[figures.Figure]]:
    """Those of the papers' figures that these records can redraw, and the others."""
    drawn, missing = [], []
    for one in figures.ALL:
        chart = one.draw(view)
        if chart is None:
            missing.append(one)
            continue
        contents.add(f"figure:{one.name}", chart)
        drawn.append({"figure": one, "notes": one.notes(view)})
    return drawn, missing


def grouped(shown: Iterable[Section]) -> dict[str, list[Section]]:
    found: dict[str, list[Section]] = {}
    for section in shown:
        found.setdefault(GROUPS.get(section.first.group, section.first.group), []).append(section)
    return {title: found[title] for title in [*[g for g in GROUPS.values() if g in found], *[t for t in found if t not in GROUPS.values()]]}


@cache
def environment() -> jinja2.Environment:
    loader = jinja2.FunctionLoader(lambda name: files("polder_lab.report").joinpath("template", name).read_text(encoding="utf-8"))
    return jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined)


def embedded(data: Any) -> str:
    """JSON that may stand inside a script element."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).replace("</", "<\\/").replace("<!--", "<\\u0021--")


def data_of(view: View, contents: Contents, matrices: Mapping[str, matrix.Matrix]) -> dict[str, Any]:
    tables = {
        key: {
            "title": m.title,
            "explained": m.explained,
            "names": m.names,
            "best": m.against == matrix.BEST,
            "groups": [{"title": g.title, "lines": [compact(line) for line in g.lines]} for g in m.groups],
            "means": [compact(line) for line in m.means],
        }
        for key, m in matrices.items()
    }
    return {"charts": contents.charts, "matrices": tables, "light": look.LIGHT, "dark": look.DARK}


def compact(line: matrix.Line) -> dict[str, Any]:
    cells = [
        [
            c.ratio and units.brief(c.ratio, 4),
            c.low and units.brief(c.low, 4),
            c.high and units.brief(c.high, 4),
            c.rounds,
            c.value,
            c.interval,
            c.trouble,
            c.rows,
        ]
        for c in line.cells
    ]
    return {"label": line.label, "target": line.target, "cells": cells}


def make_matrices(view: View) -> dict[str, matrix.Matrix]:
    found = {}
    for measure in matrix.MEASURES:
        for against in matrix.bases(view):
            if made := matrix.build(view, measure, against):
                found[f"{measure.key}|{against}"] = made
    return found


@dataclass
class Report:
    """Everything that is shown, drawn once for the page and the pictures."""

    view: View
    matrices: Mapping[str, matrix.Matrix]
    sections: list[Section]
    lateness: list[Lateness]
    drawn: list[dict[str, Any]]
    missing: list[figures.Figure]
    contents: Contents

    @property
    def pictures(self) -> dict[str, Chart]:
        """The charts under names for files, the matrices among them; they carry which row they are of."""
        found = {f"overview-{m.key}" + ("" if m.against == "best" else f"-to-{m.against}"): heat.map_of(m) for m in self.matrices.values()}
        labels = {row.id: row.label for row in self.view.records.rows}
        families = {family: rows[0].label.partition(" ×")[0] for family, rows in self.view.records.families.items()}
        for key, chart in self.contents.charts.items():
            of = key.partition(":")[2]
            of = next((one for one in (of, of.rpartition(":")[0]) if one in labels or one in families), "")
            title = chart["layout"]["title"]["text"]
            named = labels.get(of) or families.get(of)
            found[key.replace("/", "-").replace(":", "-")] = {
                **chart,
                "layout": {**chart["layout"], "title": {"text": f"{named}: {title}" if named else title}},
            }
        return found


def make(view: View) -> Report:
    contents = Contents()
    matrices = make_matrices(view)
    shown = sections(view, contents)
    overall(view, matrices, contents)
    return Report(view, matrices, shown, structures(view, contents), *drawn_figures(view, contents), contents)


def template(name: str) -> jinja2.Template:
    return environment().get_template(name)


def render(report: Report) -> str:
    view, contents, matrices, shown = report.view, report.contents, report.matrices, report.sections
    records = view.records
    drawn, missing = report.drawn, report.missing
    experiment = records.experiments[0]
    return template("page.html").render(
        title=str(experiment.get("name") or "experiment"),
        plotly=get_plotlyjs(),
        data=embedded(data_of(view, contents, matrices)),
        records=records,
        view=view,
        facts=words.facts(records),
        warnings=words.warnings(records),
        measured=words.what_was_measured(records, [section.first for section in shown]),
        fastest=words.standing(matrices.get("time|best")),
        leanest=words.standing(matrices.get("memory|best")),
        clock=words.clock(records),
        before_the_phase=words.before_the_phase(records),
        groups=grouped(shown),
        sections=shown,
        measures=[(m.key, m.title) for m in matrix.MEASURES if f"{m.key}|best" in matrices],
        against=[(one, matrix.BESTS.get(one, one)) for one in matrix.bases(view)],
        comparisons=compared.comparisons(view),
        compared=compared,
        lateness=report.lateness,
        allocator=allocator_of(records),
        units=units,
        drawn=drawn,
        missing=missing,
        charts=contents.charts,
        there=[part for part, kind in PARTS.items() if any(key.startswith(kind) for key in contents.charts)],
        labels={row.id: row.label for row in records.rows},
    )
