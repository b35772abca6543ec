"""All runs in order.

First every row once under every heap: not counted; it fills the caches, proves the heap (proof.py) and sets the output
that every later run must print. Then rounds: in each, the rows in random order, and within a row the heaps back to back
in random order, so that the runs of a pair share the machine's mood and neither side is always first.
A run that crashes, hangs or prints something else ends its cell, never the experiment.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from polder_lab.heap import SYSTEM, Heap
from polder_lab.interval import FEWEST_ROUNDS, Ratio, paired_ratio
from polder_lab.launch import Launcher, Run
from polder_lab.proof import witness
from polder_lab.row import Row

MOST_ROUNDS = 20


@dataclass
class Cell:
    """One row under one heap. runs has one entry a finished round."""

    runs: list[Run] = field(default_factory=list)
    trouble: str = ""

    def median(self, metric: str) -> float:
        return statistics.median(float(getattr(run, metric)) for run in self.runs)


@dataclass
class RowOutcome:
    row: Row
    cells: dict[str, Cell]
    output_varies: bool = False  # of itself, under the system's malloc: then it cannot be compared

    @property
    def base(self) -> Cell:
        return self.cells[SYSTEM.name]

    def pairs(self, heap: str, metric: str) -> tuple[list[float], list[float]] | None:
        cell = self.cells[heap]
        rounds = min(len(cell.runs), len(self.base.runs))
        if cell.trouble or self.base.trouble or rounds == 0:
            return None
        return [cost(run, metric) for run in cell.runs[:rounds]], [cost(run, metric) for run in self.base.runs[:rounds]]

    def ratio(self, heap: str, metric: str) -> Ratio | None:
        pairs = self.pairs(heap, metric)
        return paired_ratio(*pairs) if pairs else None


def cost(run: Run, metric: str) -> float:
    """A workload may run for a fixed time instead of a fixed number of operations: compared is time per operation."""
    if metric == "seconds" and run.operations:
        return max(run.seconds, 1e-9) / run.operations
    return max(float(getattr(run, metric)), 1e-9)


@dataclass
class Outcome:
    heaps: list[Heap]  # without the system's
    rows: list[RowOutcome]
    rounds: int
    seed: int
    interrupted: bool = False
    others_share: float = 0.0
    seconds: float = 0.0

    @property
    def troubles(self) -> list[tuple[str, str, str]]:
        return [(r.row.title, name, cell.trouble) for r in self.rows for name, cell in r.cells.items() if cell.trouble]


class Watcher(Protocol):
    """Told how it goes; shows it."""

    def phase(self, text: str) -> None: ...

    def step(self, what: str, done: float, left: float) -> None:
        """done and left in seconds of measuring."""


@dataclass(frozen=True)
class Terms:
    rounds: int | None  # None: as many as fit into `minutes`
    minutes: float
    limit: float
    seed: int


class Experiment:
    def __init__(self, rows: Sequence[Row], heaps: Sequence[Heap], terms: Terms, launcher: Launcher, watcher: Watcher) -> None:
        self.all_heaps = [SYSTEM, *heaps]
        self.terms = terms
        self.launcher = launcher
        self.watcher = watcher
        self.lot = random.Random(terms.seed)
        self.outcome = Outcome(list(heaps), [RowOutcome(row, {h.name: Cell() for h in self.all_heaps}) for row in rows], 0, terms.seed)
        self.expected: dict[tuple[int, str], float] = {}  # seconds that a run of (row, heap) takes
        self.first: dict[int, str] = {}  # the output that each row must print
        self.spent = 0.0

    def run(self) -> Outcome:
        """An interruption ends it; what is finished stays."""
        start = time.monotonic()
        try:
            self.warm_up()
            self.measure(start)
        except KeyboardInterrupt:
            self.outcome.interrupted = True
        self.outcome.seconds = time.monotonic() - start
        return self.outcome

    def extra(self, row: Row, heap: Heap) -> dict[str, str]:
        return {**row.extra, **heap.environment}

    def launch(self, row: Row, heap: Heap, more: dict[str, str] | None = None) -> Run:
        before = time.monotonic()
        run = self.launcher.run(row.command, extra={**self.extra(row, heap), **(more or {})}, limit=self.terms.limit,
                                stdin=row.stdin, folder=row.folder, result_line=row.tells)
        self.spent += time.monotonic() - before
        return run

    def warm_up(self) -> None:
        self.watcher.phase("warming up")
        total = len(self.outcome.rows) * len(self.all_heaps)
        for index, result in enumerate(self.outcome.rows):
            for place, heap in enumerate(self.all_heaps):
                done = index * len(self.all_heaps) + place
                left = (total - done) * (self.spent / done if done else 1.0)
                self.watcher.step(f"{result.row.title} under {heap.name}", self.spent, left)
                if not (heap is not SYSTEM and result.base.trouble):
                    self.prove(index, heap)

    def prove(self, index: int, heap: Heap) -> None:
        result = self.outcome.rows[index]
        cell = result.cells[heap.name]
        with witness(self.launcher.scratch / "witness") as seen:
            run = self.launch(result.row, heap, seen.extra)
            cell.trouble = run.trouble or seen.objection(heap, run.pid)
        self.expected[index, heap.name] = run.wall
        if heap is SYSTEM:
            self.first[index] = run.output
            if result.row.kind == "command" and not cell.trouble:
                result.output_varies = self.launch(result.row, heap).output != run.output
        elif not cell.trouble:
            cell.trouble = self.difference(index, run)

    def difference(self, index: int, run: Run) -> str:
        """The output is compared with that of the system's malloc."""
        same = self.outcome.rows[index].output_varies or run.output == self.first[index]
        return "" if same else "prints something else than under the system's malloc"

    def alive(self) -> list[tuple[int, Heap]]:
        """The cells still measured; a row whose base or whose every heap failed is not."""
        cells = []
        for index, result in enumerate(self.outcome.rows):
            standing = [h for h in self.all_heaps[1:] if not result.cells[h.name].trouble]
            if standing and not result.base.trouble:
                cells += [(index, SYSTEM), *((index, heap) for heap in standing)]
        return cells

    def round_seconds(self) -> float:
        return sum(self.expected[index, heap.name] for index, heap in self.alive())

    def measure(self, start: float) -> None:
        left = self.terms.minutes * 60 - (time.monotonic() - start)
        fitting = int(left / max(self.round_seconds(), 1e-3))
        rounds = self.terms.rounds or max(FEWEST_ROUNDS, min(MOST_ROUNDS, fitting))
        for number in range(rounds):
            self.watcher.phase(f"round {number + 1} of {rounds}")
            cells = self.alive()
            if not cells:
                return
            order = sorted({index for index, _ in cells})
            self.lot.shuffle(order)
            todo = []
            for index in order:
                heaps = [heap for i, heap in cells if i == index]
                self.lot.shuffle(heaps)
                todo += [(index, heap) for heap in heaps]
            finished: dict[tuple[int, str], Run] = {}
            for at, (index, heap) in enumerate(todo):
                left = sum(self.expected[i, h.name] for i, h in todo[at:]) + (rounds - number - 1) * self.round_seconds()
                self.watcher.step(f"{self.outcome.rows[index].row.title} under {heap.name}", self.spent, left)
                finished[index, heap.name] = self.measured(index, heap)
            for (index, name), run in finished.items():
                self.outcome.rows[index].cells[name].runs.append(run)
            self.outcome.rounds = number + 1

    def measured(self, index: int, heap: Heap) -> Run:
        run = self.launch(self.outcome.rows[index].row, heap)
        problem = run.trouble or self.difference(index, run)
        if problem:
            self.outcome.rows[index].cells[heap.name].trouble = problem
            return replace(run, trouble=problem)
        self.expected[index, heap.name] = (self.expected[index, heap.name] + run.wall) / 2
        return run


