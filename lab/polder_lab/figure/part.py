"""A figure of a paper: what it says, what it needs, how ours is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from polder_lab.report import units
from polder_lab.report.chart import against_threads
from polder_lab.report.chart.part import Chart, View
from polder_lab.report.records import Row, Run

Presets = Mapping[str, set[str]]  # of each workload that there is


@dataclass(frozen=True)
class Paper:
    short: str
    full: str
    machine: str
    cores: int


@dataclass(frozen=True)
class Selected:
    rows: list[Row]
    preset: str


Draw = Callable[[View, Sequence[Row], str], Chart | None]


@dataclass(frozen=True)
class Figure:
    name: str
    paper: Paper
    number: str
    caption: str
    statement: str
    workload: str
    presets: tuple[str, ...]  # the paper's parameters first, then ever looser
    drawn: str  # what ours is, in words
    plot: Draw
    threads: tuple[int, ...] = (1, 2, 4, 8)
    sweep: str = ""  # the parameter along x, where it is not the threads; all presets whose names begin so then count
    subjects: tuple[str, ...] = ()  # without these it says nothing
    differs: str = ""

    def select(self, view: View) -> Selected | None:
        """The rows of the first preset that has them, or those with our default parameters."""
        rows = [row for row in view.records.rows if row.name == self.workload and measured(view, row)]
        if self.sweep:
            most = max((row.threads or 1 for row in rows), default=1)
            swept = [
                row
                for row in rows
                if (row.threads or 1) == most and position(row, self.sweep) is not None and row.preset.startswith(self.presets)
            ]
            return Selected(swept, "") if len({position(row, self.sweep) for row in swept}) > 1 else None
        for preset in (*self.presets, ""):
            found = [row for row in rows if row.preset == preset]
            if found and (len({row.threads for row in found}) > 1 or len(self.threads) == 1):
                return Selected(found if len(self.threads) > 1 else [min(found, key=lambda row: row.threads or 1)], preset)
        return None

    def draw(self, view: View) -> Chart | None:
        if any(name not in view.names for name in self.subjects):
            return None
        found = self.select(view)
        return self.plot(view, sorted(found.rows, key=lambda row: row.threads or 0), self.drawn) if found else None

    def preset(self, known: Presets | None) -> str:
        """The one to run: the nearest to the paper of those that there are."""
        return next((preset for preset in self.presets if known is None or preset in known.get(self.workload, set())), "")

    def command_with(self, known: Presets | None) -> str:
        """What makes the rows; known: the presets that there are, when that can be asked."""
        rows = f"'{self.workload}:{self.presets[0]}*'" if self.sweep else self.workload
        preset = "" if self.sweep or not self.presets else self.preset(known)
        return (
            f"./polder bench run --only {rows}"
            + (f" --preset {preset}" if preset else "")
            + (f" --threads {','.join(map(str, self.threads))}" if self.presets else "")
            + (f" --heaps {','.join(self.subjects)}" if self.subjects else "")
        )

    @property
    def command(self) -> str:
        return self.command_with(None)

    def lacks(self, view: View) -> str:
        """Why these records cannot redraw it."""
        gone = [name for name in self.subjects if name not in view.names]
        if gone:
            return f"the records have no {' and no '.join(gone)}"
        rows = [row for row in view.records.rows if row.name == self.workload]
        if not rows:
            return f"the records have no row of {self.workload}"
        if self.sweep:
            return f"the records have no two rows of {self.workload} that differ in {self.sweep}"
        if len(self.threads) > 1 and len({row.threads for row in rows}) < 2:
            return f"the records have {self.workload} at one number of threads only"
        return f"the records have {self.workload}, but not what is plotted here, or with other parameters"

    def notes(self, view: View) -> list[str]:
        told = []
        found = self.select(view)
        if found and not self.sweep:
            told.append(
                f"Ours: preset {found.preset}."
                if found.preset not in ("", "quick")
                else f"Ours: with the {found.preset or 'default'} parameters, which are scaled down, not with the paper's."
            )
        if len(self.threads) > 1 and (view.records.cores or 0) < self.paper.cores:
            told.append(
                f"The paper's machine has {self.paper.machine}; this one {view.records.cores or 'an unknown number of'} "
                f"cores: from there on "
                "it shows how the allocator bears more threads than cores, not how it scales."
            )
        if self.differs:
            told.append(self.differs)
        return told


def measured(view: View, row: Row) -> bool:
    return any(view.records.of("time", row.id, name) for name in view.names)


def position(row: Row, parameter: str) -> float | None:
    value = row.parameters.get(parameter)
    try:
        return float(value) if value is not None else None
    except (TypeError, ValueError):
        return None


def speed_up(view: View, rows: Sequence[Row], title: str) -> Chart | None:
    return against_threads.speed_up(view, rows, title=title)


def throughput(view: View, rows: Sequence[Row], title: str) -> Chart | None:
    def rate(run: Run) -> float | None:
        seconds, operations = run.number("seconds"), run.number("operations")
        return operations / seconds if operations and seconds else None

    return against_threads.measured(view, rows, rate, lambda v: f"{units.count(v)} a second", title, "operations per second", log=True)


def seconds(view: View, rows: Sequence[Row], title: str) -> Chart | None:
    return against_threads.measured(view, rows, lambda run: run.number("seconds"), units.seconds, title, "seconds", log=True)


def memory(view: View, rows: Sequence[Row], title: str) -> Chart | None:
    return against_threads.memory(view, rows, title)


def memory_per_thread(view: View, rows: Sequence[Row], title: str) -> Chart | None:
    threads = {row.id: row.threads or 1 for row in rows}
    return against_threads.measured(
        view,
        rows,
        lambda run: peak / threads[run.row] if (peak := run.number("peak_rss")) else None,
        units.size,
        title,
        "peak RSS per thread",
        binary=True,
    )


def allocator_time(view: View, rows: Sequence[Row], title: str) -> Chart | None:
    """Per thread, where the workload clocks its calls apart."""
    threads = {row.id: row.threads or 1 for row in rows}
    return against_threads.measured(
        view,
        rows,
        lambda run: s / threads[run.row] if (s := run.number("allocator_seconds")) else None,
        units.seconds,
        title,
        "seconds in the allocator, per thread",
    )


def along(
    parameter: str,
    x: Chart,
    what: Callable[[Run], float | None],
    unit: Callable[[float], str],
    y_title: str,
    *,
    binary: bool = False,
    baseline: str = "",
) -> Draw:
    """Against a parameter. Rows of a preset with `baseline` in its name are one more line: the first heap's alone."""

    def plot(view: View, rows: Sequence[Row], title: str) -> Chart | None:
        def drawn(of: Sequence[Row], names: Sequence[str]) -> Chart | None:
            return against_threads.measured(
                view,
                sorted(of, key=lambda row: position(row, parameter) or 0),
                what,
                unit,
                title,
                y_title,
                names=names,
                binary=binary,
                position=lambda row: position(row, parameter) or 0,
                x=x,
            )

        apart = [row for row in rows if baseline and baseline in row.preset]
        chart = drawn([row for row in rows if row not in apart], view.names)
        below = drawn(apart, view.names[:1]) if apart else None
        if chart and below:
            for trace in below["data"]:
                chart["data"].append({**trace, "name": baseline, "showlegend": True, "line": {"color": "#8a8a8a", "dash": "dot"}})
        return chart

    return plot


def only(names: tuple[str, ...], plot: Callable[..., Chart | None]) -> Draw:
    return partial(restricted, names, plot)


def restricted(names: tuple[str, ...], plot: Callable[..., Chart | None], view: View, rows: Sequence[Row], title: str) -> Chart | None:
    """A figure that compares configurations of one allocator shows these and the system's malloc."""
    return plot(replace(view, names=[name for name in view.names if name in ("system", *names)]), rows, title)
